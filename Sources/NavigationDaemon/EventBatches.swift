import NavigationCore
package import NavigationHub

/// A received event, with the bytes that it counts against limits while it waits.
package struct ReceivedEvent: HoldableEvent {
  package let event: HubEvent
  package let byteCount: Int
  /// The bytes that it counts against the limit of its principal: a decoded message takes more
  /// memory than its frame.
  var weight: Int { 2 * byteCount }
}

/// The events to handle next, and the batches of events that are not durable yet.
///
/// Messages for which a turn has no time wait in `backlogByPrincipal`, which serves principals in rotation.
///
/// Laws: batches complete in the order in which they began. `takeAll` returns the events of all of
/// them in that order. The counted bytes are at least those of the batches in flight.
package struct EventBatches: Sendable {
  package init() {}

  /// The bytes of messages after which a turn receives no more.
  ///
  /// A decoded message may take ten times the bytes of the message.
  static let bytesPerTurn = 1 << 20
  /// The maximum number of batches in flight; the loop waits for the writer above it.
  static let maximumBatchesInFlight = 64
  /// The maximum bytes of messages in flight; the loop waits for the writer above it.
  static let maximumBytesInFlight = 8 << 20

  /// The least number of bytes that an event counts.
  static let minimumBytes = 1024

  private(set) var atHand: [HubEvent] = []
  // Noted as an event arrives: to look through the events again would copy each of them.
  private(set) var areOnlyOps = true
  private(set) var hasGet = false
  /// The number of events at the front of `atHand` that a failed batch contained; they stay there.
  package private(set) var retriedCount = 0
  private var bytesAtHand = 0
  /// The bytes that each event at hand counts; `nextByteCount` is that of the next event.
  private var byteCountsAtHand: [Int] = []
  private var nextByteCount = minimumBytes
  /// The batches that are not durable yet, oldest first.
  ///
  /// If one cannot be stored, the loop handles the events of all of them again.
  private var inFlight: [(events: [HubEvent], bytes: Int)] = []
  private var bytesInFlight = 0
  /// The messages that wait for a later turn, and the ends of their connections, by principal.
  private var backlogByPrincipal = FairQueue<Text, ReceivedEvent>()
  static let maximumWeightPerPrincipal = 8 << 20
  /// The indices of the events of the newest batch that wait for a later turn, with their
  /// principals.
  private var postponed: [(index: Int, owner: Text)] = []
  /// The bytes that each event of the newest batch counts.
  private var newestByteCounts: [Int] = []
  /// Whether messages wait, so that this turn charges each principal for its events.
  private(set) var chargesPrincipals = false

  /// The number of events that wait for a later turn.
  package var waitingCount: Int { backlogByPrincipal.count }
  package var isEmpty: Bool { atHand.isEmpty && backlogByPrincipal.count == 0 }

  package var mayReceive: Bool { bytesAtHand < Self.bytesPerTurn }
  package var inFlightCount: Int { inFlight.count }
  package var areDurable: Bool { inFlight.isEmpty }
  /// Whether only the batch that began last is not durable.
  var isNewestAlone: Bool { inFlight.count <= 1 }
  var areFull: Bool {
    inFlight.count >= Self.maximumBatchesInFlight || bytesInFlight > Self.maximumBytesInFlight
  }

  /// Adds an event; if events wait for a later turn, it waits behind them.
  ///
  /// If too many messages of one principal wait, it drops those of the connection with the most
  /// octets, and returns that connection, which the caller disconnects.
  @discardableResult
  @inline(__always)
  package mutating func append(_ event: consuming HubEvent) -> ConnectionID? {
    if backlogByPrincipal.count > 0 { return appendBehind(event) }
    appendAtHand(event)
    return nil
  }

  // Never inlined, because copies of an event in `append` would cost each op 300 instructions.
  @inline(never)
  private mutating func appendBehind(_ event: HubEvent) -> ConnectionID? {
    switch event {
    // The client has disconnected, so navd drops its reads.
    case .closed(let id): backlogByPrincipal.remove { $0.event.isRead && $0.event.connection == id }
    case .revoked(let id): drop(id)
    default: break
    }
    guard let owner = owner(of: event) else {
      appendAtHand(event)
      return nil
    }
    let received = ReceivedEvent(event: event, byteCount: takeNextByteCount())
    backlogByPrincipal.append(received, of: owner, size: received.weight)
    if case .closed = event { return nil }
    guard backlogByPrincipal.size(of: owner) > Self.maximumWeightPerPrincipal else { return nil }
    var weights: [ConnectionID: Int] = [:]
    for (waiting, weight) in backlogByPrincipal.elements(of: owner) {
      if let connection = waiting.event.connection { weights[connection, default: 0] += weight }
    }
    let most = weights.max { ($0.value, $0.key.number) < ($1.value, $1.key.number) }?.key
    if let most { drop(most) }
    return most
  }

  /// Drops the waiting messages of a connection, but not its closing event, which ends the session.
  private mutating func drop(_ connection: ConnectionID) {
    backlogByPrincipal.remove { waiting in
      if case .closed = waiting.event { return false }
      return waiting.event.connection == connection
    }
  }

  private func owner(of event: HubEvent) -> Text? {
    switch event {
    case .message(_, let peer, _), .unreadable(_, let peer, _): Text(peer.principal)
    case .closed(let id): backlogByPrincipal.owner { $0.event.connection == id }
    default: nil
    }
  }

  @inline(__always)
  private mutating func appendAtHand(_ event: consuming HubEvent) {
    if !event.isOp { areOnlyOps = false }
    if event.isGet { hasGet = true }
    atHand.append(event)
    byteCountsAtHand.append(takeNextByteCount())
  }

  @inline(__always)
  private mutating func takeNextByteCount() -> Int {
    defer { nextByteCount = Self.minimumBytes }
    return nextByteCount
  }

  package mutating func append(_ events: [HubEvent]) { for event in events { append(event) } }

  /// Counts the bytes of a received message; call it before `append`, also for a message that
  /// becomes no event.
  ///
  /// `subtractAnswered` subtracts no more than this function has counted.
  package mutating func noteReceived(_ bytes: Int) {
    nextByteCount = max(bytes, Self.minimumBytes)
    bytesAtHand += nextByteCount
  }

  /// Removes and returns the events at hand from an index on; their bytes stay counted for this turn.
  mutating func takeAtHand(from index: Int = 0) -> [ReceivedEvent] {
    let events = zip(atHand, byteCountsAtHand).dropFirst(index)
      .map { ReceivedEvent(event: $0, byteCount: $1) }
    atHand.removeSubrange(index...)
    byteCountsAtHand.removeSubrange(index...)
    retriedCount = min(retriedCount, index)
    areOnlyOps = atHand.allSatisfy(\.isOp)
    hasGet = atHand.contains(where: \.isGet)
    return events
  }

  /// Subtracts the bytes of an event that `takeAtHand` returned, because it is answered.
  mutating func subtractAnswered(_ received: ReceivedEvent) {
    bytesAtHand = max(bytesAtHand - received.byteCount, 0)
  }

  /// Appends an event that `takeAtHand` returned in this turn.
  mutating func putBack(_ received: ReceivedEvent) {
    nextByteCount = received.byteCount
    appendAtHand(received.event)
  }

  /// Moves waiting events to `atHand`, until it has `count` events or their expected cost reaches
  /// `cost`.
  mutating func takeWaiting(upTo count: Int, cost: Int) {
    chargesPrincipals = backlogByPrincipal.count > 0
    var left = cost
    while chargesPrincipals, left > 0, atHand.count < count,
      let (owner, received) = backlogByPrincipal.next()
    {
      left -= backlogByPrincipal.expectedCost(of: owner)
      noteReceived(received.byteCount)
      appendAtHand(received.event)
    }
  }

  /// Inserts events that waited for navs before those at hand, and counts their bytes again.
  ///
  /// The events of a failed batch stay first.
  package mutating func insertFirst(_ events: [ReceivedEvent]) {
    let later = takeAtHand(from: retriedCount)
    for received in events {
      noteReceived(received.byteCount)
      appendAtHand(received.event)
    }
    for received in later { putBack(received) }
  }

  /// Begins a batch of the events at hand, and returns these events.
  ///
  /// Without events it begins no batch, and resets the bytes of messages that gave no event.
  mutating func beginBatch() -> [HubEvent] {
    let events = atHand
    let bytes = bytesAtHand
    (atHand, bytesAtHand, retriedCount, nextByteCount) = ([], 0, 0, Self.minimumBytes)
    (areOnlyOps, hasGet) = (true, false)
    swap(&byteCountsAtHand, &newestByteCounts)
    byteCountsAtHand.removeAll(keepingCapacity: true)
    guard !events.isEmpty else { return [] }
    // The next turn usually has as many events. Growing the array in steps would cost more than the
    // room.
    atHand.reserveCapacity(events.count)
    inFlight.append((events, bytes))
    bytesInFlight += bytes
    return events
  }

  var hasPostponed: Bool { !postponed.isEmpty }

  // Read here: the loop would copy an event that it passes, which costs each op 300 instructions.
  private var newestEvents: [HubEvent] { inFlight.last?.events ?? [] }

  /// Leaves an event of the newest batch for a later turn; returns false if it cannot wait.
  mutating func postpone(_ index: Int) -> Bool {
    let events = newestEvents
    // The end of a connection waits behind its messages.
    guard
      let owner = owner(of: events[index])
        ?? postponed.first(where: {
          events[$0.index].connection == events[index].connection
        })?.owner
    else { return false }
    postponed.append((index, owner))
    return true
  }

  /// Charges its principal for an event of the newest batch; call it only if `chargesPrincipals`.
  mutating func charge(_ index: Int, _ cost: Int) {
    if let owner = owner(of: newestEvents[index]) { backlogByPrincipal.charge(owner, cost) }
  }

  /// Moves the postponed events from the newest batch to the backlog, and after them the events of
  /// the same connections that wait in `pageIns` for dormant navs.
  mutating func movePostponedToBacklog(_ pageIns: inout PageIns<ReceivedEvent>) {
    guard !postponed.isEmpty else { return }
    var batch = inFlight.removeLast()
    for (owner, left) in Dictionary(grouping: postponed, by: \.owner) {
      let events = left.map { (index, _) in
        ReceivedEvent(event: batch.events[index], byteCount: newestByteCounts[index])
      }
      // `PageIns` has bounded them already, so that they disconnect nobody.
      let held = Set(events.compactMap(\.event.connection)).flatMap { pageIns.take(from: $0) }
      backlogByPrincipal.putBack(events.map { ($0, $0.weight) } + held.map { ($0, 0) }, of: owner)
    }
    let left = Set(postponed.map(\.index))
    batch.events = batch.events.indices.filter { !left.contains($0) }.map { batch.events[$0] }
    inFlight.append(batch)
    postponed = []
  }

  var connectionsInFlight: Set<ConnectionID> {
    inFlight.reduce(into: []) { all, batch in all.formUnion(batch.events.compactMap(\.connection)) }
  }

  mutating func completeOldest() { bytesInFlight -= inFlight.removeFirst().bytes }

  /// Puts the events of all batches in flight back before those at hand, to be decided again.
  mutating func retryAll() {
    bytesAtHand += bytesInFlight
    let (former, later) = (retriedCount, takeAtHand())
    for event in takeAll() { appendAtHand(event) }
    retriedCount = atHand.count + former
    for received in later { putBack(received) }
  }

  /// Removes all batches, and returns their events, because none of them can be stored.
  mutating func takeAll() -> [HubEvent] {
    defer { (inFlight, bytesInFlight) = ([], 0) }
    return inFlight.flatMap(\.events)
  }
}
