import Testing

@testable import NavigationCore
@testable import NavigationHub

@Suite struct HistogramTests {
  @Test(arguments: [
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0,1]}"#, true), (#"{"bounds":[],"counts":[4]}"#, true),
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0]}"#, false),
    (#"{"sum":9,"bounds":[1,10],"counts":[2,0,1,0]}"#, false),
    (#"{"sum":9,"bounds":[10,1],"counts":[2,0,1]}"#, false),
    (#"{"sum":9,"bounds":[1,1],"counts":[2,0,1]}"#, false), ("{}", false), ("[]", false),
    (#"{"sum":9,"bounds":{},"counts":[1,1]}"#, false), ("null", false),
  ])
  func `a histogram has ascending bounds and one count more, or there is none`(
    json: String, isRight: Bool
  ) throws {
    #expect((Histogram(try JSONValue(Array(json.utf8))) != nil) == isRight)
    #expect(Histogram(nil) == nil)
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func `what came since is what was added, and nothing after a restart`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let bounds: [UInt64] = [1, 2, 5, 10]
    func histogram(_ values: [UInt64]) -> Histogram {
      // A value counts for the first bound that is not below it.
      var counts = [UInt64](repeating: 0, count: bounds.count + 1)
      for value in values { counts[bounds.firstIndex { $0 >= value } ?? bounds.count] += 1 }
      return Histogram(bounds: bounds, counts: counts, sum: values.reduce(0, +))
    }
    for _ in 0..<100 {
      let early = (0..<random.next() % 6).map { _ in random.next() % 14 }
      let late = (0..<random.next() % 6).map { _ in random.next() % 14 }
      let (before, after) = (histogram(early), histogram(early + late))
      #expect(after.increase(since: before) == histogram(late))
      #expect(after.count == UInt64(early.count + late.count))
      let isLess = zip(before.counts, after.counts).contains { $0 < $1 }
      #expect(before.increase(since: after) == (isLess ? nil : histogram([])))
      // One value less in the same bin: only the sum tells of the restart.
      #expect(histogram([3]).increase(since: histogram([5])) == nil)
      let other = Histogram(bounds: [1], counts: [0, 0], sum: 0)
      #expect(after.increase(since: other) == nil)
    }
  }
}
