@testable import NavigationCore
import Testing

@Suite struct PlaceIndexTests {
  /// An index beside a dictionary that is given the same changes.
  private struct Pair {
    var index = PlaceIndex()
    var twin: [String: Int] = [:]
    /// What stands at each place.
    var names: [String?] = []

    func find(_ name: String) -> Int? {
      index.find(NameHash(name)) { names[$0] == name }
    }

    mutating func insert(_ name: String) {
      index.insert(names.count, NameHash(name))
      twin[name] = names.count
      names.append(name)
    }

    mutating func move(_ name: String, from place: Int) {
      index.replace(place, NameHash(name), by: names.count)
      twin[name] = names.count
      names[place] = nil
      names.append(name)
    }

    mutating func remove(_ name: String, from place: Int) {
      index.remove(place, NameHash(name))
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
    let hash = NameHash("a")
    for place in 0..<3 { pair.index.insert(place, hash) }
    for (place, name) in ["a", "b", "c"].enumerated() {
      #expect(pair.index.find(hash) { pair.names[$0] == name } == place)
    }
    pair.index.remove(0, hash)
    #expect(pair.index.find(hash) { pair.names[$0] == "a" } == nil)
    #expect(pair.index.find(hash) { pair.names[$0] == "c" } == 2)
  }

  @Test func `names of every length have hashes of their own`() {
    var hashes: Set<NameHash> = []
    for count in 0...64 {
      let name = String(repeating: "x", count: count)
      #expect(NameHash(name) == NameHash(String(name.reversed())))
      hashes.insert(NameHash(name))
      for place in 0..<count {
        var other = Array(name.utf8)
        other[place] = 0x79
        hashes.insert(NameHash(String(decoding: other, as: UTF8.self)))
      }
    }
    // 2,145 names; of random numbers with 32 bits a pair is equal in one of 1,900 runs.
    #expect(hashes.count >= 2144)
  }
}
