import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// When the daemon makes backups by itself, and which of them stay.
@Suite struct BackupScheduleTests {
  private typealias Schedule = BackupSchedule
  private static let day: UInt64 = 86_400_000
  private static let daily = Schedule.Rules(intervalMilliseconds: day, keptCount: 3)
  /// 2026-11-26, and one hour after the boot.
  private static let start = Instant(boot: 3_600_000, wall: 1_795_651_200_000)

  private func later(_ milliseconds: UInt64, _ now: Instant = start) -> Instant {
    Instant(boot: now.boot + milliseconds, wall: now.wall + milliseconds)
  }

  @Test func `without a file, the first backup is due at once; without an interval, none is`() {
    let schedule = Schedule(Self.daily, newest: nil, at: Self.start)
    #expect(schedule.timeUntilDue(at: Self.start) == 0)
    let never = Schedule(.init(intervalMilliseconds: 0, keptCount: 3), newest: nil, at: Self.start)
    #expect(never.timeUntilDue(at: later(10 * Self.day)) == nil && never.wakeAt(Self.start) == nil)
  }

  @Test func `after a restart, a backup is due when the newest file is old enough`() {
    let wall = Self.start.wall
    var schedule = Schedule(Self.daily, newest: wall - 20 * 3_600_000, at: Self.start)
    #expect(schedule.timeUntilDue(at: Self.start) == 4 * 3_600_000)
    #expect(schedule.wakeAt(Self.start) == Self.start.boot + 3_600_000)
    #expect(schedule.timeUntilDue(at: later(4 * 3_600_000)) == 0)
    schedule = Schedule(Self.daily, newest: wall - 3 * Self.day, at: Self.start)
    #expect(schedule.timeUntilDue(at: Self.start) == 0)
  }

  @Test func `a file from the future counts as none, so restarts postpone no backup`() {
    let future = Self.start.wall + 11 * 365 * Self.day
    for hour in 0..<48 as Range<UInt64> {
      let now = Instant(boot: 1000, wall: Self.start.wall + hour * 3_600_000)
      let schedule = Schedule(Self.daily, newest: future, at: now)
      #expect(schedule.timeUntilDue(at: now) == 0 && schedule.ageOfNewest(at: now) == nil)
      #expect(schedule.isOverdue(at: later(3_600_001, now)))
    }
  }

  @Test func `a clock that jumps delays a backup by one interval at most`() {
    // A machine without a clock starts in 1970, beside a file of 2026.
    let reset = Instant(boot: 1000, wall: 5000)
    var schedule = Schedule(Self.daily, newest: Self.start.wall, at: reset)
    #expect(schedule.timeUntilDue(at: reset) == 0)
    schedule.noteStarted()
    schedule.noteMade(reset.wall, at: reset)
    #expect(schedule.timeUntilDue(at: reset) == Self.day)
    // Then the time service sets it.
    let set = Instant(boot: 2000, wall: Self.start.wall + Self.day)
    #expect(schedule.timeUntilDue(at: set) == 0)
    // A clock that is set back.
    var running = Schedule(Self.daily, newest: nil, at: Self.start)
    running.noteStarted()
    running.noteMade(Self.start.wall, at: Self.start)
    let back = Instant(boot: Self.start.boot + Self.day, wall: Self.start.wall - 5 * Self.day)
    #expect(running.timeUntilDue(at: back) == 0)
  }

  @Test func `a failed backup is overdue and tried again, after pauses that double up to an hour`()
  {
    var (schedule, now) = (Schedule(Self.daily, newest: nil, at: Self.start), Self.start)
    var pauses: [UInt64] = []
    for _ in 0..<9 {
      #expect(schedule.timeUntilDue(at: now) == 0)
      schedule.noteStarted()
      #expect(schedule.timeUntilDue(at: now) == nil && schedule.wakeAt(now) == nil)
      let pause = schedule.scheduleRetry(at: now)
      #expect(schedule.timeUntilDue(at: now) == pause && schedule.isOverdue(at: now))
      pauses.append(pause / 60_000)
      now = later(pause, now)
    }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    schedule.noteStarted()
    schedule.noteMade(now.wall, at: now)
    #expect(!schedule.isOverdue(at: now) && schedule.timeUntilDue(at: now) == Self.day)
    #expect(schedule.madeCount == 1 && schedule.failedCount == 9)
    #expect(schedule.ageOfNewest(at: later(7, now)) == 7)
  }

  @Test func `a backup that does not end is overdue after an hour, however old the one before is`()
  {
    for newest in [nil, Self.start.wall - 30 * Self.day] as [UInt64?] {
      var schedule = Schedule(Self.daily, newest: newest, at: Self.start)
      #expect(!schedule.isOverdue(at: Self.start))
      schedule.noteStarted()
      #expect(!schedule.isOverdue(at: later(3_600_000)))
      #expect(schedule.isOverdue(at: later(3_600_001)))
      let end = later(7_200_000)
      schedule.noteMade(Self.start.wall, at: end)
      #expect(!schedule.isOverdue(at: later(Self.day, end)))
    }
    let never = Schedule(.init(intervalMilliseconds: 0, keptCount: 3), newest: nil, at: Self.start)
    #expect(!never.isOverdue(at: later(10 * Self.day)))
  }

