package import Conformance

/// The rows about sequences of ops.
package enum RandomRows {
  /// Does things at random on a nav of its own and says what breaks the laws of the rows.
  ///
  /// - Parameters:
  ///   - seed: decides what is done.
  ///   - steps: how many things.
  ///   - pace: how time passes.
  ///   - driver: what it is done to.
  /// - Returns: what is wrong, by the row that says so.
  /// - Throws: `ConformanceFailure` if a diff does not fit or too little was done.
  package static func run(
    seed: UInt64, steps: Int, pace: RandomPace, on driver: some ConformanceDriver
  ) throws -> [CodeRow: [String]] {
    var run = try RandomRun(seed: seed, pace: pace, driver: driver)
    for _ in 0..<steps { try run.step() }
    // A run that did next to nothing proves nothing.
    try claim(run.changed > steps / 10 && run.refused > steps / 10, "seed \(seed)")
    return run.violations
  }

  /// Two daemons with the same history show the same octets.
  package static func equalDaemons<Driver: ConformanceDriver>(
    seed: UInt64, steps: Int, pace: RandomPace, _ first: Driver, _ second: Driver
  ) throws {
    var one = try RandomRun(seed: seed, pace: pace, driver: first)
    var other = try RandomRun(seed: seed, pace: pace, driver: second)
    for _ in 0..<steps {
      try one.step()
      try other.step()
      try claim(one.state["epoch"] != other.state["epoch"], "the epochs are equal")
      let digests = [one, other].map { $0.state["dig"]?.string?.prefix(8) }
      try claim(digests[0] == digests[1], "seed \(seed): the checksums differ")
      let (shown, alsoShown) = (one.state["resolved"]?.text, other.state["resolved"]?.text)
      try claim(shown == alsoShown, "seed \(seed): \(shown ?? "") and \(alsoShown ?? "")")
    }
  }
}
