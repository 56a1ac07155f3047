import NavigationCore
import Testing

@testable import NavigationDaemon

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
    var (held, takenBack): ([ReceivedEvent], Set<Int>) = ([], [])
    for number in 0..<2000 {
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<10:
        let bytes = bytesOf(number)
        batches.noteReceived(bytes)
        batches.append(event(number))
        atHand.append(number)
        bytesAtHand += bytes
      case 10:
        // A message that leads to no event.
        batches.noteReceived(2 << 20)
        bytesAtHand += 2 << 20
      case 11..<16:
        #expect(numbers(batches.begin()) == atHand)
        if !atHand.isEmpty {
          inFlight.append(atHand)
          bytesInFlight.append(bytesAtHand)
        }
        (atHand, bytesAtHand) = ([], 0)
      case 16..<19:
        guard !inFlight.isEmpty else { continue }
        batches.completeOldest()
        inFlight.removeFirst()
        bytesInFlight.removeFirst()
      case 19 where Int.random(in: 0..<10, using: &random) == 0:
        batches.takeBack()
        takenBack.formUnion(inFlight.joined())
        atHand = inFlight.flatMap { $0 } + atHand
        bytesAtHand += bytesInFlight.reduce(0, +)
        (inFlight, bytesInFlight) = ([], [])
      case 20, 21:
        let (kept, waiting) = hold(&batches, atHand, &random)
        atHand = kept
        held += waiting
      case 22:
        batches.insertFirst(held)
        atHand = numbers(held.map(\.event)) + atHand
        for (received, number) in zip(held, atHand) {
          // `takeBack` drops the sizes of its events; the loop holds none of them.
          let bytes = takenBack.contains(number) ? 0 : bytesOf(number)
          #expect(received.byteCount == max(bytes, EventBatches.leastBytes))
        }
        bytesAtHand += held.reduce(0) { $0 + $1.byteCount }
        held = []
      default:
        guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
        #expect(numbers(batches.takeAll()) == inFlight.flatMap { $0 })
        (inFlight, bytesInFlight) = ([], [])
      }
      #expect(numbers(batches.atHand) == atHand)
      #expect(batches.areOps == atHand.allSatisfy(isOp))
      #expect(batches.hasGet == atHand.contains(where: isGet))
      #expect(batches.areDurable == inFlight.isEmpty)
      #expect(batches.isNewestAlone == (inFlight.count <= 1))
      #expect(batches.mayReceive == (bytesAtHand < EventBatches.bytesPerTurn))
      let isFull =
        inFlight.count >= EventBatches.batchesInFlight
        || bytesInFlight.reduce(0, +) > EventBatches.bytesInFlight
      #expect(batches.areFull == isFull)
    }
  }

  /// Takes the events at hand, and puts back those that wait for no nav.
  private func hold(
    _ batches: inout EventBatches, _ atHand: [Int], _ random: inout SeededGenerator
  ) -> (kept: [Int], waiting: [ReceivedEvent]) {
    let first = Int.random(in: 0...atHand.count, using: &random)
    let before = numbers(Array(batches.atHand.prefix(first)))
    let taken = batches.takeAtHand(from: first)
    #expect(numbers(batches.atHand) == before)
    #expect(before + numbers(taken.map(\.event)) == atHand)
    #expect(batches.areOps == before.allSatisfy(isOp))
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
    return (before + numbers(kept), waiting)
  }

  @Test func `many small batches fill the queue, too`() {
    var batches = EventBatches()
    for number in 1...EventBatches.batchesInFlight {
      #expect(!batches.areFull)
      batches.append(event(number))
      _ = batches.begin()
    }
    #expect(batches.areFull)
  }
}
