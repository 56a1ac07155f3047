import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Simulation
import Testing

/// Which seeds are run, and how a failing one is repeated.
enum Seeds {
  static let perChunk: UInt64 = 25

  /// `NAVD_SIM_SEEDS` runs more, as `make test-long` does; `NAVD_SIM_FIRST` runs others.
  static let count = number("NAVD_SIM_SEEDS") ?? 600
  static let first = number("NAVD_SIM_FIRST") ?? 1
  /// `NAVD_SIM_SEED` repeats one, with a trace.
  static let repeated = number("NAVD_SIM_SEED")

  static let chunks = stride(from: first, to: first + count, by: Int(perChunk)).map { start in
    start..<min(start + perChunk, first + count)
  }

  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  static func command(_ seed: UInt64) -> String {
    "NAVD_SIM_SEED=\(seed) swift test --filter SimulationTests/repeated"
  }
}

@Suite struct SimulationTests {
  @Test(.enabled(if: Seeds.repeated == nil), arguments: Seeds.chunks)
  func `no seed breaks a promise`(seeds: Range<UInt64>) {
    var load = Report.Load()
    for seed in seeds {
      let report = World.run(seed: seed)
      load.add(report.load)
      for violation in report.violations {
        Issue.record("\(violation)\nrepeat it: \(Seeds.command(seed))")
      }
    }
    // A run that did next to nothing proves nothing.
    let runs = Int(seeds.upperBound - seeds.lowerBound)
    #expect(load.accepted >= runs * 4, "too few ops were accepted: \(load)")
    #expect(load.comparisons >= runs * 12, "too few mirrors were compared: \(load)")
    #expect(load.doubts >= 1, "too few forgotten ops were sent again: \(load)")
    #expect(load.questions >= 1, "too few delegates were asked: \(load)")
    #expect(load.held >= 2, "too few events waited for dormant navs: \(load)")
    #expect(load.delays >= 10, "too few messages waited for later turns: \(load)")
    #expect(load.inFlight >= 3, "too few batches were decided during a commit: \(load)")
  }

  @Test(arguments: [1..<51 as Range<UInt64>, 51..<101])
  func `no seed of a member of a cluster breaks a promise`(seeds: Range<UInt64>) {
    var load = Report.Load()
    for seed in seeds {
      let report = World.run(seed: seed, isMember: true)
      load.add(report.load)
      for violation in report.violations {
        Issue.record("\(violation)\nrepeat it: torture shards \(seed)")
      }
    }
    #expect(load.adoptions >= 200, "too few shards came: \(load)")
    #expect(load.fences >= 8, "too few commits were fenced: \(load)")
    #expect(load.strangers >= 12, "too few ops were performed elsewhere: \(load)")
    #expect(load.returns >= 8, "too few rows were lost: \(load)")
    #expect(load.accepted >= 150, "too few ops were accepted: \(load)")
  }

  @Test(.enabled(if: Seeds.repeated != nil)) func `repeated`() throws {
    guard let seed = Seeds.repeated else { return }
    let report = World.run(seed: seed, isTracing: true)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("navd-sim-\(seed)")
    try report.trace.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    print("the trace is in \(file.path)")
    print("seed \(seed): trace hash \(String(report.traceHash, radix: 16)), \(report.load)")
    for violation in report.violations { Issue.record("\(violation)") }
  }

  /// Corrupts a nav in some of the commits that change its stack, as a mistake in the rules would.
  @Sendable private static func corrupt(_ nav: inout NavigationController, _ commit: Commit) {
    guard commit.splice?.insertedCount == 1, commit.revision.number % 5 == 3 else { return }
    guard let index = commit.splice?.at else { return }
    // A version that mirrors do not have; no assertion is in the way of such a state.
    nav.stack[index].version = nav.revision.next
  }

  @Test func `a state that breaks an invariant is published to nobody`() {
    var load = Report.Load()
    for seed: UInt64 in 1...60 {
      let report = World.run(seed: seed) { nav, commit in
        Self.corrupt(&nav, commit)
        return nav.violatedInvariants(touchedBy: commit)
      }
      load.add(report.load)
      for violation in report.violations { Issue.record("seed \(seed): \(violation)") }
    }
    #expect(load.unsoundBatches >= 20, "too few states were corrupted: \(load)")
    #expect(load.accepted >= 120, "too few ops were accepted: \(load)")
  }

  @Test func `such a state would be noticed`() {
    let seeds: ClosedRange<UInt64> = 1...150
    let found = seeds.contains { seed in
      let report = World.run(seed: seed) { nav, commit in
        Self.corrupt(&nav, commit)
        return []
      }
      return !report.violations.isEmpty
    }
    #expect(found)
  }

  @Test func `equal seeds give equal runs`() {
    for seed: UInt64 in 1...10 {
      #expect(World.run(seed: seed).traceHash == World.run(seed: seed).traceHash, "seed \(seed)")
    }
    #expect(World.run(seed: 1).traceHash != World.run(seed: 2).traceHash)
  }
}
