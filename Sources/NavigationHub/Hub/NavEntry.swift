import NavigationCore

/// Everything that the hub keeps of one loaded nav.
struct NavEntry: Sendable {
  var name: String
  /// The number in the journal, where no other nav has it; 0 for a virtual nav.
  var number: UInt64
  var shard: Shard { Shard(ofNav: number) }
  /// The principal that created the nav.
  var owner: String
  var epoch: Epoch
  /// The state; without content if the nav is virtual.
  var controller: NavigationController
  /// The records of a virtual nav; nil for any other nav.
  var directory: VirtualNavRecords?
  /// The digest of the newest state or records.
  var digest: Digest
  var running = RunningDigest()
  /// The hash of the bar that watches were sent last.
  var followedBar = FollowedBar()
  /// The revision since which a watch gets the resolved bar; a diff in the ring has the bar only if
  /// it is newer, or if a watch has resumed.
  var barsSince: Revision
  /// The nav's newest row in the journal.
  var lastSequence: UInt64 = 0
  /// The number of the newest batch that changed the nav.
  var lastChangeBatch: UInt64 = 0
  /// The number of the newest batch in which a client read the nav, or stopped watching it.
  var lastReadBatch: UInt64 = 0
  /// The revision of the newest snapshot in the journal.
  var snapshotRevision: Revision
  /// The oldest revision that the journal can still read.
  var floor: Revision
  /// The newest revision that is durable; nothing newer is sent.
  var durable: Revision
  /// The last change of the top; nil if the journal does not record it.
  var topChange: TopChange?
  /// When the newest revision was made, in milliseconds since 1970.
  ///
  /// If no row follows the nav's newest snapshot, this is the time of the snapshot.
  var changedAt: UInt64 = 0
  /// The newest diffs, from which the hub serves watches.
  var ring: DiffRing
  /// The broken invariants of a frozen nav; nil if the nav is not frozen.
  var fault: String?

  init(
    name: String, number: UInt64, owner: String, epoch: Epoch, controller: NavigationController
  ) {
    self.name = name
    self.number = number
    self.owner = owner
    self.epoch = epoch
    self.controller = controller
    // Creations and new epochs begin a chain. No other nav has the same epoch.
    digest = Digest(checksum: running.update(controller, from: 0), chain: epoch.bits)
    barsSince = controller.revision
    snapshotRevision = controller.revision
    floor = controller.revision
    durable = controller.revision
    ring = DiffRing(base: controller.revision, digest: digest)
  }

  /// The entry in vacant slots.
  static let vacant = NavEntry(
    name: "", number: 0, owner: "", epoch: Epoch(bits: 0),
    controller: NavigationController(revision: Revision(0)))

  /// Computes the digest of a virtual nav.
  mutating func updateVirtualDigest() {
    guard let directory else { preconditionFailure("\(name) is not virtual") }
    digest = Digest(checksum: directory.checksum(), chain: epoch.bits)
  }

  /// The number of the newest batch that used the nav.
  var lastUseBatch: UInt64 { max(lastChangeBatch, lastReadBatch) }

  var isAppearance: Bool { name == NavName.appearance.text }

  /// Whether the journal can restore the nav as it is: nothing is open, everything is durable, and
  /// the nav is not frozen.
  var isFullyRecorded: Bool { !controller.needsRecovery && durable == revision && fault == nil }

  /// The newest revision, durable or not.
  var revision: Revision { directory?.revision ?? controller.revision }

  /// The name of the client that holds the display; empty if the state names none.
  var displayOwner: String { controller.environment.content.owner ?? "" }

  /// The open transition; nil if there is none.
  var transition: RunningTransition? { controller.transition.content.running }

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

  /// The newest state, to be sent; `why` is the reason for sending it.
  func snapshot(why: String) -> Snapshot {
    Snapshot(
      nav: name, kind: directory == nil ? controller.kindName : "directory", epoch: epoch,
      revision: revision, why: why, digest: digest,
      content: directory.map { .directory($0.records.map(\.json)) }
        ?? .controller(controller))
  }

  /// The whole newest state, as one part of a snapshot.
  var state: [UInt8] { snapshot(why: "join").part(from: 0, limit: Int.max / 4).body }

  /// The cost of going through the whole state, in the unit of ``Hub/eventCost``.
  var wholeStateCost: Int {
    if let directory { return directory.records.count * Hub.costOfRow }
    return controller.byteCount + controller.stack.count * Hub.costOfScreen
  }