  @Test func `older backups that stay are noted until a later removal succeeds`() {
    var schedule = Schedule(Self.daily, newest: nil, at: Self.start)
    for isFailing in [true, true, false] {
      schedule.noteStarted()
      schedule.noteMade(Self.start.wall, at: Self.start, retentionFailed: isFailing)
      schedule.apply(Self.daily, newest: Self.start.wall, at: Self.start)
      #expect(schedule.retentionFailed == isFailing && !schedule.isOverdue(at: Self.start))
    }
  }

  @Test func `a reload changes the rules, and forgets neither a running backup nor the counts`() {
    var schedule = Schedule(Self.daily, newest: nil, at: Self.start)
    schedule.noteStarted()
    schedule.apply(.init(intervalMilliseconds: 60_000, keptCount: 1), newest: nil, at: Self.start)
    #expect(schedule.isRunning && schedule.timeUntilDue(at: Self.start) == nil)
    schedule.noteMade(Self.start.wall, at: Self.start)
    #expect(schedule.timeUntilDue(at: Self.start) == 60_000 && schedule.madeCount == 1)
  }

  /// A loop that asks at `wakeAt` misses no backup, and no backup comes early.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func `backups come once in an interval, whatever restarts and failures there are`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let every = UInt64.random(in: 1...(3 * 86_400), using: &random) * 1000
    let rules = Schedule.Rules(intervalMilliseconds: every, keptCount: 3)
    var now = Self.start
    var newest: UInt64?
    var schedule = Schedule(rules, newest: newest, at: now)
    for _ in 0..<200 {
      guard let wake = schedule.wakeAt(now) else {
        Issue.record("no time to wake, seed \(seed)")
        return
      }
      #expect(wake - now.boot <= Schedule.retryPauses.upperBound)
      now = later(wake - now.boot + UInt64.random(in: 0...5, using: &random), now)
      if Int.random(in: 0..<10, using: &random) == 0 {
        schedule = Schedule(rules, newest: newest, at: now)
      }
      guard schedule.timeUntilDue(at: now) == 0 else { continue }
      if let newest { #expect(now.wall - newest >= every) }
      schedule.noteStarted()
      if Bool.random(using: &random) {
        newest = now.wall
        schedule.noteMade(now.wall, at: now)
      } else {
        _ = schedule.scheduleRetry(at: now)
      }
    }
    #expect(newest != nil)
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `a name has its time, and every other name is left alone`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let seconds = Int.random(in: 0..<253_402_300_800, using: &random)
    let name = BackupFolder.name(ofSeconds: seconds)
    #expect(BackupFolder.seconds(of: name) == seconds)
    // Each octet that differs makes another time or no name of ours.
    var octets = Array(name.utf8)
    octets[Int.random(in: 0..<octets.count, using: &random)] = UInt8.random(
      in: 0x20...0x7E, using: &random)
    let other = String(decoding: octets, as: UTF8.self)
    if let found = BackupFolder.seconds(of: other) {
      #expect(BackupFolder.name(ofSeconds: found) == other)
    }
    for wrong in [
      name + "x", "x" + name, "navd-20260231T000000Z.db", "navd-20261126T240000Z.db",
      "navd-20261126T000000Z-7.db", "navd-.db", "", "journal.sqlite",
      "navd-20261126T000000Z.db.old",
    ] {
      #expect(BackupFolder.seconds(of: wrong) == nil, "\(wrong)")
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `the oldest beyond those kept go, never the newest, and nothing else`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let times = (0..<Int.random(in: 1..<12, using: &random)).map { _ in
      Int.random(in: 0..<2_000_000_000, using: &random)
    }
    let ours = Set(times.map { BackupFolder.name(ofSeconds: $0) })
    let others = ["navd-20261126T000000Z-7.db", "notes.txt", ".new", "journal.sqlite"]
    let newest = ours.randomElement(using: &random) ?? ""
    let keep = Int.random(in: 1...6, using: &random)
    let names = (Array(ours) + others).shuffled(using: &random)
    let expired = BackupFolder.namesToRemove(from: names, keeping: keep, newest: newest)
    // Later names neither count nor go.
    let counted = ours.filter { $0 <= newest }
    #expect(expired.count == max(0, counted.count - keep))
    #expect(counted.isSuperset(of: expired) && !expired.contains(newest))
    let stay = ours.subtracting(expired)
    for gone in expired { #expect(stay.allSatisfy { gone < $0 }) }
  }
}
