import Simulation
import Testing

/// The checker is checked: each bug that is planted must be found, and soon.
@Suite struct CheckerTests {
  static let patience: UInt64 = 600

  @Test(arguments: Sabotage.allCases)
  func `a planted bug is found`(sabotage: Sabotage) {
    var opportunities = 0
    for seed in 1...Self.patience {
      let report = World.run(seed: seed, sabotage: sabotage)
      opportunities += report.load.sabotages
      if sabotage == .keepEpochs { opportunities += report.load.renewals }
      guard report.violations.isEmpty else { return }
    }
    Issue.record(
      "\(sabotage) was not found in \(Self.patience) seeds with \(opportunities) opportunities")
  }
}