  /// The reason to begin a full watch with a snapshot; nil if the watch can resume.
  func reasonForSnapshot(_ request: WatchRequest) -> String? {
    assert(ring.last == revision, "the ring ends with \(ring.last)")
    if request.divergence != nil { return "digest" }
    guard let from = request.from else { return "join" }
    if from.epoch != epoch { return "epoch" }
    if from.revision > revision { return "ahead" }
    guard let digest = ring.digest(at: from.revision) else { return "lag" }
    return digest == from.digest ? nil : "digest"
  }

  /// The present value of a conflated view, and a key that changes with it; nil if the key is
  /// `known`.
  mutating func latest(_ view: View, unless known: String?) -> (key: String, value: [UInt8])? {
    let key: String
    switch view {
    case .top:
      key =
        directory.map { $0.records.last?.id ?? "" }
        ?? controller.top.map { "\($0.id.text)@\($0.version.number)" } ?? ""
    case .bar, .full:
      followedBar.follow(controller)
      key = "\(followedBar.hash.bits)"
    }
    return key == known ? nil : (key, latestValue(view))
  }

  func latestValue(_ view: View) -> [UInt8] {
    guard view == .top else { return controller.encodedBar }
    guard directory == nil, let top = controller.top else { return Array("null".utf8) }
    return JSONWriter.value { $0.screen(top) }
  }
}

extension NavigationController {
  var kindName: String { Self.kindName(isStandalone: isStandalone) }

  /// The kind of a standalone bar or a controller on the wire.
  static func kindName(isStandalone: Bool) -> String { isStandalone ? "bar" : "controller" }
}

// Comparing the guards of an op with the nav.

extension NavEntry {
  /// Throws `desync` for the first guard that fails, in the order of protocol.md §9.2.
  ///
  /// Mutating only to avoid a copy of the entry.
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
      throw desync("epoch", "epoch is \(self.epoch.text)") { $0.hex(epoch.bits) }
    }
    if let revision = guards.revision, revision != controller.revision {
      var failure = desync(
        "rev", "rev is \(controller.revision.number), not \(revision.number)"
      ) { $0.integer(revision.number) }
      failure.error.namesFutureRevision = revision > controller.revision
      throw failure
    }
    if let digest = guards.digest, digest != self.digest {
      throw desync("digest", "dig is \(self.digest.text)") { $0.hex(digest) }
    }
    if let top = guards.top, !isSame(top, stack.last) {
      let actual = stack.last?.id.text ?? "no screen"
      throw desync("top", "top is \(actual), not \(top ?? "no screen")") { top.write(&$0) }
    }
    if let depth = guards.depth, depth != UInt64(stack.count) {
      throw desync("depth", "depth is \(stack.count), not \(depth)") { $0.integer(depth) }
    }
    if let ids = guards.stack,
      ids.count != stack.count || !zip(stack, ids).allSatisfy({ isSame($1, $0) })
    {
      let actual = stack.map(\.id.text).joined(separator: ", ")
      throw desync("stack", "the stack is [\(actual)]") { $0.array(ids) { $0.string($1) } }
    }
    for id in guards.has ?? [] where !stack.contains(where: { isSame(id, $0) }) {
      throw desync("has", "\(id) is not on the stack") { $0.string(id) }
    }
    if let visible = guards.visible, !isSame(visible, controller.visible) {
      let actual = controller.visible?.id.text ?? "no screen"
      throw desync("visible", "\(actual) is visible, not \(visible ?? "no screen")") {
        visible.write(&$0)
      }
    }
  }

  private func isSame(_ text: String?, _ screen: Screen?) -> Bool {
    guard let text, let screen else { return text == nil && screen == nil }
    return screen.withID { $0.hasSameBytes(as: text.utf8.span) }
  }

  private func desync(
    _ reason: String, _ text: String, _ writeExpected: (inout JSONWriter) -> Void
  ) -> Hub.OpFailure {
    var error = OutgoingError(.desync, text, reason: reason)
    error.expected = JSONWriter.value(writeExpected)
    return Hub.OpFailure(error)
  }
}

