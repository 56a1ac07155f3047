import NavigationHub

/// The events at hand, and the batches of events that are not durable yet.
///
/// Laws: batches complete in the order in which they began; `takeAll` returns the events of all of
/// them in that order; the bytes are those of the batches that are left.
struct EventBatches {
  /// The bytes after which no more messages are received in one turn; what is read of a message may
  /// take ten times its own.
  static let bytesPerTurn = 1 << 20
  /// Batches with the writer at a time; beyond, the loop waits.
  static let batchesInFlight = 64
  /// The bytes of messages with the writer, beyond which the loop waits.
  static let bytesInFlight = 8 << 20

  private struct Batch {
    var events: [HubEvent]
    var bytes: Int
  }

  /// The events that are handled next.
  private(set) var atHand: [HubEvent] = []
  // Noted as an event arrives: to look through the events again would copy each of them.
  /// Whether all events at hand are ops.
  private(set) var areOps = true
  /// Whether one of the events at hand is a `get`.
  private(set) var hasGet = false
  private var bytesAtHand = 0
  /// Oldest first; their events are handled again if one cannot be stored.
  private var inFlight: [Batch] = []
  private var bytesInFlight = 0

  /// Whether more messages may be received in this turn.
  var mayReceive: Bool { bytesAtHand < Self.bytesPerTurn }
  /// Whether every batch is durable.
  var areDurable: Bool { inFlight.isEmpty }
  /// Whether only the batch that began last is not durable.
  var isNewestAlone: Bool { inFlight.count <= 1 }
  /// Whether the loop must wait for the writer.
  var areFull: Bool {
    inFlight.count >= Self.batchesInFlight || bytesInFlight > Self.bytesInFlight
  }

  /// Appends an event to those at hand.
  mutating func append(_ event: HubEvent) {
    if !event.isOp { areOps = false }
    if event.isGet { hasGet = true }
    atHand.append(event)
  }

  /// Appends events to those at hand.
  mutating func append(_ events: [HubEvent]) { for event in events { append(event) } }

  /// Notes a message that was received, whether it leads to an event or not.
  mutating func noteReceived(_ bytes: Int) { bytesAtHand += bytes }

  /// Makes the events at hand a batch; without any, forgets the bytes of messages that led to none.
  mutating func begin() -> [HubEvent] {
    let events = atHand
    let bytes = bytesAtHand
    (atHand, bytesAtHand) = ([], 0)
    (areOps, hasGet) = (true, false)
    guard !events.isEmpty else { return [] }
    // The next turn mostly has as many; to grow step by step costs more than the room.
    atHand.reserveCapacity(events.count)
    inFlight.append(Batch(events: events, bytes: bytes))
    bytesInFlight += bytes
    return events
  }

  /// Notes that the oldest batch is durable.
  mutating func completeOldest() { bytesInFlight -= inFlight.removeFirst().bytes }

  /// Puts the events of all batches, none of which is durable, back before those at hand.
  mutating func takeBack() {
    bytesAtHand += bytesInFlight
    atHand = takeAll() + atHand
  }

  /// Takes the events of all batches, none of which can be stored.
  mutating func takeAll() -> [HubEvent] {
    defer { (inFlight, bytesInFlight) = ([], 0) }
    return inFlight.flatMap(\.events)
  }
}
