/// The sealed batches, which are being made durable, and the batch at hand.
///
/// Laws:
/// - `number` grows with each batch begun, so no two batches have the same number.
/// - `sequence` grows by one with each row. `rollBack` sets it back to its value before the oldest
///   batch, and `replay` to a row of the journal.
/// - No batch is sealed while the journal takes no commits, or while a watch waits for a state of
///   which everything is durable.
///
/// The hub notes its decisions in `current`; only this value begins, seals and ends a batch.
struct Batches: Sendable {
  /// The batch at hand, which takes the hub's decisions.
  var current = Batch()
  /// The batches that are being made durable, oldest first.
  private(set) var sealed: [Batch] = []
  /// The number of the batch at hand, counted from the start of the daemon.
  private(set) var number: UInt64 = 1
  /// The number of the newest row, durable or not.
  private(set) var sequence: UInt64 = 0
  /// Whether the last commit failed, so that the journal counts as taking no records.
  private(set) var isStorageFailing = false
  private var wantsStandstill = false
  /// An empty batch with the memory of one that has ended, or during a release the batch at hand.
  private var spare = Batch()

  /// Whether the batch at hand may be sealed.
  var maySeal: Bool { !wantsStandstill && !isStorageFailing }

  /// Whether nothing was decided since the last commit.
  var isIdle: Bool { sealed.isEmpty && current.records.isEmpty && current.effects.isEmpty }

  /// Adds an output that waits for the commit.
  mutating func append(_ effect: consuming Batch.Effect) { current.effects.append(effect) }

  /// Adds a row, with a copy of its body, to be made durable.
  mutating func append(_ row: consuming RowHeader, body: Span<UInt8>) {
    current.records.append(consume row, body: body)
  }

  /// Adds a snapshot to be made durable.
  mutating func append(_ snapshot: SnapshotRow) { current.records.append(snapshot) }

  /// Notes that a nav is about to change in this batch.
  mutating func touch(_ entry: inout NavEntry, _ slot: Int) {
    guard entry.touchedBy != number else { return }
    assert(entry.touchedBy < number, "touched by batch \(entry.touchedBy) before \(number)")
    entry.touchedBy = number
    current.touched.append(Batch.Touched(slot: slot, rowBefore: entry.lastSequence))
  }

  /// Counts one more row, whose number is then `sequence`.
  mutating func advance() {
    if current.sequenceBefore == nil { current.sequenceBefore = sequence }
    sequence += 1
    assert(current.sequenceBefore ?? .max < sequence)
  }

  /// Continues the numbers behind a row that the journal already has.
  mutating func replay(through row: UInt64) {
    assert(sealed.isEmpty && current.sequenceBefore == nil, "row \(row) is replayed among new ones")
    sequence = row
  }

  /// Forbids sealing until everything is durable, because a watch waits for that.
  mutating func requestStandstill() { wantsStandstill = true }

  /// Takes the records of the batch at hand out, to be made durable together.
  mutating func takeRecords() -> JournalRecords {
    precondition(!current.isUnsound, "records of a batch that must be decided again")
    guard !current.records.isEmpty else { return JournalRecords() }
    // Batches of about the same size tend to follow each other.
    var records = JournalRecords(like: current.records)
    swap(&records, &current.records)
    return records
  }

  /// Seals the batch at hand, whose records must have been taken.
  ///
  /// - Parameters:
  ///   - coordinations: the coordinations that the batch changed, as they were before it.
  ///   - navs: the navs at the end of the batch.
  mutating func seal(_ coordinations: [Int: Coordination], _ navs: Slots<NavEntry>) {
    precondition(maySeal && current.records.isEmpty, "a batch that may not be sealed, or not taken")
    assert(current.coordinationsBefore.isEmpty, "the batch at hand was sealed before")
    for index in current.touched.indices where navs.isLive(current.touched[index].slot) {
      current.touched[index].revision = navs[current.touched[index].slot].controller.revision
    }
    current.coordinationsBefore = coordinations
    var sealing = Batch()
    swap(&sealing, &spare)
    swap(&sealing, &current)
    // The room for the next records stays here.
    swap(&sealing.records, &current.records)
    sealed.append(sealing)
    number += 1
  }

  /// Makes the oldest sealed batch, which is durable, the batch at hand while its effects are
  /// released.
  ///
  /// Returns false if none was sealed: then the batch at hand itself is durable.
  mutating func beginRelease() -> Bool {
    precondition(!sealed.isEmpty || !current.isUnsound, "an unsound batch is released")
    isStorageFailing = false
    guard !sealed.isEmpty else { return false }
    swap(&current, &spare)
    assert(current.effects.isEmpty && current.touched.isEmpty, "a spare batch with contents")
    current = sealed.removeFirst()
    return true
  }

  /// Ends the release that `beginRelease` began.
  ///
  /// If the released batch was sealed, the batch that was at hand before is at hand again.
  /// Otherwise a new batch begins. `wasSealed` is the result of `beginRelease`.
  mutating func endRelease(wasSealed: Bool) {
    // The lists of a batch keep their memory: to grow them in each batch takes 500 instructions of
    // an op.
    current.clear()
    guard !wasSealed else { return swap(&current, &spare) }
    assert(sealed.isEmpty, "\(sealed.count) batches behind the last one")
    wantsStandstill = false
    number += 1
  }

  /// Notes an op whose commit broke an invariant; the batch at hand must be decided again.
  mutating func condemn(_ op: Batch.CondemnedOp) { current.condemn(op) }

  /// Removes and returns all batches that are not durable, joined into one.
  ///
  /// From then on the journal counts as failing, until a commit succeeds.
  mutating func rollBack() -> Batch {
    isStorageFailing = true
    return takeBack()
  }

  /// Takes out the batch at hand, the only one, to be decided again without the ops that it condemns.
  mutating func rollBackUnsound() -> Batch {
    precondition(sealed.isEmpty, "\(sealed.count) batches are not durable")
    let failed = takeBack()
    assert(failed.isUnsound, "a sound batch is decided again")
    current.refuse(failed.condemned)
    return failed
  }

  private mutating func takeBack() -> Batch {
    var failed = sealed.first ?? current
    for next in sealed.dropFirst() { failed.absorb(next) }
    if !sealed.isEmpty { failed.absorb(current) }
    sealed = []
    if let before = failed.sequenceBefore {
      assert(before < sequence, "row \(before) before row \(sequence)")
      sequence = before
    }
    current = Batch()
    number += 1
    return failed
  }
}
