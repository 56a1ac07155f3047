import Navigation
import NavigationProtocol

/// Everything the hub keeps of one nav.
struct NavEntry: Sendable {
  /// The name.
  var name: String
  /// The number in the journal, never used twice; 0 for a virtual nav.
  var number: UInt64
  /// The principal who created it.
  var owner: String
  /// The life of the nav that revisions belong to.
  var epoch: Epoch
  /// The state, of a controller.
  var controller: NavigationController
  /// The records, of a virtual nav.
  var directory: Directory?
  /// The digest of the state, kept up to date.
  var digest: Digest
  var running = RunningDigest()
  /// What the bar shows, encoded, to tell whether it changed.
  var shown: ShownBar
  /// The revision at which what the bar shows last changed.
  var resolvedAt: Revision
  /// The nav's newest row in the journal.
  var lastSequence: UInt64 = 0
  /// The number of the last batch that changed it.
  var touchedBy: UInt64 = 0
  /// The revision of the newest snapshot in the journal.
  var snapshotRevision: Revision
  /// The oldest revision that the journal can still read.
  var floor: Revision
  /// The newest revision that is durable; nothing newer is sent.
  var durable: Revision
  /// Since when the top is what it is; nil if the journal does not tell.
  var topChange: TopChange?
  /// The diffs to serve watches from.
  var ring: DiffRing
  /// What was found wrong with the nav, or what an op would have made of it; it is only read since.
  var fault: String?

  init(
    name: String, number: UInt64, owner: String, epoch: Epoch, controller: NavigationController
  ) {
    self.name = name
    self.number = number
    self.owner = owner
    self.epoch = epoch
    self.controller = controller
    digest = running.update(controller, from: 0)
    shown = ShownBar(controller)
    resolvedAt = controller.revision
    snapshotRevision = controller.revision
    floor = controller.revision
    durable = controller.revision
    ring = DiffRing(base: controller.revision, digest: digest)
  }

  /// An entry that stands for nothing, left in vacant slots.
  static let vacant = NavEntry(
    name: "", number: 0, owner: "", epoch: Epoch(bits: 0),
    controller: NavigationController(revision: Revision(0)))

  /// The newest revision, durable or not.
  var revision: Revision { directory?.revision ?? controller.revision }

  /// The name of the client that holds the display; empty if the state tells of none.
  var displayOwner: String { controller.environment.content.owner ?? "" }

  var standing: NavStanding {
    if let directory {
      return NavStanding(
        nav: name, epoch: epoch, revision: directory.revision, digest: digest,
        depth: directory.records.count, top: directory.records.last?.id)
    }
    return NavStanding(
      nav: name, epoch: epoch, revision: controller.revision, digest: digest,
      depth: controller.stack.count, top: controller.top?.id.text)
  }

  /// The state as it is now, to be sent.
  func snapshot(why: String) -> Snapshot {
    Snapshot(
      nav: name, kind: directory == nil ? controller.kindName : "directory", epoch: epoch,
      revision: revision, why: why, digest: digest,
      content: directory.map { .directory($0.records.map(\.json)) }
        ?? .controller(controller, shown))
  }

  /// What the bar shows, encoded.
  var resolved: [UInt8] { shown.bytes }

  /// Why a full watch gets a snapshot; nil if it may resume.
  func reasonForSnapshot(_ request: WatchRequest) -> String? {
    if request.bad != nil { return "digest" }
    guard let from = request.from else { return "join" }
    if from.epoch != epoch { return "epoch" }
    if from.revision > revision { return "ahead" }
    guard let digest = ring.digest(at: from.revision) else { return "lag" }
    return digest == from.digest ? nil : "digest"
  }

  /// What a conflated view shows now, and a text that changes with it; nil if that text is `known`.
  func latest(_ view: View, unless known: String?) -> (key: String, value: [UInt8])? {
    let key =
      switch view {
      case .top: directory.map { $0.records.last?.id ?? "" } ?? topKey
      case .bar, .full: "\(resolvedAt.number)"
      }
    return key == known ? nil : (key, latestValue(view))
  }

  private var topKey: String {
    controller.top.map { "\($0.id.text)@\($0.version.number)" } ?? ""
  }

  /// What a conflated view shows now.
  func latestValue(_ view: View) -> [UInt8] {
    guard view == .top else { return resolved }
    guard directory == nil, let top = controller.top else { return Array("null".utf8) }
    return JSONWriter.value { $0.screen(top) }
  }
}

extension NavigationController {
  /// The kind of the nav on the wire.
  var kindName: StaticString { Self.kindName(isStandalone: isStandalone) }

  /// The kind of such a nav on the wire.
  static func kindName(isStandalone: Bool) -> StaticString { isStandalone ? "bar" : "controller" }
}
