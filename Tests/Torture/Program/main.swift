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
    /// Seeds with the journal that ships, on a disk that fails.
    case disk
    /// Each change of the disk in a seed as the last one, with each loss of what is not synced.
    case deaths
    /// Each call of the disk in a seed failing, once and for ever, with each error.
    case faults
    /// Each bit, length and pair of pages of a seed's journal, from the number COUNT·FIRST on.
    case flips
  }

  let mode: Mode
  private(set) var count = 0
  private(set) var violations = 0
  private(set) var load = Report.Load()

  mutating func run(first: UInt64, count: UInt64) {
    switch mode {
    case .simulate, .disk:
      for seed in first..<first + count { run(seed: seed, isTracing: count == 1) }
    case .deaths: for seed in first..<first + count { enumerateDeaths(seed) }
    case .faults: for seed in first..<first + count { enumerateFaults(seed) }
    case .flips: flip(first: Int(first), count: Int(count))
    }
  }

  private mutating func run(seed: UInt64, isTracing: Bool) {
    let report =
      mode == .disk
      ? World.run(seed: seed, isTracing: isTracing, makeStore: StoredJournal.make)
      : World.run(seed: seed, isTracing: isTracing)
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
    let report = World.run(seed: seed, makeStore: { StoredJournal.make($0, $1, plan) })
    take(report, "\(seed) (\(plan))")
  }

  /// Runs a seed without faults of the disk; returns its changes and calls.
  private func measure(_ seed: UInt64) -> (changes: Int64, calls: [SimulatedDisk.Call: Int64]) {
    let store = Self.runWithoutFaults(seed)
    return (store?.totalChanges ?? 0, store?.totalCalls ?? [:])
  }

  /// Runs a seed whose disk never fails; returns its store.
  private static func runWithoutFaults(_ seed: UInt64) -> StoredJournal? {
    var made: StoredJournal?
    _ = World.run(
      seed: seed,
      makeStore: { seed, scenario in
        let store = StoredJournal.make(
          seed, scenario, .death(change: .max, bytes: 0, nil))
        made = store
        return store
      })
    return made
  }

  private mutating func enumerateDeaths(_ seed: UInt64) {
    for change in 1...max(1, measure(seed).changes) {
      run(seed, .death(change: change, bytes: .max, nil))
      for loss in RecordedDisk.Loss.allCases {
        run(seed, .death(change: change, bytes: 512 * (change % 9), loss))
      }
    }
  }

  private mutating func enumerateFaults(_ seed: UInt64) {
    let calls = measure(seed).calls
    for call in SimulatedDisk.Call.allCases {
      for number in 1...max(1, calls[call, default: 0]) {
        for error in StoredJournal.errors(of: call) {
          for isLasting in [false, true] where !isLasting || StoredJournal.mayLast(error) {
            run(seed, .fault(.init(call, at: number, error: error, isLasting: isLasting)))
          }
        }
      }
    }
  }

  private mutating func flip(first: Int, count wanted: Int) {
    guard let (files, navs) = Self.journal() else {
      print("no seed leaves a journal of 64 KiB")
      violations += 1
      return
    }
    let disk = StoredJournal.makeDisk()
    disk.replaceFiles(files)
    guard let whole = try? JournalContents(of: disk, navs: navs) else {
      print("the whole journal does not start")
      violations += 1
      return
    }
    let damages = files.sorted { $0.key < $1.key }.filter { $0.key.contains("journal.sqlite") }
      .flatMap { Damage.all(of: $0.key, $0.value.count) }
    var effects: [Damage.Effect: Int] = [:]
    for damage in damages.dropFirst(first - 1).prefix(wanted) {
      let effect = damage.effect(on: files, of: whole, disk: disk, navs: navs)
      effects[effect, default: 0] += 1
      count += 1
      guard [.wrong, .tornCommit].contains(effect) else { continue }
      violations += 1
      print("\(effect): \(damage)")
    }
    print("of \(damages.count): \(effects)")
  }

  /// The files of the first seed that leaves a journal of about 64 KiB, with a log, by a killed daemon.
  private static func journal() -> (files: [String: [UInt8]], navs: [String])? {
    for seed: UInt64 in 1...1000 {
      guard let store = runWithoutFaults(seed), !store.isRelaxed else { continue }
      for var files in store.filesOfEnds {
        guard var log = files["/state/journal.sqlite-wal"],
          let file = files["/state/journal.sqlite"]
        else {
          continue
        }
        // Without the zeros that navd keeps behind the end.
        let used = log.lastIndex { $0 != 0 }.map { ($0 - 32) / 4120 * 4120 + 4152 } ?? 0
        log.removeSubrange(min(used, log.count)...)
        files["/state/journal.sqlite-wal"] = log
        if log.count > 24_000, (50_000...80_000).contains(file.count + log.count) {
          return (files, ["n0", "n1", "n2"])
        }
      }
    }
    return nil
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
