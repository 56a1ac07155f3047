/// What is under way between navs and sessions, by the nav's slot.
///
/// Laws:
/// - A coordination that says nothing is not kept.
/// - `before` has what each coordination was when the batch at hand began, of those that changed.
struct Coordinations: Sendable {
  private var states: [Int: Coordination] = [:]
  private var before: [Int: Coordination] = [:]
  /// The navs to which something ended while the journal took no commit.
  private var unfinished: Set<Int> = []

  /// Whether nothing is under way anywhere.
  var isEmpty: Bool { states.isEmpty }

  /// The number of navs to which something is under way.
  var count: Int { states.count }

  /// The navs to which something is under way, ascending.
  var slots: [Int] { states.keys.sorted() }

  /// Whether something is still to be ended.
  var hasUnfinished: Bool { !unfinished.isEmpty }

  /// What is under way to a nav.
  subscript(slot: Int) -> Coordination? {
    let coordination = states[slot]
    assert(coordination?.isWorthKeeping ?? true, "nav \(slot) keeps nothing")
    return coordination
  }

  /// The nav about which a session is asked a question.
  func slot(asking session: SessionRef, _ ask: UInt64) -> Int? {
    states.first {
      $0.value.question?.pending?.session == session && $0.value.question?.pending?.ask == ask
    }?.key
  }

  /// Changes what is under way to a nav.
  mutating func update(_ slot: Int, _ change: (inout Coordination) -> Void) {
    var coordination = states[slot] ?? Coordination()
    keep(coordination, slot)
    change(&coordination)
    store(coordination, slot)
  }

  /// Takes out what is under way to a nav, which is closed.
  mutating func remove(_ slot: Int) -> Coordination? {
    guard let coordination = states.removeValue(forKey: slot) else { return nil }
    keep(coordination, slot)
    return coordination
  }

  // Batches.

  /// Takes out what the changed coordinations were before the batch, which ends.
  mutating func takeBefore() -> [Int: Coordination] {
    defer { before = [:] }
    return before
  }

  /// Goes back to what was before a failed batch, but for sessions that have ended meanwhile.
  ///
  /// - Parameters:
  ///   - sealed: what the coordinations were before the batches that were sealed.
  ///   - sessions: the sessions as they are.
  ///   - now: when an open gesture ends whose session has ended.
  /// - Returns: whether there was anything to go back to; it is unfinished.
  mutating func rollBack(
    to sealed: [Int: Coordination], among sessions: Sessions, at now: Instant
  ) -> Bool {
    let all = sealed.merging(takeBefore()) { first, _ in first }
    for (slot, coordination) in all {
      var coordination = coordination
      coordination.drop(but: sessions, at: now)
      store(coordination, slot)
      unfinished.insert(slot)
    }
    assert(before.isEmpty && all.keys.allSatisfy(unfinished.contains), "a rollback is left over")
    return !all.isEmpty
  }

  /// Notes that something ended to a nav, which is to be written once the journal takes commits.
  mutating func postpone(_ slot: Int) { unfinished.insert(slot) }

  /// Takes out the navs to which something is still to be ended, ascending.
  mutating func takeUnfinished() -> [Int] {
    defer { unfinished = [] }
    return unfinished.sorted()
  }

  private mutating func keep(_ coordination: Coordination, _ slot: Int) {
    if before[slot] == nil { before[slot] = coordination }
  }

  private mutating func store(_ coordination: Coordination, _ slot: Int) {
    assert(slot >= Navs.virtualSlots.count, "something is under way to a virtual nav")
    states[slot] = coordination.isWorthKeeping ? coordination : nil
  }
}

extension Coordination {
  /// Whether it says anything; the numbers of registrations must go on.
  fileprivate var isWorthKeeping: Bool { !isEmpty || lastOrder > 0 }

  /// Drops what belongs to sessions that have ended.
  fileprivate mutating func drop(but sessions: Sessions, at now: Instant) {
    delegates = delegates.filter { sessions.isLive($0.session) }
    queue = queue.filter { $0.isAwaited(among: sessions) }
    if let question, !question.op.isAwaited(among: sessions) { self.question?.op.session = nil }
    if let holder, !sessions.isLive(holder) { self.holder = nil }
    if let gesture, !sessions.isLive(gesture) {
      self.gesture = nil
      due = now.boot
    }
  }
}

extension OpContext {
  /// Whether there may still be a session to answer.
  fileprivate func isAwaited(among sessions: Sessions) -> Bool {
    guard let session else { return true }
    return sessions.isLive(SessionRef(slot: session, client: key.client))
  }
}
