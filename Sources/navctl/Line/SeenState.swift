import NavigationClient
import NavigationCore

/// The state of one nav that one terminal last showed; `GuardChoice` makes guards from it.
struct SeenState: Hashable, Sendable {
  var epoch: Epoch
  var revision: Revision
  var top: String?
  /// The outermost presented screen, else the top; inner nil for no screen, outer nil if not shown.
  var visible: String??

  var text: String { "rev \(revision.number), top \(top ?? "none")" }
}

extension SeenState {
  /// Reads the state from an operation's reply; nil if the reply has no epoch, revision or top.
  init?(_ reply: OkReply) {
    guard let epoch = reply.epoch, let revision = reply.revision, let top = reply.top else {
      return nil
    }
    self.init(epoch: epoch, revision: revision, top: top)
  }

  /// Reads the state from the reply to operations.
  ///
  /// Unless an operation presents or dismisses, the visible screen follows from the state before.
  init?(_ reply: OkReply, after before: SeenState?, _ operations: [NavigationOperation]) {
    self.init(reply)
    guard let before, before.epoch == epoch, let former = before.visible else { return }
    let presents = operations.contains {
      $0.kind == .present || $0.kind == .segue || $0.kind.vetoQuestion.isAboutDismissals
    }
    guard !presents else { return }
    visible = .some(former == before.top ? top : former)
  }

  /// Reads the state from the body of a snapshot; nil if it is not one.
  init?(state: JSONValue) {
    guard let epoch = state["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = state["rev"]?.integer, state["screens"] != nil
    else { return nil }
    let top = state["screens"]?.elements.last?["id"]?.string
    let presented = state["presented"]?["chain"]?.elements.last?["screen"]?["id"]?.string
    self.init(
      epoch: epoch, revision: Revision(revision), top: top, visible: .some(presented ?? top))
  }

  init(_ mirror: Mirror) {
    self.init(
      epoch: mirror.epoch, revision: mirror.revision, top: mirror.top,
      visible: .some(mirror.outermostPresented ?? mirror.top))
  }

  /// The version of the file format; `decode` returns nil for another one.
  private static let version: UInt64 = 1

  static func encode(_ seen: SeenState, endpoint: String, nav: String) -> [UInt8] {
    var members: JSONObject = [
      "version": .integer(version), "endpoint": .string(endpoint), "nav": .string(nav),
      "epoch": .string(seen.epoch.text), "rev": .integer(seen.revision.number),
    ]
    members.add("top", seen.top)
    // False stands for no screen; a missing member for one that was not shown.
    members.add("visible", seen.visible.map { $0.map { .string($0) } ?? .bool(false) })
    return OpaqueJSON.object(members).bytes + [0x0A]
  }

  /// Reads what `encode` wrote for this endpoint and nav; nil for all other bytes.
  static func decode(_ bytes: [UInt8], endpoint: String, nav: String) -> SeenState? {
    guard bytes.last == 0x0A, let value = try? JSONValue(Array(bytes.dropLast())),
      value["version"]?.integer == version, value["endpoint"]?.string == endpoint,
      value["nav"]?.string == nav, let epoch = value["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = value["rev"]?.integer
    else { return nil }
    let visible = value["visible"].map { $0.string }
    return SeenState(
      epoch: epoch, revision: Revision(revision), top: value["top"]?.string, visible: visible)
  }
}
