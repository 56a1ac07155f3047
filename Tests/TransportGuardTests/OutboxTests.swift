import Testing
import ZeroMQ

@testable import NavigationCore
@testable import NavigationHub
@testable import TransportGuard

@Suite struct OutboxTests {
  private func message(_ bytes: Int) -> Outgoing {
    Outgoing(
      connection: ConnectionID(1), verb: .ok, body: [UInt8](repeating: 7, count: bytes))
  }

  /// Against a list of the sizes that wait and a sum of those that were handed over.
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `messages leave in their order, and the debt is all that was not read`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var outbox = Outbox()
    var (waiting, handed): ([Int], Int) = ([], 0)
    for _ in 0..<2000 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<9:
        let bytes = Int.random(in: 0..<1000, using: &random)
        outbox.append(message(bytes))
        waiting.append(bytes + Message.overheadOctets)
      case 9..<17:
        outbox.handOverFirst()
        if !waiting.isEmpty { handed += waiting.removeFirst() }
      case 17:
        outbox.noteHandedOver(5)
        handed += 5 + Message.overheadOctets
      case 18:
        outbox.noteRead()
        handed = 0
      default:
        guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
        outbox.discard()
        waiting = []
      }
      #expect(outbox.first.map { $0.body.count + Message.overheadOctets } == waiting.first)
      #expect(outbox.isEmpty == waiting.isEmpty)
      let bytes = waiting.reduce(0, +)
      #expect(outbox.waitingBytes == bytes && outbox.handedBytes == handed)
      #expect(outbox.unreadBytes == bytes + handed)
    }
  }

  @Test func `the limits are those of what waits and of what was handed over`() {
    var outbox = Outbox()
    outbox.noteHandedOver(Outbox.maximumHandedBytes - Message.overheadOctets)
    #expect(!outbox.mayBeBehind)
    outbox.noteHandedOver(1)
    #expect(outbox.mayBeBehind && !outbox.isOverfull)
    outbox.append(message(Outbox.maximumWaitingBytes - Message.overheadOctets))
    #expect(!outbox.isOverfull)
    outbox.append(message(1))
    #expect(outbox.isOverfull)
  }
}

@Suite struct UnsentBudgetTests {
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `those that owe the most go, and no more of them than needed`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let limit = Int.random(in: 0..<5000, using: &random)
    var budget = UnsentBudget(limit: limit)
    let debts = (0..<Int.random(in: 0..<9, using: &random)).map {
      UnsentBudget.Debt(
        id: ConnectionID(UInt64($0)), bytes: Int.random(in: 1..<2000, using: &random))
    }
    let excess = budget.debtsToDisconnect(debts, uncounted: 0, held: 0, at: 0)
    let left = debts.filter { debt in !excess.contains { $0.debt == debt } }
    let total = left.reduce(0) { $0 + $1.bytes }
    #expect(total <= limit)
    if let last = excess.last {
      #expect(total + last.debt.bytes == last.total && last.total > limit)
      #expect(left.allSatisfy { $0.bytes <= last.debt.bytes })
    }
    #expect(excess.first?.total == (excess.isEmpty ? nil : debts.reduce(0) { $0 + $1.bytes }))
  }

  @Test func `what libzmq holds and what waits is compared with the limit`() {
    var budget = UnsentBudget(limit: 16_000)
    #expect(!budget.mustAddUp(held: 16_000) && budget.mustAddUp(held: 16_001))
    #expect(!budget.isExceeded(held: 17_000) && budget.isExceeded(held: 17_001))
    budget.noteUncounted(1000)
    #expect(!budget.mustAddUp(held: 15_000) && budget.mustAddUp(held: 15_001))
    #expect(!budget.isExceeded(held: 16_000) && budget.isExceeded(held: 16_001))
    // More was noted than still waits.
    #expect(budget.debtsToDisconnect([], uncounted: 400, held: 0, at: 0).isEmpty)
    #expect(!budget.mustAddUp(held: 15_600) && budget.mustAddUp(held: 15_601))
  }

  @Test func `if too little is freed for 100 ms, all go that read nothing`() {
    var budget = UnsentBudget(limit: 16_000)
    let debts = [UnsentBudget.Debt(id: ConnectionID(1), bytes: 1)]
    func goes(_ held: Int, at now: UInt64) -> Bool {
      !budget.debtsToDisconnect(debts, uncounted: 0, held: held, at: now).isEmpty
    }
    #expect(!goes(20_000, at: 1000) && !goes(20_000, at: 1100))
    #expect(!goes(17_000, at: 1101) && !goes(20_000, at: 1200) && !goes(20_000, at: 1300))
    #expect(goes(20_000, at: 1301))
    // What was within the limit between counts anew, though nothing was reckoned then.
    budget.noteWithinLimit()
    #expect(!goes(20_000, at: 5000) && goes(20_000, at: 5101))
  }
}
