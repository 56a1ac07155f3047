import FuzzSupport
import NavigationCore
import Simulation

/// Runs the world of the simulation with the input as its chance, until the input ends.
///
/// Its laws are those of the simulation: clients, losses, failing commits, crashes and restarts, and
/// after them everything must agree and nothing acknowledged may be lost.
struct SessionTarget: FuzzTarget {
  mutating func run(_ input: Span<UInt8>) {
    guard input.count > 8 else { return }
    let report = World.run(choices: input.octets)
    demand(report.violations.isEmpty, report.violations.joined(separator: "\n"))
    observe(report.traceHash)
  }
}
