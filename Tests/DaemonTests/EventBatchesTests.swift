import NavigationCore
import NavigationHub
import Testing

@testable import NavigationDaemon

extension EventBatches {
  /// Moves the events that were left for a later turn, while no nav is dormant.
  fileprivate mutating func movePostponedToBacklog() {
    var pageIns = PageIns<ReceivedEvent>()
    movePostponedToBacklog(&pageIns)
  }
}

@Suite struct EventBatchesTests {
  private static let peer = Peer.local(user: 0, group: 0, process: 1)

  /// An op for a multiple of 3, a `get` for a multiple of 7, the end of a connection for any other.
  private func event(_ number: Int) -> HubEvent {
    let connection = ConnectionID(UInt64(number))
    if isOp(number) {
      var reader = ClientMessageReader()
      return HubEvent(
        frame: "nsp1.op".utf8.span, body: "{".utf8.span, from: connection, Self.peer,
        reader: &reader)
    }
    if isGet(number) {
      return .message(connection, Self.peer, .get(GetRequest(id: 1, nav: nil, what: .stats)))
    }
    return .closed(connection)
  }

  /// The bytes of a message, which few events have many of.
  private func bytesOf(_ number: Int) -> Int { number % 4 == 0 ? number * 7919 % 300_000 : 300 }
  private func isOp(_ number: Int) -> Bool { number.isMultiple(of: 3) }
  private func isGet(_ number: Int) -> Bool { !isOp(number) && number.isMultiple(of: 7) }

  private func numbers(_ events: [HubEvent]) -> [Int] {
    events.map { event in
      switch event {
      case .closed(let id), .unreadable(let id, _, _), .message(let id, _, _): Int(id.number)
      default: -1
      }
    }
  }

