import Foundation
import Glibc
import Journal
import NavigationCore
import NavigationDaemon
package import NavigationHub
package import Simulation

/// The journal that ships, on a simulated disk, for a world.
///
/// `@unchecked Sendable`: one thread uses a world.
package final class StoredJournal: WorldStore, @unchecked Sendable {
  /// What goes wrong on the disk.
  package enum Plan: Sendable {
    /// Faults and deaths by chance, as the seed has them.
    case drawn
    /// The process dies in one change, counted over all processes, after so many bytes of a write.
    ///
    /// The machine fails with it if there is a loss.
    case death(change: Int64, bytes: Int64, RecordedDisk.Loss?)
    /// Calls of a class fail, counted over all processes, until the process that meets it ends.
    case fault(SimulatedDisk.Fault)
  }

  package var isFaulty = true
  package var faults: Int { disk.faults + deaths }
  package private(set) var deaths = 0

  private let disk: SimulatedDisk
  private var random: SeededGenerator
  private let durability: Durability
  private let retention: Retention
  private let mood: Mood
  private let plan: Plan
  /// The changes and calls of the processes that have ended.
  package private(set) var totalChanges: Int64 = 0
  package private(set) var totalCalls: [SimulatedDisk.Call: Int64] = [:]
  private var journal: Journal?
  private var reader: JournalReader?
  /// The machine's boot, which a power failure ends.
  private var machine = 1
  /// The files of ends, oldest first, to which an administrator can go back.
  private var copies: [[String: [UInt8]]] = []

  /// How often what goes wrong, in a thousand actions: each run leaves some of it out.
  private struct Mood {
    var death: UInt64
    var fault: UInt64
    var calls: [SimulatedDisk.Call]
    /// Whether a file beside the disk has the number of the newest acknowledged row.
    var hasWitness: Bool

    init(_ random: inout SeededGenerator) {
      death = [0, 40, 150].randomElement(using: &random) ?? 0
      fault = [0, 100, 400].randomElement(using: &random) ?? 0
      calls = SimulatedDisk.Call.allCases.filter { _ in Bool.random(using: &random) }
      hasWitness = random.next() % 4 == 0
    }
  }

  /// Makes an empty one; `isRelaxed` as in the scenario, and with `forgets` little history is kept.
  package init(
    seed: UInt64, isRelaxed: Bool, forgets: Bool, plan: Plan = .drawn
  ) {
    self.plan = plan
    random = SeededGenerator(seed: seed ^ 0x5D15_C0DE)
    disk = Self.makeDisk()
    durability = isRelaxed ? .relaxed : .sync
    mood = Mood(&random)
    var retention = Retention.standard
    if forgets {
      retention.revisions = [2, 5, 20].randomElement(using: &random) ?? 2
      retention.revisionsPerSnapshot = [1, 3].randomElement(using: &random) ?? 1
      retention.closedMilliseconds = 3000
    }
    self.retention = retention
  }

  /// Makes the store of a seed's world, in memory.
  package static func make(_ seed: UInt64, _ scenario: Scenario) -> StoredJournal {
    make(seed, scenario, .drawn)
  }

  /// Makes the store of a seed's world, in memory, with a plan.
  package static func make(_ seed: UInt64, _ scenario: Scenario, _ plan: Plan) -> StoredJournal {
    StoredJournal(
      seed: seed, isRelaxed: scenario.isRelaxed, forgets: scenario.forgets, plan: plan)
  }

  /// Makes an empty disk, in memory.
  package static func makeDisk() -> SimulatedDisk {
    let memory = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    return SimulatedDisk(
      below: "\(memory)/navd-sim-\(getpid())-\(UInt64.random(in: 0 ... .max))")
  }

  package var lastSequence: UInt64 { journal?.lastSequence ?? 0 }
  package var hasLostRows: Bool { journal?.rowLoss != nil }

  // Faults.

  private func chance(_ perMille: UInt64) -> Bool { random.next() % 1000 < perMille }

  /// Draws what goes wrong in the next action.
  private func drawFaults() {
    guard isFaulty, case .drawn = plan else {
      if !isFaulty { disk.fault = nil }
      return
    }
    if disk.fault?.isLasting != true || chance(300) { disk.fault = nil }
    if chance(mood.death) {
      let change = disk.changes + Int64(1 + random.next() % 12)
      disk.die(in: change, afterBytes: Int64(random.next() % 16) * 512)
    }
    if disk.fault == nil, chance(mood.fault), let call = mood.calls.randomElement(using: &random) {
      let error = Self.errors(of: call).randomElement(using: &random) ?? EIO
      disk.fault = SimulatedDisk.Fault(
        call, at: disk.count(call) + Int64(1 + random.next() % 4), error: error,
        isLasting: Self.mayLast(error) && chance(300))
    }
  }

  /// Whether each call can fail with an error: no disk interrupts or shortens each one.
  package static func mayLast(_ error: Int32) -> Bool { ![EINTR, 0].contains(error) }

  /// The errors of a class of calls; 0 is a write or read of half of the bytes.
  package static func errors(of call: SimulatedDisk.Call) -> [Int32] {
    switch call {
    case .open: [EMFILE, ENFILE, EIO]
    case .read: [EIO, EINTR, ENXIO]
    case .write: [EIO, ENOSPC, EDQUOT, EINTR, 0]
    case .sync: [EIO, ENOSPC, EDQUOT]
    case .truncate: [EIO, EINTR]
    case .name: [EIO, ENOSPC]
    }
  }

  /// Lets the new process meet what the plan has for it.
  private func carryOutPlan() {
    switch plan {
    case .drawn: break
    case .death(let change, let bytes, _):
      guard change > totalChanges else { return }
      disk.die(in: change - totalChanges, afterBytes: bytes)
    case .fault(var fault):
      fault.at -= totalCalls[fault.call, default: 0]
      if fault.at > 0 { disk.fault = fault }
    }
  }

  /// Performs an action of the process.
  private func perform(_ action: () throws(JournalError) -> Void) -> StoreOutcome {
    drawFaults()
    let before = disk.faults
    do throws(JournalError) {
      try action()
      return disk.isDead ? .dead : .done
    } catch {
      return outcome(of: error, wasFaulty: disk.faults > before)
    }
  }

  /// What an error means; the process that is dead already has made it of what it did not do.
  private func outcome(of error: JournalError, wasFaulty: Bool) -> StoreOutcome {
    guard !disk.isDead else { return .dead }
    guard wasFaulty || syncHasFailed else { return .broken("without a fault: \(error)") }
    switch error {
    case .damaged, .notReplayed, .newer, .older, .locked, .fenced:
      return .broken("after a fault of the disk: \(error)")
    case .syncFailed:
      syncHasFailed = true
      return .dead
    case .full, .readOnly, .writeFailed: return .refused
    case .readFailed, .unreadable, .unwritable, .unusable: return .dead
    }
  }

  private var syncHasFailed = false

  // The process.

  package func open(into hub: inout Hub, at now: Instant) -> StoreOutcome {
    do { try disk.attach() } catch { return .broken("the disk: \(error)") }
    syncHasFailed = false
    if isFaulty { carryOutPlan() }
    var replayed = hub
    let outcome = perform { () throws(JournalError) in
      let journal = try Journal.open(
        directory: disk.state, durability: durability, bootID: "boot-\(machine)",
        retention: retention, holder: "simulation")
      self.journal = journal
      if mood.hasWitness { journal.witness = try JournalWitness(path: disk.witness) }
      try JournalReplay.index(journal, into: &replayed, at: now)
      try JournalReplay.loadOpenNavs(&replayed, [journal])
      if let shortage = journal.shortageAtStart { throw shortage }
      reader = try journal.place.openReader()
    }
    hub = replayed
    return outcome == .refused ? .dead : outcome
  }

  package func commit(_ parts: [JournalRecords]) -> StoreOutcome {
    perform { () throws(JournalError) in
      // The loop commits one part at once, and the writer each part before the commit of all.
      if let only = parts.first, parts.count == 1 { return try journal?.commit(only) ?? () }
      for part in parts { try journal?.stage(part) }
      try journal?.commitStaged()
    }
  }

  package func epochsRenewed(before lastSequence: UInt64) -> StoreOutcome {
    perform { () throws(JournalError) in try journal?.epochsRenewed(before: lastSequence) }
  }

  package func sync() -> StoreOutcome {
    perform { () throws(JournalError) in try journal?.syncNow() }
  }

  package func maintain(at now: Instant, _ events: inout [HubEvent]) -> StoreOutcome {
    var found: [HubEvent] = []
    let outcome = perform { () throws(JournalError) in
      guard let journal else { return }
      guard chance(500) else { return try journal.checkpoint() }
      let report = try journal.maintain(now: now.boot, budget: 64)
      found = report.needsSnapshot.map { .snapshotWanted(nav: $0) }
      found += report.floors.map { .historyPruned(nav: $0.nav, oldestRevision: $0.revision) }
    }
    events += found
    return outcome
  }

  package func chain(of request: ReloadRequest) -> (snapshot: SnapshotRow?, rows: [JournalRow])? {
    var result: (snapshot: SnapshotRow?, rows: [JournalRow])?
    _ = perform { () throws(JournalError) in result = try reader?.chain(of: request) }
    return result
  }

  package func answer(_ request: HistoryRequest) -> HistoryAnswer {
    var answer = HistoryAnswer(token: request.token, failure: "the disk failed")
    _ = perform { () throws(JournalError) in
      guard let reader else { return }
      switch request.part {
      case .rows(let first, let last):
        let rows = try reader.rows(
          of: request.nav, from: request.newestRow, first...max(first, last))
        answer = HistoryAnswer(token: request.token, rows: rows)
      case .state(let revision):
        let (snapshot, rows) = try reader.chain(
          of: ReloadRequest(nav: request.nav, newestRow: request.newestRow), through: revision)
        answer = HistoryAnswer(token: request.token, snapshot: snapshot, rows: rows)
      }
    }
    return answer
  }

  // Ends.

  package func close() -> StoreOutcome {
    reader = nil
    return perform { () throws(JournalError) in try journal?.close() }
  }

  @discardableResult
  package func end(withMachine isMachineLost: Bool) -> Bool {
    if disk.isDead { deaths += 1 }
    var planned: RecordedDisk.Loss?
    if disk.isDead, case .death(_, _, let loss) = plan { planned = loss }
    disk.kill()
    (reader, journal) = (nil, nil)
    totalChanges += disk.changes
    for call in SimulatedDisk.Call.allCases { totalCalls[call, default: 0] += disk.count(call) }
    disk.fault = nil
    let loss =
      planned ?? RecordedDisk.Loss.allCases.randomElement(using: &random) ?? .everything
    let isMachineLost = isMachineLost || planned != nil
    let unit = Bool.random(using: &random) ? 512 : 4096
    do {
      try disk.end(isMachineLost ? (loss, unit) : nil, &random)
    } catch { preconditionFailure("the disk cannot record: \(error)") }
    if isMachineLost { machine += 1 }
    if copies.count < 8 { copies.append(disk.files()) }
    return isMachineLost
  }

  package var isRelaxed: Bool { durability == .relaxed }

  /// The files that the first processes left, one after the other.
  package var filesOfEnds: [[String: [UInt8]]] { copies }

  package func putBack() -> Bool {
    guard let index = copies.indices.randomElement(using: &random) else { return false }
    // Later copies are of a future that is given up.
    copies.removeSubrange((index + 1)...)
    var files = copies[index]
    files["/witness"] = disk.files()["/witness"]
    disk.replaceFiles(files)
    return true
  }
}
