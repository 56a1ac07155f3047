import NavigationCore
import Testing

@testable import Journal

/// The ages of rows, against a list of when each was first noted.
@Suite struct AgesTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `no row is younger than its age, nor older than that by more than an eighth`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ages = RowAges()
    var boot: UInt64 = 0
    var rows = 0
    // For each row the counted time at the first note after it was stored.
    var noted: [UInt64] = []
    var kept = (ages, noted)
    for _ in 0..<300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        // Killed, and started again in another boot: what was not written is lost.
        (ages, noted) = kept
        ages = RowAges(countedMilliseconds: ages.countedMilliseconds, samples: ages.samples)
        boot = UInt64.random(in: 0...1_000_000, using: &random)
        ages.advance(to: boot, newestSequence: UInt64(rows))
        noted += Array(repeating: ages.countedMilliseconds, count: rows - noted.count)
      case 1: kept = (ages, noted)
      case 2...5: rows += Int.random(in: 1...9, using: &random)
      default:
        let most: UInt64 = 1 << UInt64.random(in: 0...34, using: &random)
        boot += UInt64.random(in: 0...most, using: &random)
        ages.advance(to: boot, newestSequence: UInt64(rows))
        noted += Array(repeating: ages.countedMilliseconds, count: rows - noted.count)
      }
      for age in [1, 1_000, 600_000, 1 << 31, 1 << 35] as [UInt64] {
        let newest = Int(ages.newestSequence(ofAge: age))
        #expect(newest <= noted.count)
        #expect(
          noted.prefix(newest).allSatisfy { ages.countedMilliseconds - $0 >= age }, "seed \(seed)")
        let old =
          noted.lastIndex { (ages.countedMilliseconds - $0) / 9 * 8 >= age }.map { $0 + 1 } ?? 0
        #expect(newest >= old, "seed \(seed) age \(age)")
      }
    }
    #expect(ages.samples.count < 200)
  }

  @Test func `a year of notes at every hour leaves few marks`() {
    var ages = RowAges()
    for note in 1...8_760 as ClosedRange<UInt64> {
      ages.advance(to: note * 3_600_000, newestSequence: note)
    }
    #expect(ages.countedMilliseconds == 8_759 * 3_600_000)
    #expect(ages.samples.count < 150)
    // Rows of 30 days and an eighth.
    #expect(ages.newestSequence(ofAge: 30 * 86_400_000) > 8_760 - 34 * 24)
  }

  @Test func `time counts only between two notes, and a boot clock that goes back counts nothing`()
  {
    var ages = RowAges()
    for now in [5_000_000, 5_000_000, 4_000_000, 0] as [UInt64] {
      ages.advance(to: now, newestSequence: 3)
    }
    #expect(ages.countedMilliseconds == 0 && ages.newestSequence(ofAge: 1) == 0)
    ages.advance(to: 100, newestSequence: 3)
    #expect(
      ages.countedMilliseconds == 100 && ages.newestSequence(ofAge: 100) == 3
        && ages.newestSequence(ofAge: 101) == 0)
    ages.removeSamples(above: 2)
    #expect(ages.newestSequence(ofAge: 0) == 0)
  }
}
