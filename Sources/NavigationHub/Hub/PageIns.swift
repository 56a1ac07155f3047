import NavigationCore

/// An event that `PageIns` can hold, with the size of its message.
package protocol HoldableEvent: Sendable {
  var event: HubEvent { get }
  /// The bytes of the message that the event was read from; 0 for any other event.
  var byteCount: Int { get }
}

/// The events that wait until the rows of dormant navs have been read, and the requests for these
/// rows.
///
/// A dormant nav is paged in like this: `hold` takes the events about it, and everything behind
/// them on the same connections. The shell reads the rows of `takeRequests` on another thread. When
/// it has the rows of a nav, `release` returns the events that waited for them. The shell revives
/// the nav and passes these events to `hold` again, then the later ones; it handles the events that
/// `hold` does not take.
///
/// Three sorts of events never wait. `blocked` and `unblocked` do not, because the hub must stop
/// sending at once. `revoked` ends a session at once, and drops the held events of its connection.
/// Events that belong to no connection do not wait, except `snapshotWanted`.
///
/// Laws:
/// - The events of a connection leave in the order in which they arrived, each of them once, unless
///   the connection is revoked.
/// - Events that leave together do so in the order in which they arrived.
/// - The rows of a nav are requested once, until an answer to the newest request has come.
/// - Each held event waits for a requested nav, or is behind one that does.
package struct PageIns<Arrival: HoldableEvent>: Sendable {
  /// The number of held events at which the shell stops receiving messages.
  package static var maximumHeldEvents: Int { 4096 }
  /// The bytes of held messages at which the shell stops receiving messages.
  ///
  /// A decoded message may take ten times the bytes of the message.
  package static var maximumHeldBytes: Int { 8 << 20 }

  /// The events that must stay in order among themselves.
  private enum Lane: Hashable {
    case connection(ConnectionID)
    case nav(UInt64)
  }

  private struct Held {
    var arrival: Arrival
    /// The position among all events that were ever held, in the order of arrival.
    var arrivalNumber: UInt64
    /// The nav that was dormant when the event arrived, if it is about one.
    var nav: UInt64?
  }

  // Invariants: no lane is empty, its events ascend by `arrivalNumber`, and its first one is about a nav
  // in `requestedRows`. `lanesByNav` has the lane at that nav, and may have it at others.
  private var lanes: [Lane: [Held]] = [:]
  private var lanesByNav: [UInt64: [Lane]] = [:]
  /// The newest row that each unanswered request names, by nav.
  private var requestedRows: [UInt64: UInt64] = [:]
  private var requests: [ReloadRequest] = []
  private var lastArrivalNumber: UInt64 = 0
  /// The arrival numbers of the released events, which the shell passes to `hold` next.
  private var returningNumbers: ArraySlice<UInt64> = []
  package private(set) var count = 0
  /// The bytes of the messages of all held events.
  package private(set) var byteCount = 0
  // Stored, because the loop reads both for each message. A computed property of a generic type
  // would be a call, which is not specialised in another module.
  /// Whether no event is held, and none that was released has still to be passed to `hold`.
  package private(set) var isEmpty = true
  /// Whether the shell may receive more messages.
  package private(set) var mayReceive = true

  package init() {}

  private mutating func note(_ events: Int, _ bytes: Int) {
    count += events
    byteCount += bytes
    isEmpty = count == 0 && returningNumbers.isEmpty
    mayReceive = count < Self.maximumHeldEvents && byteCount < Self.maximumHeldBytes
    assert(count >= 0 && byteCount >= 0, "\(count) events of \(byteCount) bytes")
  }

  /// Holds an event if it must wait; returns whether it must.
  ///
  /// The caller passes events in the order of their arrival. O(1), or O(events of the connection)
  /// for an event that was held before. `request` revives the event's nav; nil if that nav is not
  /// dormant.
  package mutating func hold(_ arrival: Arrival, for request: ReloadRequest?) -> Bool {
    let former = returningNumbers.popFirst()
    if former != nil { note(0, 0) }
    guard request != nil || count > 0 else { return false }
    if case .revoked(let id) = arrival.event { _ = take(from: id) }
    guard let lane = lane(of: arrival.event) else { return false }
    let isBehind = lanes[lane]?.first.map { $0.arrivalNumber < former ?? .max } ?? false
    guard request != nil || isBehind else { return false }
    if let request { ask(request) }
    // A second request for the same snapshot adds nothing.
    if case .nav = lane, lanes[lane] != nil { return true }
    note(1, arrival.byteCount)
    if former == nil { lastArrivalNumber += 1 }
    let held = Held(arrival: arrival, arrivalNumber: former ?? lastArrivalNumber, nav: request?.nav)
    // Behind a released event may be others of its lane, which were not released.
    let place =
      former == nil ? nil : lanes[lane]?.firstIndex { $0.arrivalNumber > held.arrivalNumber }
    lanes[lane, default: []].insert(held, at: place ?? lanes[lane]?.count ?? 0)
    if !isBehind, let nav = held.nav { lanesByNav[nav, default: []].append(lane) }
    assert(
      lanes[lane]?.first?.nav.map { requestedRows[$0] != nil } == true, "an event waits for nothing"
    )
    return true
  }

  /// Removes and returns the held events of a connection.
  package mutating func take(from connection: ConnectionID) -> [Arrival] {
    let events = lanes.removeValue(forKey: .connection(connection)) ?? []
    note(-events.count, -events.reduce(0) { $0 + $1.arrival.byteCount })
    return events.map(\.arrival)
  }

  private mutating func ask(_ request: ReloadRequest) {
    guard requestedRows[request.nav] != request.newestRow else { return }
    requestedRows[request.nav] = request.newestRow
    requests.append(request)
  }

  /// Takes the requests for rows since the last call, in the order of the events.
  package mutating func takeRequests() -> [ReloadRequest] {
    defer { requests = [] }
    return requests
  }

  /// Removes and returns the events that waited only for these answers, in the order of their
  /// arrival.
  ///
  /// An answer to an older request of a nav changes nothing.
  package mutating func release(_ answers: [ReloadRequest]) -> [Arrival] {
    let navs = answers.filter { requestedRows[$0.nav] == $0.newestRow }.map(\.nav)
    for nav in navs { requestedRows[nav] = nil }
    var released: [Held] = []
    for nav in navs {
      for lane in lanesByNav.removeValue(forKey: nav) ?? [] { release(lane, into: &released) }
    }
    released.sort { $0.arrivalNumber < $1.arrivalNumber }
    returningNumbers = released.map(\.arrivalNumber) + returningNumbers
    note(-released.count, -released.reduce(0) { $0 + $1.arrival.byteCount })
    assert((count == 0) == lanes.isEmpty, "\(count) events in \(lanes.count) lanes")
    return released.map(\.arrival)
  }

  private mutating func release(_ lane: Lane, into released: inout [Held]) {
    guard let events = lanes[lane] else { return }
    let end = events.firstIndex { $0.nav.map { requestedRows[$0] != nil } ?? false }
    if end == 0 { return }
    released += events[..<(end ?? events.count)]
    lanes[lane] = end.map { Array(events[$0...]) }
    guard let end, let nav = events[end].nav else { return }
    lanesByNav[nav, default: []].append(lane)
  }

  private func lane(of event: HubEvent) -> Lane? {
    if case .snapshotWanted(let nav) = event { return .nav(nav) }
    return event.connection.map { .connection($0) }
  }
}
