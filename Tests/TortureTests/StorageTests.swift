import Simulation
import SimulatedDisk
import Testing

/// The hub, its clients and the journal that ships, on a disk that fails and loses power.
@Suite struct StorageTests {
  static let chunks = stride(from: UInt64(1), to: 201, by: 25).map { $0..<$0 + 25 }

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
    #expect(load.diskFaults >= runs, "too few calls failed: \(load)")
    #expect(load.restarts >= runs, "too few processes ended: \(load)")
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
