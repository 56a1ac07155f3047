@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct HashIndexTests {
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
    var index = HashIndex()
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
}
