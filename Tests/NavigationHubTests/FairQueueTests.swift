@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct FairQueueTests {
  /// Elements are numbers; each owner's ascend.
  @Test(arguments: 0..<30 as Range<UInt64>)
  func `elements leave in their owner's order, each once, and their sizes are added up`(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var queue = FairQueue<Int, Int>()
    var waiting: [Int: [Int]] = [:]
    var taken: [(owner: Int, element: Int)] = []
    for number in 0..<3000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<4:
        let owner = Int.random(in: 0..<4, using: &random)
        queue.append(number, of: owner, size: number % 7)
        waiting[owner, default: []].append(number)
      case 4..<8:
        guard let next = queue.next() else {
          #expect(waiting.values.allSatisfy { $0.isEmpty })
          continue
        }
        let first = waiting[next.owner]?.removeFirst()
        #expect(first == next.element)
        taken.append(next)
      case 8:
        // Some of those that left last were handled, and the others go back.
        let handled = Int.random(in: 0...taken.count, using: &random)
        for (owner, _) in taken.prefix(handled) {
          queue.charge(owner, Int.random(in: 0..<100, using: &random))
        }
        for (owner, left) in Dictionary(grouping: taken.dropFirst(handled), by: \.owner) {
          queue.putBack(left.map { ($0.element, $0.element % 7) }, of: owner)
          waiting[owner] = left.map(\.element) + waiting[owner, default: []]
        }
        taken = []
      default:
        guard Int.random(in: 0..<20, using: &random) == 0 else { continue }
        queue.remove { $0.isMultiple(of: 5) }
        waiting = waiting.mapValues { $0.filter { !$0.isMultiple(of: 5) } }
      }
      #expect(queue.count == waiting.values.reduce(0) { $0 + $1.count })
      for (owner, elements) in waiting {
        #expect(queue.size(of: owner) == elements.reduce(0) { $0 + $1 % 7 })
        guard number.isMultiple(of: 8), let first = elements.first else { continue }
        #expect(queue.owner { $0 == first } == owner)
      }
    }
  }

  /// Owner 0 has cheap elements, owner 1 dear ones, owner 2 both.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `owners that wait are charged alike, but for one element's cost`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = FairQueue<Int, Int>()
    for owner in 0..<3 { for number in 0..<4000 { queue.append(number, of: owner) } }
    var charged = [0, 0, 0]
    for _ in 0..<2000 {
      guard let (owner, _) = queue.next() else { break }
      let cost =
        switch owner {
        case 0: Int.random(in: 1..<10, using: &random)
        case 1: Int.random(in: 500...1000, using: &random)
        default: Int.random(in: 1...1000, using: &random)
        }
      queue.charge(owner, cost)
      charged[owner] += cost
      let (least, most) = (charged.min() ?? 0, charged.max() ?? 0)
      #expect(most - least <= 1000, "\(charged)")
    }
    #expect(charged.allSatisfy { $0 > 5_000 })
  }

  @Test func `an owner that begins to wait is next behind one element of each other owner`() {
    var queue = FairQueue<String, Int>()
    for round in 0..<50 {
      for owner in ["a", "b", "z"] { for number in 0..<9 { queue.append(number, of: owner) } }
      for _ in 0..<20 { if let (owner, _) = queue.next() { queue.charge(owner, 1000) } }
      queue.append(round, of: "late")
      var before: [String] = []
      while let (owner, _) = queue.next(), owner != "late" {
        before.append(owner)
        queue.charge(owner, 1000)
      }
      #expect(Set(before).count == before.count, "\(before)")
      queue.charge("late", 1)
    }
  }

  @Test func `of events that leave before their cost is known, no owner gets two in a row`() {
    var queue = FairQueue<String, Int>()
    for number in 0..<9 { queue.append(number, of: "flood") }
    for number in 0..<3 { queue.append(number, of: "other") }
    let owners = (0..<6).compactMap { _ in queue.next()?.owner }
    #expect(owners == ["flood", "other", "flood", "other", "flood", "other"])
  }
}
