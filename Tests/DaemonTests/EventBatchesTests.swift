import NavigationProtocol
import NavigationHub
import Testing

@testable import NavigationDaemon

@Suite struct EventBatchesTests {
  private func event(_ number: Int) -> HubEvent { .closed(ConnectionID(UInt64(number))) }

  private func numbers(_ events: [HubEvent]) -> [Int] {
    events.map { if case .closed(let id) = $0 { Int(id.number) } else { -1 } }
  }

  /// Against lists of numbers.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `batches begin, complete and are taken back in their order`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var batches = EventBatches()
    var (atHand, inFlight): ([Int], [[Int]]) = ([], [])
    var (bytesAtHand, bytesInFlight): (Int, [Int]) = (0, [])
    for number in 0..<2000 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<10:
        batches.append(event(number))
        atHand.append(number)
        let bytes = Int.random(in: 0..<300_000, using: &random)
        batches.noteReceived(bytes)
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
      default:
        guard Int.random(in: 0..<10, using: &random) == 0 else { continue }
        #expect(numbers(batches.takeAll()) == inFlight.flatMap { $0 })
        (inFlight, bytesInFlight) = ([], [])
      }
      #expect(numbers(batches.atHand) == atHand)
      #expect(batches.areDurable == inFlight.isEmpty)
      #expect(batches.mayReceive == (bytesAtHand < EventBatches.bytesPerTurn))
      let isFull =
        inFlight.count >= EventBatches.batchesInFlight
        || bytesInFlight.reduce(0, +) > EventBatches.bytesInFlight
      #expect(batches.areFull == isFull)
    }
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
