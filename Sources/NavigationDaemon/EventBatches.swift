import NavigationCore

/// The events to handle next, and the batches of events that are not durable yet.
///
/// Laws: batches complete in the order in which they began. `takeAll` returns the events of all of
/// them in that order. The counted bytes are those of the batches in flight.
struct EventBatches {
  /// The bytes of messages after which a turn receives no more.
  ///
  /// A decoded message may take ten times the bytes of the message.
  static let bytesPerTurn = 1 << 20
  /// The maximum number of batches in flight; the loop waits for the writer above it.
  static let batchesInFlight = 64
  /// The maximum bytes of messages in flight; the loop waits for the writer above it.
  static let bytesInFlight = 8 << 20

  private struct Batch {
    var events: [HubEvent]
    var bytes: Int
  }

  /// The events to handle next.
  private(set) var atHand: [HubEvent] = []
  // Noted as an event arrives: to look through the events again would copy each of them.
  /// Whether all events at hand are ops.
  private(set) var areOps = true
  /// Whether one of the events at hand is a `get`.
  private(set) var hasGet = false
  private var bytesAtHand = 0
  /// The batches that are not durable yet, oldest first.
  ///
  /// If one cannot be stored, the loop handles the events of all of them again.
  private var inFlight: [Batch] = []
  private var bytesInFlight = 0

  /// Whether this turn may receive more messages.
  var mayReceive: Bool { bytesAtHand < Self.bytesPerTurn }
  /// Whether every batch is durable.
  var areDurable: Bool { inFlight.isEmpty }
  /// Whether only the batch that began last is not durable.
  var isNewestAlone: Bool { inFlight.count <= 1 }
  /// Whether the loop must wait for the writer.
  var areFull: Bool {
    inFlight.count >= Self.batchesInFlight || bytesInFlight > Self.bytesInFlight
  }

  /// Appends an event to handle next.
  mutating func append(_ event: HubEvent) {
    if !event.isOp { areOps = false }
    if event.isGet { hasGet = true }
    atHand.append(event)
  }

  /// Appends events to handle next.
  mutating func append(_ events: [HubEvent]) { for event in events { append(event) } }

  /// Counts the bytes of a received message, whether or not it gives an event.
  mutating func noteReceived(_ bytes: Int) { bytesAtHand += bytes }

  /// Begins a batch of the events at hand, and returns these events.
  ///
  /// Without events it begins no batch, and resets the bytes of messages that gave no event.
  mutating func begin() -> [HubEvent] {
    let events = atHand
    let bytes = bytesAtHand
    (atHand, bytesAtHand) = ([], 0)
    (areOps, hasGet) = (true, false)
    guard !events.isEmpty else { return [] }
    // The next turn usually has as many events. Growing the array in steps would cost more than the
    // room.
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
    let later = atHand
    atHand = []
    append(takeAll())
    append(later)
  }

  /// Removes all batches, and returns their events, because none of them can be stored.
  mutating func takeAll() -> [HubEvent] {
    defer { (inFlight, bytesInFlight) = ([], 0) }
    return inFlight.flatMap(\.events)
  }
}
