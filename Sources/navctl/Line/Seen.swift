import NavigationClient
import NavigationCore

/// The state of one nav that one terminal last showed; `GuardChoice` makes guards from it.
struct Seen: Hashable, Sendable {
  /// The epoch, which changes when the nav is created anew.
  var epoch: Epoch
  var revision: Revision
  var top: String?
  /// The outermost presented screen, or else the top; the outer nil if the terminal did not show
  /// it.
  var visible: String??

  /// The state as text: "rev 18, top wifi".
  var text: String { "rev \(revision.number), top \(top ?? "none")" }
}

extension Seen {
  /// Reads the state from the reply to an operation; nil if the reply has no epoch, revision or
  /// top.
  init?(_ reply: OkReply) {
    guard let epoch = reply.epoch, let revision = reply.revision, let top = reply.top else {
      return nil
    }
    self.init(epoch: epoch, revision: revision, top: top)
  }

  /// Reads the state from the reply to operations, with what is visible after them.
  ///
  /// The reply does not name the visible screen, but it follows from the one before if no operation
  /// presents or dismisses. If another client presented a screen meanwhile, this terminal did not
  /// show that.
  init?(_ reply: OkReply, after before: Seen?, _ operations: [NavigationOperation]) {
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
}

/// The format of the files in which navctl keeps `Seen`: the state of a nav that one terminal last
/// showed.
enum SeenFile {
  /// The version of the format; `decode` ignores a file with another.
  private static let version: UInt64 = 1

  static func encode(_ seen: Seen, endpoint: String, nav: String) -> [UInt8] {
    var members: JSONObject = [
      "version": .integer(version), "endpoint": .string(endpoint), "nav": .string(nav),
      "epoch": .string(seen.epoch.text), "rev": .integer(seen.revision.number),
    ]
    members.add("top", seen.top)
    // False stands for no screen; a missing member for one that was not shown.
    members.add("visible", seen.visible.map { $0.map { .string($0) } ?? .bool(false) })
    return OpaqueJSON.object(members).bytes + [0x0A]
  }

  /// Reads the contents of a file; nil if `encode` did not write them for this nav and endpoint.
  ///
  /// A damaged file, or the file of another nav with the same hash, must not become a guard.
  static func decode(_ bytes: [UInt8], endpoint: String, nav: String) -> Seen? {
    guard bytes.last == 0x0A, let value = try? JSONValue(Array(bytes.dropLast())),
      value["version"]?.integer == version, value["endpoint"]?.string == endpoint,
      value["nav"]?.string == nav, let epoch = value["epoch"]?.string.flatMap({ Epoch($0) }),
      let revision = value["rev"]?.integer
    else { return nil }
    let visible = value["visible"].map { $0.string }
    return Seen(
      epoch: epoch, revision: Revision(revision), top: value["top"]?.string, visible: visible)
  }
}
