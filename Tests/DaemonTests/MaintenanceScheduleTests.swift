import Journal
import NavigationCore
import Testing

@testable import NavigationDaemon

@Suite struct MaintenanceScheduleTests {
  private typealias Schedule = MaintenanceSchedule

  private func isDue(
    _ schedule: Schedule, pages: Int, soonest: UInt64, at now: UInt64
  ) -> Bool {
    let isUsable = soonest <= now
    return isUsable && schedule.isQuiet(at: now) && pages > Schedule.quietPages
      && schedule.mustCheckpoint(pages, at: now)
      || isUsable && schedule.mustPrune(at: now)
  }

  /// A schedule with a random past, up to a time that is returned.
  private func random(_ random: inout SeededGenerator) -> (Schedule, now: UInt64) {
    var now = UInt64.random(in: 0..<1000, using: &random)
    var schedule = Schedule(at: now)
    for _ in 0..<Int.random(in: 0..<12, using: &random) {
      now += UInt64.random(in: 0..<4000, using: &random)
      switch Int.random(in: 0..<7, using: &random) {
      case 0, 1: schedule.noteEvents(at: now)
      case 2: _ = schedule.noteStored(at: now)
      case 3: schedule.notePruned(hasMore: Bool.random(using: &random), at: now)
      case 4: schedule.noteFailedMaintenance(at: now)
      case 5: schedule.noteLogReader(at: now)
      default: schedule.noteRetentionChange(at: now)
      }
    }
    return (schedule, now)
  }

  /// A loop that sleeps until `wakeAt` misses nothing, and does not wake in vain.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `nothing becomes due before the loop wakes, and what it wakes for is due`(
    seed: UInt64
  ) {
    var generator = SeededGenerator(seed: seed)
    let (schedule, now) = random(&generator)
    let pages = [0, 100, 251, 900, 1001].randomElement(using: &generator) ?? 0
    let soonest = Bool.random(using: &generator) ? 0 : now + 10
    let wakeAt = schedule.wakeAt(
      pages: pages, soonest: soonest)
    for time in stride(from: now, to: min(wakeAt ?? .max, now + 40_000), by: 7) {
      let isDue = isDue(
        schedule, pages: pages, soonest: soonest, at: time)
      #expect(!isDue, "at \(time), before \(wakeAt ?? .max)")
    }
    guard let wakeAt else { return }
    let first = max(wakeAt, now)
    #expect(
      isDue(schedule, pages: pages, soonest: soonest, at: first))
  }

  @Test func `a busy loop flushes a long log and prunes what has waited for ten seconds`() {
    var schedule = Schedule(at: 0)
    _ = schedule.noteStored(at: 0)
    for now in stride(from: 0 as UInt64, through: 50_000, by: 50) {
      schedule.noteEvents(at: now)
      #expect(!schedule.mustCheckpoint(Schedule.busyPages, at: now))
      #expect(schedule.mustCheckpoint(Schedule.busyPages + 1, at: now))
      #expect(schedule.mustPrune(at: now) == (now >= 40_000))
      #expect(schedule.isOverdue(at: now) == (now >= 40_000))
    }
  }

  @Test func `a failure or a reader of the log postpones the next attempt`() {
    var schedule = Schedule(at: 0)
    schedule.noteLogReader(at: 500)
    #expect(!schedule.mustCheckpoint(2000, at: 1499))
    #expect(schedule.mustCheckpoint(2000, at: 1500))
    schedule.noteRetentionChange(at: 2000)
    schedule.noteFailedMaintenance(at: 2000)
    #expect(!schedule.mustCheckpoint(2000, at: 11_999) && !schedule.mustPrune(at: 11_999))
    #expect(schedule.mustCheckpoint(2000, at: 12_000) && schedule.mustPrune(at: 12_000))
  }

  @Test func `a change of the journal's health is noticed once`() {
    var schedule = Schedule(at: 0)
    #expect(schedule.noteStored(at: 0) == false)
    let full = JournalError.full(path: "j")
    #expect(schedule.noteFailedCommit(full) && schedule.storageProblem == full.description)
    #expect(schedule.noteFailedCommit(full) == false)
    #expect(schedule.noteStored(at: 0) && schedule.storageProblem == nil)
    #expect(schedule.noteStored(at: 0) == false)
  }

  @Test func `the files of the journal are looked at once a second at most, and news told once`() {
    var schedule = Schedule(at: 0)
    #expect((1...10_000 as ClosedRange<UInt64>).count { schedule.mustExamineFiles(at: $0) } == 10)
    let gone = JournalError.unusable(path: "j", reason: "it is gone", remedy: "look")
    #expect(!schedule.noteExamined(nil) && schedule.noteExamined(gone))
    #expect(!schedule.noteExamined(gone) && schedule.problem == gone)
    // A commit under way may still succeed.
    #expect(!schedule.noteStored(at: 0) && schedule.storageProblem == gone.description)
    #expect(schedule.noteExamined(nil) && schedule.storageProblem == nil)
  }

  @Test func `the file system is asked ten times a second at most`() {
    var schedule = Schedule(at: 0)
    let asked = (1...1000 as ClosedRange<UInt64>).count { schedule.mustReadFileFigures(at: $0) }
    #expect(asked == 10)
  }
}

@Suite struct WatchdogTests {
  @Test(arguments: 0..<50 as Range<UInt64>)
  func `reports are as far apart as the interval, and never late`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let interval = UInt64.random(in: 1...1000, using: &random)
    var watchdog = Watchdog(interval: interval)
    var (now, last): (UInt64, UInt64?) = (5000, nil)
    for _ in 0..<200 {
      let wakeAt = watchdog.wakeAt
      let isExpected = last.map { now - $0 >= interval } ?? true
      #expect(watchdog.isDue(at: now) == isExpected)
      if isExpected { last = now }
      #expect(watchdog.wakeAt == last.map { $0 + interval })
      #expect(wakeAt != nil)
      now += UInt64.random(in: 0..<700, using: &random)
    }
  }

  @Test func `without an interval nothing is due`() {
    var watchdog = Watchdog(interval: nil)
    #expect(watchdog.wakeAt == nil)
    #expect(watchdog.isDue(at: .max) == false)
  }
}
