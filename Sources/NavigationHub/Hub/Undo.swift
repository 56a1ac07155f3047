import NavigationCore

/// A change that a batch made outside the states of navs, with the values that undo it.
///
/// The code that makes such a change notes it in the batch at hand, and `Hub.rollBack` takes the
/// changes back, the newest first. Each op notes two changes, so the rare large cases are indirect.
enum Undo: Sendable {
  /// A shard got its first row of the batch.
  case row(Shard, before: UInt64)
  /// A session's op counts as in flight until the batch is durable.
  case inFlight(session: SessionSlot)
  /// An op of a client is remembered.
  case remembered(OpClient, op: UInt64, evicted: RememberedOps.Entry?)
  /// A nav was created, closed or frozen.
  case created(NavSlot)
  case closed(NavSlot)
  case frozen(NavSlot)
  /// The coordination of a nav was changed.
  indirect case coordination(NavSlot, before: Coordination)
  /// A malformed message of a session was counted.
  case malformed(session: SessionSlot)
  /// A request to the history was made, or was answered.
  case historyRequested(token: UInt64)
  indirect case historyAnswered(token: UInt64, PendingRead)
  /// A backup was begun or has ended.
  indirect case backup(before: PendingBackup?)

  /// Whether the change is about rows of these shards, or about a nav in one of these slots.
  func concerns(_ shards: Set<Shard>, _ slots: Set<NavSlot>) -> Bool {
    switch self {
    case .row(let shard, _): shards.contains(shard)
    case .created(let slot), .closed(let slot), .frozen(let slot), .coordination(let slot, _):
      slots.contains(slot)
    case .inFlight, .remembered, .malformed, .historyRequested, .historyAnswered, .backup: false
    }
  }
}
