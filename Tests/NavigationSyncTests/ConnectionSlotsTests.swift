import Testing

@testable import NavigationCore
@testable import NavigationReplica

@Suite struct ConnectionSlotsTests {
  @Test(arguments: [1, 7, 64, 0x9E37_79B9] as [UInt64])
  func `it answers as a dictionary does`(stride: UInt64) {
    var slots = ConnectionSlots()
    var model: [UInt64: Int] = [:]
    var random = SeededGenerator(seed: stride)
    for step in 0..<4000 {
      // Few enough for many hits, and close enough to meet.
      let key = (random.next() % 300) &* stride &+ 0xFFFF_FF00
      if random.next() % 3 == 0 {
        slots[ConnectionID(key)] = nil
        model[key] = nil
      } else {
        slots[ConnectionID(key)] = step
        model[key] = step
      }
      #expect(slots.count == model.count)
      let other = (random.next() % 300) &* stride &+ 0xFFFF_FF00
      #expect(slots[ConnectionID(other)] == model[other])
    }
    for (key, slot) in model { #expect(slots[ConnectionID(key)] == slot) }
  }

  @Test func `keys that meet in one place are all found, also when one goes`() {
    var slots = ConnectionSlots()
    // The high half of the product is what counts: keys of the same 32 bits below meet.
    let keys = (0..<100).map { UInt64($0) << 60 | 5 } + (0..<100).map { UInt64($0) << 40 }
    for (slot, key) in keys.enumerated() { slots[ConnectionID(key)] = slot }
    for key in Set(keys) where key % 3 == 0 { slots[ConnectionID(key)] = nil }
    for key in Set(keys) {
      let last = keys.lastIndex(of: key)
      #expect(slots[ConnectionID(key)] == (key % 3 == 0 ? nil : last))
    }
  }
}
