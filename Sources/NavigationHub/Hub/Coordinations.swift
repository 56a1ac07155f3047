import NavigationCore

/// The coordinations, by the nav's slot.
///
/// Law: a coordination is stored only if it has content, or ever had a registration.
struct Coordinations: Sendable {
  private var states: [NavSlot: Coordination] = [:]
  /// The navs where a transition, gesture or lease ended and the journal has not recorded it yet.
  private var unrecordedEndings: Set<NavSlot> = []

  var isEmpty: Bool { states.isEmpty }

  var count: Int { states.count }

  /// The slots of the navs with a coordination, ascending.
  var slots: [NavSlot] { states.keys.sorted() }

  /// Whether the journal has yet to record an ending.
  var hasUnrecordedEndings: Bool { !unrecordedEndings.isEmpty }

  subscript(slot: NavSlot) -> Coordination? {
    let coordination = states[slot]
    assert(coordination?.isWorthKeeping ?? true, "a coordination without content")
    return coordination
  }

  /// The slot of the nav that an `ask` message of a session is about; nil if its answer is not
  /// awaited.
  func slot(asking session: SessionRef, _ ask: UInt64) -> NavSlot? {
    let asking = states.filter {
      $0.value.question?.pendingAsk?.session == session && $0.value.question?.pendingAsk?.ask == ask
    }
    assert(asking.count <= 1, "question \(ask) is about \(asking.count) navs")
    return asking.first?.key
  }

  /// Changes the coordination of a nav, and notes the former one in the batch at hand for a
  /// rollback.
  mutating func update(
    _ slot: NavSlot, in batches: inout Batches, _ change: (inout Coordination) -> Void
  ) {
    var coordination = states[slot] ?? Coordination()
    batches.noteFormer(&coordination, slot)
    change(&coordination)
    store(coordination, slot)
  }

  mutating func remove(_ slot: NavSlot, in batches: inout Batches) -> Coordination? {
    guard var coordination = states.removeValue(forKey: slot) else { return nil }
    batches.noteFormer(&coordination, slot)
    return coordination
  }

  /// Whether a nav has no delegates, questions, waiting ops, leases or open transitions.
  func isAtRest(_ slot: NavSlot) -> Bool {
    states[slot]?.isEmpty ?? true && !unrecordedEndings.contains(slot)
  }

  /// Removes the coordination of a nav whose slot is about to be freed, and returns it.
  @discardableResult
  mutating func forget(_ slot: NavSlot) -> Coordination? {
    unrecordedEndings.remove(slot)
    return states.removeValue(forKey: slot)
  }

  // Batches.

  /// Restores the coordination of a nav from before a failed batch, without the parts of sessions
  /// that have ended.
  ///
  /// If the session of a gesture has ended, the gesture gets the deadline `now`.
  mutating func restore(
    _ before: Coordination, _ slot: NavSlot, among sessions: Sessions, at now: Instant
  ) {
    var coordination = before
    coordination.dropEndedSessions(notAmong: sessions, at: now)
    store(coordination, slot)
    unrecordedEndings.insert(slot)
  }

  /// Notes that a transition, gesture or lease ended at a nav; the hub records it when the journal
  /// takes commits again.
  mutating func postponeEnding(_ slot: NavSlot) { unrecordedEndings.insert(slot) }

  /// Takes the slots of the navs where an ending is not recorded yet, ascending.
  mutating func takeUnrecordedEndings(in batches: inout Batches) -> [NavSlot] {
    defer { unrecordedEndings = [] }
    for slot in unrecordedEndings { update(slot, in: &batches) { _ in } }
    return unrecordedEndings.sorted()
  }

  private mutating func store(_ coordination: Coordination, _ slot: NavSlot) {
    assert(!Navs.virtualSlots.contains(slot), "something is under way to a virtual nav")
    states[slot] = coordination.isWorthKeeping ? coordination : nil
  }
}

extension Coordination {
  /// Whether the coordination must be stored: even an empty one, lest the numbers of registrations
  /// start again.
  fileprivate var isWorthKeeping: Bool { !isEmpty || lastRegistration > 0 }

  /// Drops the roles, ops, lease and gesture of sessions that have ended.
  fileprivate mutating func dropEndedSessions(notAmong sessions: Sessions, at now: Instant) {
    delegates = delegates.filter { sessions.isLive($0.session) }
    queue = queue.filter { $0.hasReceiver(among: sessions) }
    if let question, !question.op.hasReceiver(among: sessions) { self.question?.op.session = nil }
    if let displayHolder, !sessions.isLive(displayHolder) { self.displayHolder = nil }
    if let gestureSession, !sessions.isLive(gestureSession) {
      self.gestureSession = nil
      transitionDeadline = now.boot
    }
  }
}

extension OpContext {
  /// Whether the op has no session, or a session that has not ended.
  fileprivate func hasReceiver(among sessions: Sessions) -> Bool {
    guard let session else { return true }
    return sessions.isLive(SessionRef(slot: session, client: key.client))
  }
}
