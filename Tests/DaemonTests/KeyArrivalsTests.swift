import Testing

@testable import NavigationDaemon

@Suite struct KeyArrivalsTests {
  @Test func `all connections of a key may come at once, and anew within a minute`() {
    var arrivals = KeyArrivals()
    func come(_ count: Int, at now: UInt64) -> Int {
      var admitted = 0
      for _ in 0..<count where arrivals.admits("a", at: now, connections: 60) { admitted += 1 }
      return admitted
    }
    #expect(come(100, at: 5000) == 60)
    #expect(come(100, at: 5999) == 0)
    #expect(come(100, at: 6000) == 1)
    #expect(come(100, at: 16_000) == 10)
    #expect(come(100, at: 16_000 + KeyArrivals.period) == 60)
    #expect(come(100, at: 10_000_000) == 60, "no more are saved than may be there")
  }

  @Test func `who asks all the time gets no more than the rate, whatever the steps`() {
    for step: UInt64 in [1, 7, 100, 333, 1001] {
      var arrivals = KeyArrivals()
      var admitted = 0
      for now in stride(from: 0 as UInt64, to: 600_000, by: Int(step))
      where arrivals.admits("a", at: now, connections: 7) { admitted += 1 }
      #expect((70...77).contains(admitted), "\(admitted) in steps of \(step) ms")
    }
  }

  @Test func `keys do not take each other's room, and one that is gone is forgotten`() {
    var arrivals = KeyArrivals()
    func isLetIn(_ key: String) -> Bool { arrivals.admits(key, at: 0, connections: 1) }
    #expect(isLetIn("a"))
    #expect(!isLetIn("a"))
    #expect(isLetIn("b"))
    arrivals.keep { $0 == "b" }
    #expect(isLetIn("a"))
    #expect(!isLetIn("b"))
  }
}
