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

// Guards, compared with the nav that they are about.

extension NavEntry {
  /// Throws `desync` for the first guard that fails, in the order of protocol.md §9.2; its `since`
  /// names the last change of the top.
  ///
  /// It is mutating only to avoid a copy of the entry.
  mutating func check(_ guards: borrowing Guards) throws(Hub.OpFailure) {
    do throws(Hub.OpFailure) {
      try compare(guards)
    } catch {
      guard let topChange else { throw error }
      var failure = error
      failure.error.details = [("since", JSONWriter.value { $0.topChange(topChange) })]
      throw failure
    }
  }

  private mutating func compare(_ guards: borrowing Guards) throws(Hub.OpFailure) {
    let stack = controller.stack
    if let epoch = guards.epoch, epoch != self.epoch {
      throw desync("epoch", "epoch is \(self.epoch.text)", JSONWriter.value { $0.hex(epoch.bits) })
    }
    if let revision = guards.revision, revision != controller.revision {
      var failure = desync(
        "rev", "rev is \(controller.revision.number), not \(revision.number)",
        JSONWriter.value { $0.integer(revision.number) })
      failure.error.isFuture = revision > controller.revision
      throw failure
    }
    if let digest = guards.digest, digest != self.digest {
      throw desync(
        "digest", "dig is \(self.digest.text)", JSONWriter.value { $0.hex(digest.bits) })
    }
    if let top = guards.top, top != stack.last?.id.text {
      let actual = stack.last?.id.text ?? "no screen"
      throw desync(
        "top", "top is \(actual), not \(top ?? "no screen")",
        JSONWriter.value { if let top { $0.string(top) } else { $0.null() } })
    }
    if let depth = guards.depth, depth != UInt64(stack.count) {
      throw desync(
        "depth", "depth is \(stack.count), not \(depth)", JSONWriter.value { $0.integer(depth) })
    }
    if let ids = guards.stack, ids != stack.map(\.id.text) {
      throw desync(
        "stack", "the stack is [\(stack.map(\.id.text).joined(separator: ", "))]",
        JSONWriter.value { json in
          json.beginArray()
          for id in ids { json.string(id) }
          json.endArray()
        })
    }
    for id in guards.has ?? [] where !stack.contains(where: { $0.id.text == id }) {
      throw desync("has", "\(id) is not on the stack", JSONWriter.value { $0.string(id) })
    }
  }

  private func desync(_ reason: String, _ text: String, _ expected: [UInt8]) -> Hub.OpFailure {
    var error = OutgoingError(.desync, text)
    error.reason = reason
    error.expected = expected
    return Hub.OpFailure(error)
  }
}

extension OpContext {
  /// Refuses operations that have not the guard that a nav's settings ask for.
  func checkGuards(under policy: GuardPolicy) throws(Hub.OpFailure) {
    guard policy != .none else { return }
    let hasTop = request.guards.top != nil
    for index in request.operations.indices {
      let kind = request.operations[index].kind
      let isGuarded =
        switch kind.neededGuard {
        case .wholeStack: false
        case .position: hasTop
        case .none: policy != .all || hasTop
        }
      guard !isGuarded else { continue }
      let names = kind.neededGuard == .wholeStack ? "rev, dig or stack" : "top, rev, dig or stack"
      var error = OutgoingError(
        .guardRequired,
        "\(kind.name) removes what is there: say in \"if\" what you saw, by \(names), "
          + "or {\"any\":true}")
      error.index = index
      throw Hub.OpFailure(error)
    }
  }
}
