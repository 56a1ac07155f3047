import NavigationCore
import NavigationHub
import Testing

@testable import Journal

/// What retention decides for navs, as `Retention` and navd.conf(5) state it.
@Suite struct RetentionPlanTests {
  /// A second between two marks, each of which covers 110 rows.
  private static let ages = RowAges(
    countedMilliseconds: 100_000,
    samples: (1...95).map {
      RowAges.Sample(countedMilliseconds: $0 * 1_000, newestSequence: $0 * 110)
    })

  /// The age of a row by the list of marks.
  private static func age(of sequence: UInt64) -> UInt64 {
    ages.samples.first { $0.newestSequence >= sequence }.map {
      ages.countedMilliseconds - $0.countedMilliseconds
    } ?? 0
  }

  private static func plan(
    _ entries: [LedgerEntry], _ retention: Retention = retention, excess: Int = 0
  ) -> RetentionPlan {
    RetentionPlan(entries[...], retention, ages, excess: excess)
  }

  /// A nav with snapshots at rising revisions, as a journal with some history has it.
  private static func entry(_ nav: UInt64, _ random: inout SeededGenerator) -> LedgerEntry {
    var entry = LedgerEntry(nav: nav)
    entry.oldestSequence = UInt64.random(in: 1...10_000, using: &random)
    entry.bytes = Int.random(in: 0...50_000, using: &random)
    var revision = UInt64.random(in: 1...20, using: &random)
    for _ in 0..<Int.random(in: 0...5, using: &random) {
      entry.snapshots.append(
        LedgerEntry.Snapshot(
          revision: revision, sequence: entry.oldestSequence + revision, checksum: revision))
      revision += UInt64.random(in: 1...30, using: &random)
    }
    let covered = entry.snapshots.last?.revision ?? 0
    entry.headRevision = Bool.random(using: &random) || covered == 0 ? revision : covered
    entry.headSequence = entry.oldestSequence + entry.headRevision
    if entry.headRevision > covered {
      entry.firstUncovered = entry.oldestSequence + covered + 1
    }
    entry.hasWholeHistory = entry.snapshots.isEmpty || Bool.random(using: &random)
    entry.isClosed = Int.random(in: 0..<6, using: &random) == 0
    return entry
  }

  private static func entries(_ count: Int, seed: UInt64) -> [LedgerEntry] {
    var random = SeededGenerator(seed: seed)
    return (0..<count).map { entry(UInt64($0) + 1, &random) }
  }

  private static let retention = Retention(
    revisions: 40, milliseconds: 50_000, bytes: 0, revisionsPerSnapshot: 20,
    closedMilliseconds: 30_000)

  /// Whether the revisions below a snapshot are beyond what is kept: neither among the newest nor
  /// young.
  private static func isBeyond(_ snapshot: LedgerEntry.Snapshot, _ entry: LedgerEntry) -> Bool {
    entry.headRevision - snapshot.revision >= retention.revisions
      || age(of: snapshot.sequence) >= retention.milliseconds
  }

