import Simulation
import SimulatedDisk
import Testing

/// The hub, its clients and the journal that ships, on a disk that fails and loses power.
@Suite struct StorageTests {
  static let chunks = stride(from: UInt64(1), to: 101, by: 25).map { $0..<$0 + 25 }

  @Test(arguments: chunks) func `no failure of the disk breaks a promise`(seeds: Range<UInt64>) {
    var load = Report.Load()
    for seed in seeds {
      let report = World.run(seed: seed, makeStore: StoredJournal.make)
      load.add(report.load)
      for violation in report.violations {
        Issue.record("\(violation)\nrepeat it: .build/debug/torture disk \(seed)")
      }
    }
    let runs = Int(seeds.upperBound - seeds.lowerBound)
    #expect(load.accepted >= runs * 4, "too few ops were accepted: \(load)")
    #expect(load.diskFaults >= runs / 4, "too few calls failed: \(load)")
    #expect(load.restarts >= runs, "too few processes ended: \(load)")
  }

  /// Every sixth death and fault of one seed; `make torture` has them all, and more seeds.
  @Test(arguments: 0..<8)
  func `whichever call of the disk is the last one, or fails, nothing is lost`(
    part: Int
  ) {
    let plans = StoredJournal.deaths(in: 3) + StoredJournal.faults(in: 3)
    #expect(plans.count > 1500)
    for (index, plan) in plans.enumerated() where index % 8 == part && index % 6 == 0 {
      for violation in StoredJournal.run(3, plan).violations {
        Issue.record("\(plan): \(violation)")
      }
    }
  }

  /// Every 2,000th damage; `make torture` has them all.
  @Test(arguments: 0..<4) func `damage of the journal is found, or has no effect`(part: Int) throws
  {
    let journal = try #require(try SoundJournal.make())
    var effects: [Damage.Effect: Int] = [:]
    for (index, damage) in journal.damages.enumerated() where index % 8000 == part * 2000 {
      let effect = journal.effect(of: damage)
      effects[effect, default: 0] += 1
      #expect(effect != .wrong, "\(damage)")
    }
    #expect(effects[.refused, default: 0] > 5, "\(effects)")
  }

  @Test func `equal seeds give equal runs on a disk`() {
    for seed: UInt64 in 1...5 {
      let hashes = (0..<2).map { _ in
        World.run(seed: seed, makeStore: StoredJournal.make).traceHash
      }
      #expect(hashes[0] == hashes[1], "seed \(seed)")
    }
  }
}