extension OpContext {
  /// Throws `guard-required` for the first operation without the guard that the nav's policy asks
  /// for.
  func checkGuards(under policy: GuardPolicy) throws(Hub.OpFailure) {
    guard policy != .none else { return }
    let guards = request.guards
    let fixesTop = guards.top != nil || guards.fixesStack
    for (index, kind) in request.kinds.enumerated() {
      var needed = kind.neededGuard
      if needed == .byArguments { needed = request.decodedOperation(index)?.needs.guarded ?? .none }
      let isGuarded =
        switch needed {
        case .byArguments: preconditionFailure("\(kind.name) needs no guard of this kind")
        case .visibleScreen: guards.visible != nil || guards.fixesState
        case .wholeStack: guards.fixesStack
        case .topScreen: fixesTop
        case .none: policy != .all || fixesTop || kind == .dismiss && guards.visible != nil
        }
      guard !isGuarded else { continue }
      throw Hub.OpFailure(
        OutgoingError(
          .guardRequired,
          "\(kind.name) goes by what is there: say in \"if\" what you saw, by \(needed.names), "
            + "or {\"any\":true}", index: index))
    }
  }
}

/// The revision that brought the present top screen of a nav.
///
/// Law: it is the last revision at which the id of the top screen changed, or the creation of the
/// nav. The hub knows the change as long as the epoch lasts, across restarts too.
struct TopChange: Hashable, Sendable {
  var revision: Revision
  /// Wall-clock time of the commit in milliseconds since 1970.
  var time: UInt64
  /// The author of the revision; nil if navd made it by itself.
  var author: Author?
  /// The screen that was on top before; nil if there was none.
  var former: FormerTop?
  var cause: Cause
}

/// The screen that was on top before a change of the top.
struct FormerTop: Hashable, Sendable {
  var id: ScreenID
  /// Whether the screen left the stack; if not, it is below others now.
  var isPopped: Bool
}

extension TopChange {
  /// The change of the top by the creation of a nav.
  static func creation(at time: UInt64, by author: Author?) -> TopChange {
    TopChange(revision: Revision(1), time: time, author: author, cause: .api)
  }

  /// Makes the change of a replayed revision that changed the stack from `index` on.
  ///
  /// Nil if the top is still `former`. The author is left nil.
  init?(
    _ revision: Revision, from former: ScreenID?, to stack: [Screen], changedFrom index: Int,
    time: UInt64, cause: Cause
  ) {
    assert(index >= 0)
    guard former != stack.last?.id else { return nil }
    self.init(
      revision: revision, time: time,
      former: former.map { id in
        // Screens below `index - 1` were already below the former top, so they are not searched.
        FormerTop(id: id, isPopped: !stack[max(index - 1, 0)...].contains { $0.hasID(id) })
      }, cause: cause)
  }

  /// Makes the change of a commit; nil if the commit did not change the top.
  init?(
    _ commit: borrowing Commit, to stack: [Screen], by author: Author?, time: UInt64, cause: Cause
  ) {
    // Only a splice changes the order, and one that does not reach the new top leaves the top as it
    // was.
    // Its members are read one by one, because a copy of all of them costs 200 instructions.
    guard let at = commit.splice?.at, let count = commit.splice?.insertedCount,
      at + count == stack.count
    else { return nil }
    assert(at <= stack.count)
    var former: FormerTop?
    if let id = commit.splice?.removed.last {
      guard id != stack.last?.id else { return nil }
      former = FormerTop(id: id, isPopped: count == 0 || !stack[at...].contains { $0.hasID(id) })
    } else if at > 0 {
      // Without removed screens, the new top is an inserted one.
      assert(stack[at - 1].id != stack.last?.id, "nothing was inserted")
      former = FormerTop(id: stack[at - 1].id, isPopped: false)
    }
    self.init(revision: commit.revision, time: time, author: author, former: former, cause: cause)
  }
}

extension JSONWriter {
  /// Writes the last change of the top as the value of member `since`.
  mutating func topChange(_ change: TopChange) {
    object { json in
      json.member("rev", change.revision.number)
      json.member("t", change.time)
      json.member("cause", word: change.cause.word)
      if let author = change.author { json.author(author, op: nil) }
      if let former = change.former {
        json.member(former.isPopped ? "popped" : "covered", former.id.text)
      }
    }
  }

  /// Writes member `by`: the author of a change, and the id of the message that requested it.
  mutating func author(_ author: Author, op: UInt64?) {
    object("by") { json in
      json.member("name", author.name)
      if let op { json.member("op", op) }
      json.member("principal", author.principal)
      if let process = author.pid { json.member("pid", UInt64(UInt32(bitPattern: process))) }
    }
  }
}
