@testable import NavigationCore
@testable import NavigationHub
import Testing

/// An event with its place among all, and the nav that it is about.
private struct Numbered: HoldableEvent {
  var event: HubEvent
  var byteCount: Int
  var number: Int
  var nav: UInt64?

  /// The events that must stay in order, by a number; nil for an event that never waits.
  var lane: UInt64? {
    switch event {
    case .message(let id, _, _), .unreadable(let id, _, _), .closed(let id): id.number
    case .snapshotWanted(let nav): 1000 + nav
    default: nil
    }
  }
}

/// Events of a few connections about a few navs, which are dormant, read, and dormant again.
private struct Twins {
  var random: SeededGenerator
  var pageIns = PageIns<Numbered>()
  let note: Comment
  /// The newest rows of the dormant navs.
  private var dormant: [UInt64: UInt64] = [:]
  /// What the history thread has to answer, in any order.
  private(set) var asked: [ReloadRequest] = []
  private var handled: [Int] = []
  private var last = 0
  private var lastHead: UInt64 = 0
  // The naive twin: what was not handled yet, in the order of arrival.
  private var queue: [Numbered] = []
  private var expected: [Int] = []
  private(set) var counts = (held: 0, stale: 0, absorbed: 0, dropped: 0, taken: 0)

  private static let navs = 1...6 as ClosedRange<UInt64>

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    note = "seed \(seed)"
    for nav in Self.navs { makeDormant(nav) }
  }

  private mutating func makeDormant(_ nav: UInt64) {
    lastHead += 1
    dormant[nav] = lastHead
  }

  private mutating func event() -> Numbered {
    last += 1
    let connection = ConnectionID(UInt64.random(in: 1...5, using: &random))
    let peer = Peer.local(user: 0, group: 0, process: 1)
    let nav = UInt64.random(in: Self.navs, using: &random)
    let bytes = Int.random(in: 1...900, using: &random)
    func message(_ message: ClientMessage, _ nav: UInt64?) -> Numbered {
      Numbered(
        event: .message(connection, peer, message), byteCount: bytes, number: last, nav: nav)
    }
    func other(_ event: HubEvent, _ nav: UInt64? = nil) -> Numbered {
      Numbered(event: event, byteCount: 0, number: last, nav: nav)
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0: return other(.closed(connection))
    case 1: return other(.revoked(connection))
    case 2: return other(.unreadable(connection, peer, .wrongFrameCount))
    case 3: return other(.blocked(connection))
    case 4: return other(.unblocked(connection))
    case 5: return other(.wake)
    case 6: return other(.historyPruned(nav: nav, oldestRevision: 1))
    case 7, 8: return other(.snapshotWanted(nav: nav), nav)
    case 9..<12: return message(.credit(upTo: 1), nil)
    default: return message(.get(GetRequest(id: 1, nav: "n\(nav)", what: .state)), nav)
    }
  }

  /// A turn of a shell with answers and new events.
  private mutating func turn(_ answers: [ReloadRequest], _ new: [Numbered]) {
    let released = pageIns.release(answers)
    for answer in answers where dormant[answer.nav] == answer.newestRow {
      dormant[answer.nav] = nil
    }
    for arrival in released + new {
      let request = arrival.nav.flatMap { nav in
        dormant[nav].map { ReloadRequest(nav: nav, newestRow: $0) }
      }
      if !pageIns.hold(arrival, for: request) { handled.append(arrival.number) }
    }
    let requests = pageIns.takeRequests()
    #expect(Set(requests).isDisjoint(with: asked), note)
    #expect(Set(requests).count == requests.count, note)
    asked += requests
    naiveTurn(new)
    #expect(handled == expected, note)
    #expect(pageIns.count == queue.count && pageIns.isEmpty == queue.isEmpty, note)
    #expect(pageIns.byteCount == queue.reduce(0) { $0 + $1.byteCount }, note)
    for event in queue { #expect(waits(event), note) }
    counts.held = max(counts.held, queue.count)
  }

  /// Handles whatever neither is about a dormant nav nor behind what waits.
  private mutating func naiveTurn(_ new: [Numbered]) {
    var waiting: [Numbered] = []
    for event in queue + new {
      let isBehind = event.lane != nil && waiting.contains { $0.lane == event.lane }
      let isDormant = event.nav.map { dormant[$0] != nil } ?? false
      if case .revoked(let id) = event.event {
        counts.dropped += waiting.count { $0.lane == id.number }
        waiting.removeAll { $0.lane == id.number }
      }
      if isBehind, case .snapshotWanted = event.event {
        counts.absorbed += 1
      } else if isBehind || isDormant {
        waiting.append(event)
      } else {
        expected.append(event.number)
      }
    }
    queue = waiting
  }

  /// Whether the first event of the lane waits for what was asked.
  private func waits(_ event: Numbered) -> Bool {
    guard let first = queue.first(where: { $0.lane == event.lane }) else { return false }
    return asked.contains { $0.nav == first.nav }
  }

  /// Takes out the events of a connection, as the shell does that has not handled an earlier one yet.
  private mutating func take() -> [Numbered] {
    let id = UInt64.random(in: 1...5, using: &random)
    let taken = pageIns.take(from: ConnectionID(id))
    #expect(taken.map(\.number) == queue.filter { $0.lane == id }.map(\.number), note)
    queue.removeAll { $0.lane == id }
    counts.taken += taken.count
    return taken
  }

  mutating func step() {
    let nav = UInt64.random(in: Self.navs, using: &random)
    // A nav becomes dormant, or gets another newest row while it is.
    if dormant[nav] == nil, Bool.random(using: &random) { makeDormant(nav) }
    if asked.contains(where: { $0.nav == nav }), Int.random(in: 0..<8, using: &random) == 0 {
      counts.stale += 1
      makeDormant(nav)
    }
    let most = Int.random(in: 0..<3, using: &random) == 0 ? 3 : 0
    let taken = Int.random(in: 0..<6, using: &random) == 0 ? take() : []
    let new = (0..<Int.random(in: 0...6, using: &random)).map { _ in event() }
    turn(takeAnswers(most: most), taken + new)
  }

  private mutating func takeAnswers(most: Int) -> [ReloadRequest] {
    (0..<Int.random(in: 0...most, using: &random)).compactMap { _ in
      asked.indices.randomElement(using: &random).map { asked.remove(at: $0) }
    }
  }

  /// Answers everything.
  mutating func finish() {
    while !asked.isEmpty { turn(takeAnswers(most: 2), []) }
    #expect(pageIns.isEmpty && pageIns.byteCount == 0 && pageIns.mayReceive, note)
    #expect(handled.count == last - counts.absorbed - counts.dropped, note)
    #expect(Set(handled).count == handled.count, note)
  }
}

