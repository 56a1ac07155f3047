@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct NumberIndexTests {
  /// A `NumberIndex` with a subscript like that of its twin, a dictionary.
  private struct Numbers {
    var index = NumberIndex()

    subscript(number: UInt64) -> Int? {
      get { index.find(number) }
      set {
        switch (self[number], newValue) {
        case (nil, nil): return
        case (_?, nil): index.remove(number)
        case (nil, let place?): index.insert(place, number)
        case (_?, let new?): index.replace(number, by: new)
        }
      }
    }
  }

  /// Numbers as a journal gives them, with gaps, and such as none will ever give.
  private static func number(_ random: inout Seeded) -> UInt64 {
    switch random.next() % 8 {
    case 0...3: random.next() % 5000
    case 4: 1024 * (random.next() % 4) + random.next() % 3
    case 5: 1 << 20 - 2 + random.next() % 4
    case 6: 1 << 32 - 2 + random.next() % 4
    default: UInt64.max - random.next() % 3
    }
  }

  @Test(arguments: UInt64(1)...6)
  func `it holds the numbers that a dictionary would`(seed: UInt64) {
    var random = Seeded(seed: seed)
    var index = Numbers()
    var expected: [UInt64: Int] = [:]
    for step in 0..<20_000 {
      let number = Self.number(&random)
      // Phases of growing and of shrinking.
      let isRemoval = random.next() % 8 < (step / 4000 % 2 == 0 ? 2 : 7)
      let place = isRemoval ? nil : Int(random.next() % (1 << 31 - 1))
      index[number] = place
      expected[number] = place
      #expect(index[number] == place, "seed \(seed): \(number)")
      #expect(index.index.count == expected.count, "seed \(seed): \(number)")
      let other = Self.number(&random)
      #expect(index[other] == expected[other], "seed \(seed): \(other)")
    }
    #expect(expected.count > 10)
    for (number, place) in expected { #expect(index[number] == place, "seed \(seed): \(number)") }
    for number in expected.keys { index[number] = nil }
    #expect(index.index.count == 0)
    for number in expected.keys { #expect(index[number] == nil, "seed \(seed): \(number)") }
  }

  @Test func `numbers that were removed leave nothing to others`() {
    var index = Numbers()
    for number in UInt64(0)..<1024 { index[number] = Int(number) }
    for number in UInt64(0)..<1024 { index[number] = nil }
    #expect(index.index.count == 0)
    index[5_000_000] = 7
    #expect(index.index.count == 1)
    let page: Range<UInt64> = 5_000_000 / 1024 * 1024..<5_000_000
    #expect(page.allSatisfy { index[$0] == nil })
    #expect((UInt64(0)..<1024).allSatisfy { index[$0] == nil })
    #expect(index[5_000_000] == 7)
  }

  @Test(arguments: [0, 1023, 1024, 1 << 32 - 1, 1 << 32, .max] as [UInt64])
  func `a number is there once, however often it is given or taken`(number: UInt64) {
    var index = Numbers()
    #expect(index[number] == nil)
    index[number] = nil
    #expect(index.index.count == 0)
    index[number] = 0
    index[number] = 1 << 31 - 2
    #expect(index.index.count == 1)
    #expect(index[number] == 1 << 31 - 2)
    #expect(index[number ^ 1] == nil)
    index[number] = nil
    index[number] = nil
    #expect(index.index.count == 0)
    #expect(index[number] == nil)
  }

  @Test(arguments: [1, 7, 64, 0x9E37_79B9] as [UInt64])
  func `it answers as a dictionary does, whatever the distance of the numbers`(stride: UInt64) {
    var slots = Numbers()
    var model: [UInt64: Int] = [:]
    var random = Seeded(seed: stride)
    for step in 0..<4000 {
      // Few enough for many hits, and close enough to meet.
      let key = (random.next() % 300) &* stride &+ 0xFFFF_FF00
      let slot = random.next() % 3 == 0 ? nil : step
      slots[key] = slot
      model[key] = slot
      #expect(slots.index.count == model.count)
      let other = (random.next() % 300) &* stride &+ 0xFFFF_FF00
      #expect(slots[other] == model[other])
    }
    for (key, slot) in model { #expect(slots[key] == slot) }
  }

  @Test func `numbers that meet in one cell are all found, also when one goes`() {
    var slots = Numbers()
    // The lowest bits name the cell.
    let keys = (0..<100).map { UInt64($0) << 60 | 5 } + (0..<100).map { UInt64($0) << 40 }
    for (slot, key) in keys.enumerated() { slots[key] = slot }
    for key in Set(keys) where key % 3 == 0 { slots[key] = nil }
    for key in Set(keys) {
      let last = keys.lastIndex(of: key)
      #expect(slots[key] == (key % 3 == 0 ? nil : last))
    }
  }
}
