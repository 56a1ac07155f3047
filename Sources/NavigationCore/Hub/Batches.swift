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

  /// Whether the batch at hand may be sealed.
  var maySeal: Bool { !wantsStandstill && !isStorageFailing }

  /// Whether nothing was decided since the last commit.
  var isIdle: Bool { sealed.isEmpty && current.records.isEmpty && current.effects.isEmpty }

  /// Adds an output that waits for the commit.
  mutating func append(_ effect: Batch.Effect) { current.effects.append(effect) }

  /// Adds a row, with a copy of its body, to be made durable.
  mutating func append(_ row: consuming RowHeader, body: Span<UInt8>) {
    current.records.append(row, body: body)
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
    sealed.append(begin())
  }

  /// Makes the oldest sealed batch, which is durable, the batch at hand while its effects are
  /// released.
  ///
  /// Returns the former batch at hand, for `endRelease`. Returns nil if none was sealed: then the
  /// batch at hand itself is durable.
  mutating func beginRelease() -> Batch? {
    precondition(!sealed.isEmpty || !current.isUnsound, "an unsound batch is released")
    isStorageFailing = false
    guard !sealed.isEmpty else { return nil }
    let next = current
    current = sealed.removeFirst()
    return next
  }

  /// Continues with the batch that `beginRelease` returned, or begins a new one.
  mutating func endRelease(_ next: Batch?) {
    guard let next else {
      assert(sealed.isEmpty, "\(sealed.count) batches behind the last one")
      wantsStandstill = false
      begin()
      return
    }
    current = next
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
    begin()
    return failed
  }

  /// Begins the next batch, and returns the batch that was at hand.
  @discardableResult
  private mutating func begin() -> Batch {
    var former = Batch()
    swap(&former, &current)
    number += 1
    // Once the records are taken, there is room for the next ones.
    if former.records.isEmpty { swap(&former.records, &current.records) }
    // A large batch is likely to be followed by another, so room is reserved for it at once.
    guard former.effects.count > 1 else { return former }
    let capacity = min(former.effects.count, 64)
    current.effects.reserveCapacity(capacity)
    current.remembrances.reserveCapacity(capacity)
    current.answering.reserveCapacity(capacity)
    return former
  }
}
