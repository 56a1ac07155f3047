@testable import NavigationCore
import Testing

@Suite struct PlaceIndexTests {
  /// The longest run of taken cells, in a table of the size that the index has.
  private func longestRun(_ numbers: [UInt64]) -> Int {
    var size = 4
    while size < numbers.count * 2 { size *= 2 }
    var isTaken = Array(repeating: false, count: size)
    for number in numbers {
      var cell = Int(truncatingIfNeeded: KeyHash(number).bits) & (size - 1)
      while isTaken[cell] { cell = (cell + 1) & (size - 1) }
      isTaken[cell] = true
    }
    var (run, longest) = (0, 0)
    for isTaken in isTaken {
      run = isTaken ? run + 1 : 0
      longest = max(longest, run)
    }
    return longest
  }

  /// A removal reads the run of cells behind the entry, and a search the run before it.
  @Test func `numbers in sequence form no long run of cells`() {
    #expect(longestRun(Array(1...60_000)) < 200)
    #expect(longestRun((1...60_000).map { $0 * 4096 }) < 200)
    // Long-lived navs, and new ones whose numbers are a table's length further.
    #expect(longestRun(Array(1...30_000) + Array(131_073...161_072)) < 200)
  }

  @Test func `no two numbers have the same hash`() {
    let numbers = (0..<1000).map { UInt64($0) } + (0..<64).map { 1 << $0 }
    let hashes = Set((numbers + numbers.map { ~$0 }).map { KeyHash($0) })
    #expect(hashes.count == Set(numbers + numbers.map { ~$0 }).count)
  }

  /// An index beside a dictionary that is given the same changes.
  private struct Pair {
    var index = PlaceIndex()
    var twin: [String: Int] = [:]
    /// What stands at each place.
    var names: [String?] = []

    func find(_ name: String) -> Int? {
      index.find(KeyHash(name)) { names[$0] == name }
    }

    mutating func insert(_ name: String) {
      index.insert(names.count, KeyHash(name))
      twin[name] = names.count
      names.append(name)
    }

    mutating func move(_ name: String, from place: Int) {
      index.replace(place, KeyHash(name), by: names.count)
      twin[name] = names.count
      names[place] = nil
      names.append(name)
    }

    mutating func remove(_ name: String, from place: Int) {
      index.remove(place, KeyHash(name))
      twin[name] = nil
      names[place] = nil
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `it finds what a dictionary finds, after any changes`(seed: UInt64) {
    var random = Seeded(seed: seed)
    var pair = Pair()
    let choices = Int.random(in: 1...200, using: &random)
    for _ in 0..<600 {
      let name = "n\(Int.random(in: 0..<choices, using: &random))"
      let place = pair.find(name)
      #expect(place == pair.twin[name])
      if let place {
        if Bool.random(using: &random) {
          pair.remove(name, from: place)
        } else {
          pair.move(name, from: place)
        }
      } else {
        pair.insert(name)
      }
      #expect(pair.index.count == pair.twin.count)
    }
    for (name, place) in pair.twin { #expect(pair.find(name) == place) }
  }

  @Test func `names of one hash are told apart`() {
    var pair = Pair()
    pair.names = ["a", "b", "c"]
    let hash = KeyHash("a")
    for place in 0..<3 { pair.index.insert(place, hash) }
    for (place, name) in ["a", "b", "c"].enumerated() {
      #expect(pair.index.find(hash) { pair.names[$0] == name } == place)
    }
    pair.index.remove(0, hash)
    #expect(pair.index.find(hash) { pair.names[$0] == "a" } == nil)
    #expect(pair.index.find(hash) { pair.names[$0] == "c" } == 2)
  }

  @Test func `names of every length have hashes of their own`() {
    var hashes: Set<KeyHash> = []
    for count in 0...64 {
      let name = String(repeating: "x", count: count)
      #expect(KeyHash(name) == KeyHash(String(name.reversed())))
      hashes.insert(KeyHash(name))
      for place in 0..<count {
        var other = Array(name.utf8)
        other[place] = 0x79
        hashes.insert(KeyHash(String(decoding: other, as: UTF8.self)))
      }
    }
    // 2,145 names; of random numbers with 32 bits a pair is equal in one of 1,900 runs.
    #expect(hashes.count >= 2144)
  }

  /// An index of numbers, as those who own the numbers use it.
  private struct Numbers {
    var index = PlaceIndex()

    subscript(number: UInt64) -> Int? {
      get { index.find(number) }
      set {
        switch (self[number], newValue) {
        case (nil, nil): return
        case (let place?, nil): index.remove(place, KeyHash(number))
        case (nil, let place?): index.insert(place, KeyHash(number))
        case (let place?, let new?): index.replace(place, KeyHash(number), by: new)
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