@Suite struct PageInsTests {
  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `events wait for navs as if all of them were looked at in each turn`(seed: UInt64) {
    var twins = Twins(seed: seed)
    for _ in 0..<300 { twins.step() }
    twins.finish()
    #expect(twins.counts.held > 8 && twins.counts.stale > 0)
    #expect(twins.counts.absorbed > 0 && twins.counts.dropped > 0 && twins.counts.taken > 0)
  }

  private func get(_ connection: UInt64, bytes: Int = 0) -> Numbered {
    Numbered(
      event: .message(
        ConnectionID(connection), .local(user: 0, group: 0, process: 1),
        .get(GetRequest(id: 1, nav: "n", what: .state))),
      byteCount: bytes, number: 0, nav: 1)
  }

  @Test func `nothing is received while too many events or bytes are held`() {
    typealias Values = PageIns<Numbered>
    let request = ReloadRequest(nav: 1, newestRow: 7)
    for (bytes, most) in [(1, Values.maximumHeldEvents), (Values.maximumHeldBytes / 4, 4)] {
      var pageIns = Values()
      for number in 1...most {
        #expect(pageIns.mayReceive)
        let isHeld = pageIns.hold(get(UInt64(number % 3), bytes: bytes), for: request)
        #expect(isHeld && pageIns.count == number)
      }
      #expect(!pageIns.mayReceive)
      #expect(pageIns.takeRequests() == [request])
      #expect(pageIns.release([request]).count == most)
      #expect(pageIns.mayReceive && pageIns.count == 0 && !pageIns.isEmpty)
      for number in 1...most {
        let isHeld = pageIns.hold(get(UInt64(number % 3), bytes: bytes), for: nil)
        #expect(!isHeld)
      }
      #expect(pageIns.isEmpty)
    }
  }

  @Test func `an answer to an older request releases nothing`() {
    var pageIns = PageIns<Numbered>()
    let (older, newer) = (ReloadRequest(nav: 1, newestRow: 7), ReloadRequest(nav: 1, newestRow: 8))
    _ = pageIns.hold(get(1), for: older)
    _ = pageIns.hold(get(2), for: newer)
    _ = pageIns.hold(get(3), for: newer)
    #expect(pageIns.takeRequests() == [older, newer])
    #expect(pageIns.release([older]).isEmpty && pageIns.count == 3)
    #expect(pageIns.release([newer]).count == 3)
    #expect(pageIns.release([newer]).isEmpty)
  }

  @Test func `a revoked connection ends at once, without its held messages`() {
    var pageIns = PageIns<Numbered>()
    let request = ReloadRequest(nav: 1, newestRow: 7)
    _ = pageIns.hold(get(1, bytes: 5), for: request)
    _ = pageIns.hold(get(2, bytes: 6), for: request)
    var event = get(1)
    (event.event, event.nav) = (.revoked(ConnectionID(1)), nil)
    let isHeld = pageIns.hold(event, for: nil)
    #expect(!isHeld && pageIns.count == 1 && pageIns.byteCount == 6)
    let released = pageIns.release([request])
    #expect(released.map(\.byteCount) == [6] && pageIns.count == 0)
  }

  @Test func `what a connection needs next is requested while it still waits`() {
    var pageIns = PageIns<Numbered>()
    let requests = (1...3).map { ReloadRequest(nav: $0, newestRow: 10 + $0) }
    for request in requests {
      var event = get(1)
      event.number = Int(request.nav)
      _ = pageIns.hold(event, for: request)
    }
    #expect(pageIns.takeRequests() == requests)
    #expect(pageIns.release([requests[1]]).isEmpty)
    #expect(pageIns.release([requests[0]]).map(\.number) == [1, 2])
    #expect(pageIns.release([requests[2]]).map(\.number) == [3])
  }
}
