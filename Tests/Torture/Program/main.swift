import Conformance
import ConformanceSupport
import Foundation
import SimulatedDisk
import Simulation

/// `torture MODE FIRST [COUNT]`: runs seeds of the simulation, or all faults of one kind.
///
/// One seed alone also prints its trace. The last line is `torture MODE count=N violations=V`.
struct Torture {
  enum Mode: String, CaseIterable {
    /// Seeds of the hub, its clients and the model of the journal.
    case simulate
    /// Seeds of a member of a cluster: its shards go to others, and return.
    case shards
    /// Seeds with the journal that ships, on a disk that fails.
    case disk
    /// Seeds of random ops against the rows of the conformance table; the first one also plays the table.
    case rules
    /// Each change of the disk in a seed as the last one, with each loss of what is not synced.
    case deaths
    /// Each call of the disk in a seed failing, once and for ever, with each error.
    case faults
    /// Each bit, length and pair of pages of a journal, from the number FIRST on; then again.
    case flips
  }

  let mode: Mode
  private(set) var count = 0
  private(set) var violations = 0
  private(set) var load = Report.Load()

  mutating func run(first: UInt64, count: UInt64) {
    switch mode {
    case .simulate, .shards, .disk:
      for seed in first..<first + count { run(seed: seed, isTracing: count == 1) }
    case .rules: for seed in first..<first + count { checkRules(seed) }
    case .deaths:
      for seed in first..<first + count {
        for plan in StoredJournal.deaths(in: seed) { run(seed, plan) }
      }
    case .faults:
      for seed in first..<first + count {
        for plan in StoredJournal.faults(in: seed) { run(seed, plan) }
      }
    case .flips: flip(first: Int(first), count: Int(count))
    }
  }

  private mutating func run(seed: UInt64, isTracing: Bool) {
    let report =
      mode == .disk
      ? World.run(seed: seed, isTracing: isTracing, makeStore: StoredJournal.make)
      : World.run(seed: seed, isMember: mode == .shards, isTracing: isTracing)
    for line in report.trace { print(line) }
    take(report, "\(seed)")
  }

  private mutating func take(_ report: Report, _ name: String) {
    count += 1
    load.add(report.load)
    guard !report.violations.isEmpty else { return }
    violations += 1
    for violation in report.violations {
      print("\(violation)\nrepeat it: torture \(mode) \(name)")
    }
  }

  /// Runs a seed with a plan.
  private mutating func run(_ seed: UInt64, _ plan: StoredJournal.Plan) {
    take(StoredJournal.run(seed, plan), "\(seed) (\(plan))")
  }

  private mutating func checkRules(_ seed: UInt64) {
    count += 1
    var found: [String] = []
    do {
      let rows = try RandomRows.run(
        seed: seed, steps: 1000, pace: RandomPace(), on: HubDriver(seed: seed))
      found = rows.flatMap { row, violations in violations.map { "\(row.rawValue): \($0)" } }
    } catch {
      found.append("\(error)")
    }
    for id in seed == 1 ? Table.scripted : [] {
      do {
        guard let row = try Table.row(id) else { continue }
        var driver = HubDriver()
        try ConformanceRunner.run(row, on: &driver)
      } catch {
        found.append("\(error)")
      }
    }
    violations += found.isEmpty ? 0 : 1
    for violation in found { print("\(violation)\nrepeat it: torture rules \(seed)") }
  }

  private mutating func flip(first: Int, count wanted: Int) {
    guard let journal = try? SoundJournal.make() else {
      print("no seed leaves a journal of 64 KiB that starts")
      violations += 1
      return
    }
    let damages = journal.damages
    // Neighbours in number are far apart in the files, so that a few hundred already touch all of them.
    let stride = 104_729
    precondition(!damages.count.isMultiple(of: stride), "the stride leaves damages out")
    var effects: [Damage.Effect: Int] = [:]
    for index in first - 1..<first - 1 + wanted {
      let damage = damages[index * stride % damages.count]
      let effect = journal.effect(of: damage)
      effects[effect, default: 0] += 1
      count += 1
      guard effect == .wrong else { continue }
      violations += 1
      print("\(effect): \(damage)\nrepeat it: torture flips \(index + 1)")
    }
    print("of \(damages.count): \(effects)")
  }
}

let arguments = CommandLine.arguments
guard arguments.count >= 3, let mode = Torture.Mode(rawValue: arguments[1]),
  let first = UInt64(arguments[2]), first > 0,
  let count = arguments.count > 3 ? UInt64(arguments[3]) : 1
else {
  print(
    "usage: torture \(Torture.Mode.allCases.map(\.rawValue).joined(separator: "|")) FIRST [COUNT]")
  exit(2)
}
var torture = Torture(mode: mode)
torture.run(first: first, count: count)
print("load \(torture.load)")
print("torture \(mode) count=\(torture.count) violations=\(torture.violations)")
exit(torture.violations == 0 ? 0 : 1)