  /// Against lists of numbers.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `batches begin, complete and are taken back in their order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var batches = EventBatches()
    var (atHand, inFlight): ([Int], [[Int]]) = ([], [])
    var (bytesAtHand, bytesInFlight): (Int, [Int]) = (0, [])
    // `first` events at hand were in a batch before, and come before those that were held.
    var (held, retriedCount, first): ([ReceivedEvent], Set<Int>, Int) = ([], [], 0)
    for number in 0..<2000 {
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<10:
        let bytes = bytesOf(number)
        batches.noteReceived(bytes)
        batches.append(event(number))
        atHand.append(number)
        bytesAtHand += max(bytes, EventBatches.minimumBytes)
      case 10:
        // A message that leads to no event.
        batches.noteReceived(2 << 20)
        bytesAtHand += 2 << 20
      case 11..<16:
        #expect(numbers(batches.beginBatch()) == atHand)
        if !atHand.isEmpty {
          inFlight.append(atHand)
          bytesInFlight.append(bytesAtHand)
        }
        (atHand, bytesAtHand, first) = ([], 0, 0)
      case 16..<19:
        guard !inFlight.isEmpty else { continue }
        batches.completeOldest()
        inFlight.removeFirst()
        bytesInFlight.removeFirst()
      case 19 where Int.random(in: 0..<10, using: &random) == 0:
        batches.retryAll()
        retriedCount.formUnion(inFlight.joined())
        first += inFlight.joined().count
        atHand = inFlight.flatMap { $0 } + atHand
        bytesAtHand += bytesInFlight.reduce(0, +)
        (inFlight, bytesInFlight) = ([], [])
      case 20, 21:
        let (index, kept, waiting) = hold(&batches, atHand, &random)
        first = min(first, index)
        atHand = kept
        held += waiting
      case 22:
        batches.insertFirst(held)
        atHand.insert(contentsOf: numbers(held.map(\.event)), at: first)
        for (received, number) in zip(held, atHand[first...]) {
          // `retryAll` drops the sizes of its events; the loop holds none of them.
          let bytes = retriedCount.contains(number) ? 0 : bytesOf(number)
          #expect(received.byteCount == max(bytes, EventBatches.minimumBytes))
        }
        bytesAtHand += held.reduce(0) { $0 + $1.byteCount }
        held = []
      default:
        guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
        #expect(numbers(batches.takeAll()) == inFlight.flatMap { $0 })
        (inFlight, bytesInFlight) = ([], [])
      }
      #expect(numbers(batches.atHand) == atHand && batches.retriedCount == first)
      #expect(batches.areOnlyOps == atHand.allSatisfy(isOp))
      #expect(batches.hasGet == atHand.contains(where: isGet))
      #expect(batches.areDurable == inFlight.isEmpty)
      #expect(batches.isNewestAlone == (inFlight.count <= 1))
      #expect(batches.mayReceive == (bytesAtHand < EventBatches.bytesPerTurn))
      let isFull =
        inFlight.count >= EventBatches.maximumBatchesInFlight
        || bytesInFlight.reduce(0, +) > EventBatches.maximumBytesInFlight
      #expect(batches.areFull == isFull)
    }
  }

  @Test func `reads that are answered ahead give no room that they did not take`() {
    var batches = EventBatches()
    for number in 0..<2000 where batches.mayReceive {
      batches.noteReceived(970)
      batches.append(event(3))
      batches.noteReceived(22)
      batches.append(message(number, number))
      for received in batches.takeAtHand(from: batches.atHand.count - 1) {
        batches.subtractAnswered(received)
      }
    }
    #expect(batches.atHand.count == EventBatches.bytesPerTurn / EventBatches.minimumBytes)
  }

  /// Takes the events at hand, and puts back those that wait for no nav.
  private func hold(
    _ batches: inout EventBatches, _ atHand: [Int], _ random: inout SeededGenerator
  ) -> (from: Int, kept: [Int], waiting: [ReceivedEvent]) {
    let first = Int.random(in: 0...atHand.count, using: &random)
    let before = numbers(Array(batches.atHand.prefix(first)))
    let taken = batches.takeAtHand(from: first)
    #expect(numbers(batches.atHand) == before)
    #expect(before + numbers(taken.map(\.event)) == atHand)
    #expect(batches.areOnlyOps == before.allSatisfy(isOp))
    #expect(batches.hasGet == before.contains(where: isGet))
    var (kept, waiting): ([HubEvent], [ReceivedEvent]) = ([], [])
    for received in taken {
      if Int.random(in: 0..<3, using: &random) == 0 {
        waiting.append(received)
      } else {
        batches.putBack(received)
        kept.append(received.event)
      }
    }
    return (first, before + numbers(kept), waiting)
  }

  /// A message of a connection; the principal is the connection's number modulo three.
  private func message(_ connection: Int, _ id: Int) -> HubEvent {
    .message(
      ConnectionID(UInt64(connection)),
      .key(name: "p\(connection % 3)", address: ""), .ping(id: UInt64(id)))
  }

  private func name(_ event: HubEvent) -> (connection: Int, id: Int) {
    switch event {
    case .message(let connection, _, .ping(id: let id)): (Int(connection.number), Int(id))
    case .closed(let connection): (Int(connection.number), .max)
    default: (-1, -1)
    }
  }

  /// Each turn handles a few of the events at hand, and leaves the rest for later turns.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `events that wait for a later turn keep their order, and none is lost`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var batches = EventBatches()
    var (sent, handled): ([Int: [Int]], [Int: [Int]]) = ([:], [:])
    var gone: Set<Int> = []
    for number in 0..<3000 {
      let isLast = number >= 2000
      if !isLast {
        for _ in 0..<Int.random(in: 0..<12, using: &random) {
          let connection = Int.random(in: 0..<(12 + number / 100), using: &random)
          guard !gone.contains(connection) else { continue }
          let isEnd = Int.random(in: 0..<40, using: &random) == 0
          if isEnd { gone.insert(connection) }
          let id = isEnd ? Int.max : number
          batches.noteReceived(number % 9 == 0 ? 5000 : 100)
          let flooder = batches.append(
            isEnd ? .closed(ConnectionID(UInt64(connection))) : message(connection, number))
          #expect(flooder == nil)
          sent[connection, default: []].append(id)
        }
      }
      batches.takeWaiting(upTo: 20, cost: Int.random(in: 1..<4000, using: &random))
      let events = batches.beginBatch()
      // The wake of an idle turn is no message, and so never waits.
      let most = isLast ? 20 : Int.random(in: 1..<5, using: &random)
      var done = 0
      for index in events.indices {
        if done >= most, batches.postpone(index) { continue }
        done += 1
        let (connection, id) = name(events[index])
        handled[connection, default: []].append(id)
        batches.charge(index, connection % 3 * 100 + 1)
      }
      batches.movePostponedToBacklog()
      if !events.isEmpty { batches.completeOldest() }
      if isLast, batches.isEmpty { break }
    }
    #expect(batches.isEmpty && handled == sent)
  }

  @Test func `what is handled again after a rollback is what the batch has handled`() {
    var batches = EventBatches()
    for id in 0..<6 { batches.append(message(1, id)) }
    batches.append(.closed(ConnectionID(1)))
    batches.append(.wake)
    batches.append(.closed(ConnectionID(2)))
    let events = batches.beginBatch()
    for index in 2..<events.count {
      // A wake, and the end of a connection without a waiting message, are handled in any case.
      let isPostponed = batches.postpone(index)
      #expect(isPostponed == (index < 7))
    }
    batches.movePostponedToBacklog()
    #expect(batches.waitingCount == 5)
    let handled = batches.takeAll().map { name($0).connection }
    #expect(handled == [1, 1, -1, 2])
    batches.takeWaiting(upTo: 100, cost: 100)
    #expect(batches.atHand.map { name($0).id } == [2, 3, 4, 5, .max])
  }

  @Test
  func
    `the messages of one principal that wait are bounded, and the connection with the most is dropped`()
  {
    var batches = EventBatches()
    for id in 0..<2 { batches.append(message(1, id)) }
    _ = batches.beginBatch()
    let isPostponed = batches.postpone(1)
    batches.movePostponedToBacklog()
    // Another connection of the same principal, and one of another.
    for connection in [4, 2] {
      let flooder = batches.append(message(connection, 0))
      #expect(flooder == nil)
    }
    var (count, flooder) = (2, ConnectionID?.none)
    while flooder == nil {
      flooder = batches.append(message(1, count))
      count += 1
    }
    #expect(isPostponed && flooder == ConnectionID(1))
    #expect(count == EventBatches.maximumWeightPerPrincipal / (2 * EventBatches.minimumBytes) + 1)
    // What the others sent still waits.
    #expect(batches.waitingCount == 2)
  }

  /// Batches with one message of each of two principals at hand, the second postponed.
  private func crowded() -> EventBatches {
    var batches = EventBatches()
    for id in 0..<2 { batches.append(message(9, id)) }
    _ = batches.beginBatch()
    _ = batches.postpone(1)
    batches.movePostponedToBacklog()
    return batches
  }

  @Test func `dropped messages leave the end of their connection`() {
    var batches = crowded()
    let limit = EventBatches.maximumWeightPerPrincipal / (2 * EventBatches.minimumBytes)
    for id in 0..<limit / 4 * 3 { batches.append(message(1, id)) }
    batches.append(.closed(ConnectionID(1)))
    // Of the same principal.
    var flooder: ConnectionID?
    for id in 0..<limit where flooder == nil { flooder = batches.append(message(4, id)) }
    #expect(flooder == ConnectionID(1))
    batches.takeWaiting(upTo: .max, cost: .max)
    #expect(batches.atHand.contains { name($0) == (1, .max) })
  }

  @Test func `the end of a connection drops nothing of another`() {
    var batches = crowded()
    let limit = EventBatches.maximumWeightPerPrincipal / (2 * EventBatches.minimumBytes)
    var flooder: ConnectionID?
    for id in 0..<limit - 1 {
      let most = batches.append(message(1, id))
      flooder = flooder ?? most
    }
    // Of the same principal.
    let most = batches.append(message(4, 0))
    batches.append(.closed(ConnectionID(4)))
    #expect(flooder == nil && most == nil && batches.waitingCount == limit + 2)
  }

  @Test func `many small batches fill the queue, too`() {
    var batches = EventBatches()
    for number in 1...EventBatches.maximumBatchesInFlight {
      #expect(!batches.areFull)
      batches.append(event(number))
      _ = batches.beginBatch()
    }
    #expect(batches.areFull)
  }
}