  @Test(arguments: 0..<25 as Range<UInt64>)
  func `the floor rises to the newest snapshot below which nothing is kept`(seed: UInt64) {
    let entries = Self.entries(40, seed: seed)
    let plan = Self.plan(entries)
    for entry in entries {
      let raised = plan.shortenedHistories.filter { $0.nav == entry.nav }
      #expect(raised.count <= 1)
      let wanted = entry.snapshots.last { Self.isBeyond($0, entry) }
      let rises = !entry.isClosed && (wanted?.revision ?? 0) > entry.floorRevision
      #expect(
        raised.first.map { entry.snapshots[$0.firstKeptSnapshot].revision }
          == (rises ? wanted : nil)?.revision)
    }
  }

  @Test(arguments: 0..<25 as Range<UInt64>)
  func `a nav needs a snapshot when too many or too old revisions have none`(seed: UInt64) {
    let entries = Self.entries(40, seed: seed)
    let plan = Self.plan(entries)
    let wanted = entries.filter { entry in
      guard !entry.isClosed, let first = entry.firstUncovered else { return false }
      let covered = entry.snapshots.last?.revision ?? 0
      return entry.headRevision - covered >= 20 || Self.age(of: first) >= 50_000 / 4
    }
    #expect(plan.needsSnapshot == wanted.map(\.nav))
  }

  @Test func `a closed nav is forgotten ten minutes after its end, and not before`() {
    #expect(Retention().closedMilliseconds == 600_000)
    var entry = LedgerEntry(nav: 3)
    (entry.isClosed, entry.headSequence, entry.firstUncovered) = (true, 7, 1)
    for (time, forgotten) in [(5_000, []), (604_999, []), (605_000, [3])] as [(UInt64, [UInt64])] {
      let ages = RowAges(
        countedMilliseconds: time,
        samples: [RowAges.Sample(countedMilliseconds: 5_000, newestSequence: 7)])
      let plan = RetentionPlan([entry], Retention(), ages, excess: 1 << 40)
      #expect(
        plan.forgotten == forgotten && plan.shortenedHistories.isEmpty && plan.needsSnapshot.isEmpty
      )
    }
  }

  @Test(arguments: 0..<25 as Range<UInt64>)
  func `where space is short the oldest history goes first, and no more than needed`(seed: UInt64) {
    let entries = Self.entries(30, seed: seed)
    var random = SeededGenerator(seed: seed)
    let excess = Int.random(in: 1...300_000, using: &random)
    let plain = Self.plan(entries)
    let plan = Self.plan(entries, excess: excess)
    // What the rules give up without pressure is given up with it, too.
    for (nav, keeping) in plain.shortenedHistories {
      #expect(plan.shortenedHistories.contains { $0.nav == nav && $0.firstKeptSnapshot == keeping })
    }
    func oldest(_ nav: UInt64) -> UInt64 { entries[Int(nav) - 1].oldestSequence }
    let pressed = plan.shortenedHistories.filter { raised in
      !plain.shortenedHistories.contains { $0.nav == raised.nav }
    }
    guard let youngest = pressed.map({ oldest($0.nav) }).max() else { return }
    for entry in entries where !entry.isClosed && entry.oldestSequence < youngest {
      let canRise = entry.snapshots.contains { $0.revision > entry.floorRevision }
      #expect(
        !canRise || plan.shortenedHistories.contains { $0.nav == entry.nav }, "nav \(entry.nav)")
    }
    // Without the youngest of them, the others would not free enough.
    let freed = plan.shortenedHistories.filter { oldest($0.nav) < youngest }.map { raised in
      let entry = entries[Int(raised.nav) - 1]
      let all = Double(max(1, entry.headRevision - entry.floorRevision))
      let gone = entry.snapshots[raised.firstKeptSnapshot].revision - entry.floorRevision
      return Int(Double(entry.bytes) * Double(gone) / all)
    }
    #expect(freed.reduce(0, +) < excess)
  }

  @Test func `where space is short a nav without a snapshot to cut at is asked for one`() {
    var entry = LedgerEntry(nav: 5)
    (entry.headRevision, entry.firstUncovered, entry.bytes) = (3, 20_000, 1_000)
    func asked(_ excess: Int) -> [UInt64] { Self.plan([entry], excess: excess).needsSnapshot }
    #expect(asked(0).isEmpty && asked(1) == [5])
    entry.firstUncovered = nil
    #expect(asked(1).isEmpty)
  }

  @Test func `one plan forgets 64 navs and asks for 64 snapshots at most`() {
    let closed = (1...100).map { number in
      var entry = LedgerEntry(nav: UInt64(number))
      entry.isClosed = true
      return entry
    }
    let open = (101...200).reversed().map { number in
      var entry = LedgerEntry(nav: UInt64(number))
      (entry.headRevision, entry.firstUncovered) = (1_000, 1)
      return entry
    }
    let plan = Self.plan(closed + open)
    #expect(plan.forgotten == Array(1...64))
    #expect(plan.needsSnapshot == Array(137...200))
  }

  @Test func `a row that no mark covers has no age`() {
    var entry = LedgerEntry(nav: 1)
    (entry.headRevision, entry.headSequence, entry.firstUncovered) = (5, 11_005, 11_005)
    entry.snapshots = [LedgerEntry.Snapshot(revision: 4, sequence: 11_004, checksum: 0)]
    let open = Self.plan([entry])
    entry.isClosed = true
    #expect(
      open.shortenedHistories.isEmpty && open.needsSnapshot.isEmpty
        && Self.plan([entry]).forgotten.isEmpty)
  }
}

/// The search for rows to delete, against sets of sequences.
@Suite struct PruningTests {
  @Test(arguments: 0..<15 as Range<UInt64>)
  func `what was included is in the search until it is passed`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var pruning = Pruning()
    var wanted: Set<UInt64> = []
    for _ in 0..<100 {
      if Bool.random(using: &random) {
        let first = UInt64.random(in: 1...500, using: &random)
        let last = first + UInt64.random(in: 0...20, using: &random)
        pruning.include(first, last)
        wanted.formUnion(first...last)
      } else if pruning.isActive {
        // A slice passes over the next sequences.
        let next =
          min(
            pruning.lastSequence, pruning.nextSequence + UInt64.random(in: 0...40, using: &random))
          + 1
        wanted = wanted.filter { $0 >= next }
        pruning.nextSequence = next
      }
      #expect(pruning.isActive || wanted.isEmpty)
      #expect(wanted.allSatisfy { $0 >= pruning.nextSequence && $0 <= pruning.lastSequence })
      if let (first, last) = wanted.min().flatMap({ low in wanted.max().map { (low, $0) } }) {
        #expect(pruning.nextSequence <= first && pruning.lastSequence >= last)
      }
    }
    pruning.include(9, 8)
    let before = (pruning.nextSequence, pruning.lastSequence)
    pruning.include(.max, 0)
    #expect(before == (pruning.nextSequence, pruning.lastSequence))
  }

  @Test func `a slice takes each sequence within it once, and no more than its budget`() {
    var slice = PruningSlice(nextSequence: 10, lastSequence: 20, rowBudget: 3)
    func row(_ sequence: UInt64) -> RowHeader {
      RowHeader(
        sequence: sequence, nav: 1, revision: 1, previous: 0, time: 0, kind: .changed, depth: 0,
        top: nil)
    }
    let answers = [9, 10, 10, 12, 11, 21, 20, 13].map { slice.spendBudget(on: row($0)) }
    #expect(answers == [false, true, false, true, false, false, true, false])
    #expect(slice.isDone && slice.rowBudget == 0 && slice.nextSequence == 21)
    var empty = PruningSlice(nextSequence: 5, lastSequence: 4, rowBudget: 10)
    let taken = empty.spendBudget(on: row(5))
    #expect(empty.isDone && !taken)
  }
}
