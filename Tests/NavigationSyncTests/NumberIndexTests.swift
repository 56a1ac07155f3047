import Testing

@testable import NavigationCore
@testable import NavigationReplica

@Suite struct NumberIndexTests {
  /// Numbers as a journal gives them, with gaps, and such as none will ever give.
  private static func number(_ random: inout SeededGenerator) -> UInt64 {
    switch random.next() % 8 {
    case 0...3: random.next() % 5000
    case 4: 1024 * (random.next() % 4) + random.next() % 3
    case 5: 1 << 20 - 2 + random.next() % 4
    case 6: 1 << 32 - 2 + random.next() % 4
    default: UInt64.max - random.next() % 3
    }
  }

  @Test(arguments: UInt64(1)...6)
  func `it holds what a dictionary would`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var index = NumberIndex()
    var expected: [UInt64: Int] = [:]
    for step in 0..<20_000 {
      let number = Self.number(&random)
      // Phases of growing and of shrinking, so that pages become empty and are used again.
      let isRemoval = random.next() % 8 < (step / 4000 % 2 == 0 ? 2 : 7)
      let place = isRemoval ? nil : Int(random.next() % (1 << 31 - 1))
      index[number] = place
      expected[number] = place
      #expect(index[number] == place, "seed \(seed): \(number)")
      #expect(index.count == expected.count, "seed \(seed): \(number)")
      let other = Self.number(&random)
      #expect(index[other] == expected[other], "seed \(seed): \(other)")
    }
    #expect(expected.count > 10)
    for (number, place) in expected { #expect(index[number] == place, "seed \(seed): \(number)") }
    for number in expected.keys { index[number] = nil }
    #expect(index.isEmpty)
    for number in expected.keys { #expect(index[number] == nil, "seed \(seed): \(number)") }
  }

  @Test func `a page that became empty is used for other numbers, without what was on it`() {
    var index = NumberIndex()
    for number in UInt64(0)..<1024 { index[number] = Int(number) }
    for number in UInt64(0)..<1024 { index[number] = nil }
    #expect(index.isEmpty)
    index[5_000_000] = 7
    #expect(index.count == 1)
    let page: Range<UInt64> = 5_000_000 / 1024 * 1024..<5_000_000
    #expect(page.allSatisfy { index[$0] == nil })
    #expect((UInt64(0)..<1024).allSatisfy { index[$0] == nil })
    #expect(index[5_000_000] == 7)
  }

  @Test(arguments: [0, 1023, 1024, 1 << 32 - 1, 1 << 32, .max] as [UInt64])
  func `a number is there once, however often it is given or taken`(number: UInt64) {
    var index = NumberIndex()
    #expect(index[number] == nil)
    index[number] = nil
    #expect(index.isEmpty)
    index[number] = 0
    index[number] = 1 << 31 - 2
    #expect(index.count == 1)
    #expect(index[number] == 1 << 31 - 2)
    #expect(index[number ^ 1] == nil)
    index[number] = nil
    index[number] = nil
    #expect(index.isEmpty)
    #expect(index[number] == nil)
  }
}
