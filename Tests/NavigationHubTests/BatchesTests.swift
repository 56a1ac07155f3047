@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What the hub does with the rows of a batch that is rolled back.
private func takeRowsBack(of failed: Batch, in batches: inout Batches) {
  for change in failed.undo.reversed() {
    if case .row(let shard, let before) = change { batches.resetSequence(of: shard, to: before) }
  }
}

/// `Batches` against a list of lists of row numbers.
@Suite struct BatchesTests {
  private static let navs = Navs(seed: 1)

  private struct Run {
    static let shards = 3
    var batches = Batches(shards: shards)
    var navs = BatchesTests.navs
    var random: SeededGenerator
    /// The rows of the batches, oldest first; the last one is at hand.
    ///
    /// A row is the number of its shard and, below a million, its own.
    var rows: [[UInt64]] = [[]]
    var last = Array(repeating: UInt64(0), count: shards)
    var numbers: Set<UInt64> = []

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// What a commit to a nav notes.
    mutating func decide() {
      // Each nav is of a shard of its own.
      let number = Int(random.next() % UInt64(Self.shards))
      let slot = NavSlot(number)
      batches.noteChange(of: &navs[slot], slot)
      let row = batches.nextRow(of: Shard(number))
      batches.append(.serve(session: SessionSlot(number * 1_000_000 + Int(row))))
      navs[slot].lastSequence = row
      last[number] += 1
      #expect(row == last[number])
      rows[rows.count - 1].append(UInt64(number) * 1_000_000 + row)
      #expect(navs[slot].lastChangeBatch == batches.currentNumber)
      #expect(batches.current.changedNavs.count { $0.slot == slot } == 1)
    }

    mutating func seal() {
      guard batches.mayDecideDuringCommit else { return }
      batches.seal(navs)
      rows.append([])
    }

    mutating func release() {
      let wasSealed = batches.beginRelease()
      #expect(wasSealed == (rows.count > 1))
      #expect(Self.rows(of: batches.current) == rows[0])
      batches.endRelease(wasSealed: wasSealed)
      rows.removeFirst()
      if rows.isEmpty { rows = [[]] }
      #expect(!batches.isStorageFailing)
    }

    mutating func rollBack() {
      let failed = batches.rollBack()
      takeRowsBack(of: failed, in: &batches)
      #expect(Self.rows(of: failed) == rows.flatMap { $0 })
      for touched in failed.changedNavs { navs[touched.slot].lastSequence = touched.rowBefore }
      for row in rows.joined() { last[Int(row / 1_000_000)] -= 1 }
      rows = [[]]
      #expect(batches.isStorageFailing && !batches.mayDecideDuringCommit)
      #expect(navs.indices.allSatisfy { navs[$0].lastSequence == last[$0.number] })
    }

    static func rows(of batch: Batch) -> [UInt64] {
      batch.effects.compactMap {
        if case .serve(let session) = $0 { UInt64(session.number) } else { nil }
      }
    }
  }

  @Test(arguments: UInt64(1)...8)
  func `batches end in order, and a rollback takes all that are not durable`(seed: UInt64) {
    var run = Run(seed: seed)
    for _ in 0..<1500 {
      switch run.random.next() % 8 {
      case 0...3: run.decide()
      case 4: run.seal()
      case 5, 6: run.release()
      default: run.rollBack()
      }
      #expect((0..<Run.shards).map { run.batches.sequence(of: Shard($0)) } == run.last)
      #expect(run.batches.totalSequence == run.last.reduce(0, +))
      #expect(run.batches.sealed.count == run.rows.count - 1)
      #expect(Run.rows(of: run.batches.current) == run.rows.last)
      if run.rows == [[]] { #expect(run.batches.isIdle) }
      // Never the number of a batch that was sealed or ended.
      if run.batches.current.effects.isEmpty { run.numbers.insert(run.batches.currentNumber) }
    }
    #expect(run.numbers.max() == run.batches.currentNumber)
  }

  @Test func `a watch that waits for a standstill keeps batches from being sealed`() {
    var batches = Batches()
    batches.seal(Self.navs)
    batches.forbidSealing()
    #expect(!batches.mayDecideDuringCommit)
    let wasSealed = batches.beginRelease()
    batches.endRelease(wasSealed: wasSealed)
    #expect(!batches.mayDecideDuringCommit)
    batches.endRelease(wasSealed: batches.beginRelease())
    #expect(batches.mayDecideDuringCommit)
  }

  @Test func `an unsound batch is rolled back, and the next one lists its unsound ops`() {
    func op(_ number: UInt64) -> UnsoundOp {
      let client = ClientID(high: 0, low: number)
      return UnsoundOp(
        key: RememberedOps.Key(principal: "uid:0", client: client), op: number,
        violated: ["planted"])
    }
    var batches = Batches()
    for number: UInt64 in 1...3 {
      #expect(!batches.isUnsound)
      #expect(batches.unsoundOps.map(\.op) == Array(1..<number))
      _ = batches.nextRow(of: .first)
      batches.noteUnsound(op(number), Batch.ChangedNav(slot: NavSlot(2), rowBefore: 5))
      #expect(batches.isUnsound)
      let former = batches.currentNumber
      let failed = batches.takeUnsound()
      takeRowsBack(of: failed, in: &batches)
      #expect(failed.changedNavs.map(\.rowBefore) == [5])
      #expect(batches.unsoundOps.map(\.op) == Array(1...number))
      #expect(batches.totalSequence == 0 && batches.currentNumber > former)
      #expect(!batches.isStorageFailing && batches.mayDecideDuringCommit)
    }
    // A sound end of the batch forgets its unsound ops, and so does a full disk.
    batches.endRelease(wasSealed: batches.beginRelease())
    #expect(batches.unsoundOps.isEmpty)
    batches.noteUnsound(op(4), Batch.ChangedNav(slot: NavSlot(2), rowBefore: 5))
    _ = batches.rollBack()
    #expect(batches.unsoundOps.isEmpty && !batches.isUnsound)
  }

  @Test(arguments: 1...3)
  func `a batch gets the lists of one that has ended`(_ mostSealed: Int) {
    var batches = Batches()
    var ended = 0
    var storages: Set<UInt> = []
    for _ in 0..<20 {
      while batches.sealed.count < mostSealed {
        batches.current.undo += Array(repeating: .inFlight(session: SessionSlot(7)), count: 40)
        // As many batches as ever were under way have lists of their own; then they come back.
        let storage = unsafe batches.current.undo.withUnsafeBytes {
          UInt(bitPattern: $0.baseAddress)
        }
        let isNew = storages.insert(storage).inserted
        #expect(ended < mostSealed + 1 || !isNew)
        batches.seal(Self.navs)
      }
      let wasSealed = batches.beginRelease()
      #expect(wasSealed && batches.current.undo.count == 40)
      batches.endRelease(wasSealed: wasSealed)
      #expect(batches.current.undo.isEmpty)
      ended += 1
    }
  }

  @Test func `the records are taken once`() {
    var batches = Batches()
    let row = RowHeader(
      sequence: 1, nav: 1, revision: 1, previous: 0, time: 0, kind: .created, depth: 0, top: nil)
    batches.append(row, body: Span())
    #expect(!batches.isIdle)
    let (taken, again) = (batches.takeRecords(), batches.takeRecords())
    #expect(taken.count == 1 && again.isEmpty)
    batches.continueNumbering(after: 9, of: .first)
    #expect(batches.nextRow(of: .first) == 10)
    takeRowsBack(of: batches.rollBack(), in: &batches)
    #expect(batches.totalSequence == 9)
  }
}
