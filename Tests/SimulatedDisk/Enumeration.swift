package import Simulation

// All faults of one kind in the world of one seed.

extension StoredJournal {
  /// Runs a seed without faults of the disk; returns its store.
  package static func runWithoutFaults(_ seed: UInt64) -> StoredJournal? {
    var made: StoredJournal?
    _ = World.run(
      seed: seed,
      makeStore: { seed, scenario in
        let store = make(seed, scenario, .death(change: .max, bytes: 0, nil))
        made = store
        return store
      })
    return made
  }

  /// Runs a seed with a plan.
  package static func run(_ seed: UInt64, _ plan: Plan) -> Report {
    World.run(seed: seed, makeStore: { make($0, $1, plan) })
  }

  /// Each change of the disk as the last one: without the machine, and with each loss.
  package static func deaths(in seed: UInt64) -> [Plan] {
    (1...max(1, runWithoutFaults(seed)?.totalChanges ?? 0)).flatMap { change in
      [Plan.death(change: change, bytes: .max, nil)]
        + RecordedDisk.Loss.allCases.map {
          .death(change: change, bytes: 512 * (change % 9), $0)
        }
    }
  }

  /// Each call with each error, once and for ever.
  package static func faults(in seed: UInt64) -> [Plan] {
    let calls = runWithoutFaults(seed)?.totalCalls ?? [:]
    var plans: [Plan] = []
    for call in SimulatedDisk.Call.allCases {
      for number in 1...max(1, calls[call, default: 0]) {
        for error in errors(of: call) {
          for isLasting in [false, true] where !isLasting || mayLast(error) {
            plans.append(
              .fault(SimulatedDisk.Fault(call, at: number, error: error, isLasting: isLasting)))
          }
        }
      }
    }
    return plans
  }
}

extension SoundJournal {
  /// Returns what a killed daemon left: a journal of about 64 KiB, with a log.
  ///
  /// It takes the first seed that leaves one; nil if none does.
  package static func make() throws -> SoundJournal? {
    for seed: UInt64 in 1...1000 {
      guard let store = StoredJournal.runWithoutFaults(seed), !store.isRelaxed else { continue }
      for var files in store.filesOfEnds {
        guard var log = files[logPath], let file = files["/state/journal.sqlite"] else { continue }
        // Without the zeros that navd keeps behind the end.
        let used = log.lastIndex { $0 != 0 }.map { ($0 - 32) / 4120 * 4120 + 4152 } ?? 0
        log.removeSubrange(min(used, log.count)...)
        files[logPath] = log
        if log.count > 24_000, (65_536...80_000).contains(file.count + log.count) {
          return try SoundJournal(files: files, navs: ["n0", "n1", "n2"], logPath: logPath)
        }
      }
    }
    return nil
  }

  private static let logPath = "/state/journal.sqlite-wal"

  /// All damages of the database and its log.
  package var damages: [Damage] {
    files.sorted { $0.key < $1.key }.filter { $0.key.contains("journal.sqlite") }
      .flatMap { Damage.all(of: $0.key, $0.value.count) }
  }
}
