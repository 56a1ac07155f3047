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
  /// The slots of the watches, in the order in which they were made.
  var watches: [Int] = []
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

/// One client's interest in one nav: a place in its history, not a queue.
struct Watch: Sendable {
  var session: Int
  var nav: Int
  var view: View
  /// Whether a full view has what the bar shows.
  var hasResolved = true
  /// The revision that the mirror has, or will have when what was sent arrives.
  var cursor: Revision
  /// A snapshot on its way, and the screen to go on with.
  var snapshot: SnapshotOnItsWay?
  var nextScreen = 0
  /// Set once the answer to the watch is on its way; nothing is sent before.
  var isStarted = false
  /// Tells whether a conflated view has changed since it was sent.
  var sentKey: String?

  static let vacant = Watch(session: -1, nav: -1, view: .full, cursor: Revision(0))
}

/// A snapshot that is being sent, beside its watch: thousands of watches are walked for one
/// revision, and hardly any has one.
final class SnapshotOnItsWay: Sendable {
  let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }
}

/// One client's presence.
struct Session: Sendable {
  // What every message to it needs comes first, so that it is close together.
  var connection: ConnectionID
  var window: UInt64
  var isUncontrolled: Bool
  /// Whether the socket takes no more for the moment.
  var isBlocked = false
  /// Octets sent under flow control, and how far they may go.
  var sent: UInt64 = 0
  var upTo: UInt64
  var lastSentAt: UInt64
  var lastHeardAt: UInt64
  var peer: Peer
  var role: Role
  var client: ClientID
  /// What its ops are remembered by; kept because it is asked for with every op.
  var key: RememberedOps.Key
  /// What its changes name it by; holds the name that people call it.
  var author: Author
  var heartbeat: UInt64
  var watches: [Int] = []
  /// The number of the last question put to it.
  var lastAsk: UInt64 = 0
  /// The ops answered in the batch at hand, which are in flight until it is durable.
  var inflight = 0
  /// Malformed messages so far; the third ends the session.
  var malformed = 0
  /// Ops that were answered.
  var answered: UInt64 = 0
  /// Reports of divergence in the ten seconds at hand.
  var reports: (period: UInt64, count: Int) = (0, 0)

  var name: String { author.name }

  /// Whether a report of divergence goes into the journal: a few in ten seconds tell what many would.
  mutating func mayReport(at now: Instant) -> Bool {
    let period = now.boot / 10_000
    if reports.period != period { reports = (period, 0) }
    reports.count += 1
    return reports.count <= Self.reportsInTenSeconds
  }

  private static let reportsInTenSeconds = 8

  var hasCredit: Bool { !isBlocked && (isUncontrolled || sent < upTo) }

  static let vacant = Session(
    connection: ConnectionID(0), window: 0, isUncontrolled: false, upTo: 0, lastSentAt: 0,
    lastHeardAt: 0, peer: .local(user: 0, group: 0, process: 0), role: .ui,
    client: ClientID(high: 0, low: 0),
    key: RememberedOps.Key(principal: "", client: ClientID(high: 0, low: 0)),
    author: Author(name: "", principal: "", process: nil), heartbeat: 0)
}

extension NavigationController {
  /// The kind of the nav on the wire.
  var kindName: StaticString { Self.kindName(isStandalone: isStandalone) }

  /// The kind of such a nav on the wire.
  static func kindName(isStandalone: Bool) -> StaticString { isStandalone ? "bar" : "controller" }
}
