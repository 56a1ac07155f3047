import Testing

@testable import Conformance

/// The rows about sequences of ops.
enum RandomRows {
  private static let seeds: [UInt64] = Array(1...10)
  private static let steps = 1000

  /// What the runs of all seeds, 10 000 ops together, found; three rows look at the same runs.
  private static let runs = Result { () throws -> [(seed: UInt64, run: RandomRun)] in
    try seeds.map { seed in
      var run = try RandomRun(seed: seed, daemon: seed)
      for _ in 0..<steps { try run.step() }
      return (seed, run)
    }
  }

  /// Nothing was found that breaks the law of a row.
  static func check(_ row: CodeRow) throws {
    for (seed, run) in try runs.get() {
      let violations = run.violations[row] ?? []
      #expect(violations.isEmpty, "seed \(seed): \(violations.prefix(3))")
      // A run that did next to nothing proves nothing.
      #expect(run.changed > steps / 10 && run.refused > steps / 10, "seed \(seed)")
    }
  }

  /// Two daemons with the same history show the same bytes.
  static func equalDaemons() throws {
    for seed in seeds {
      var one = try RandomRun(seed: seed, daemon: seed)
      var other = try RandomRun(seed: seed, daemon: seed + 1000)
      for _ in 0..<steps / 10 {
        try one.step()
        try other.step()
        #expect(one.state["epoch"] != other.state["epoch"])
        #expect(one.state["dig"] == other.state["dig"])
        #expect(one.state["resolved"]?.text == other.state["resolved"]?.text)
      }
    }
  }
}
