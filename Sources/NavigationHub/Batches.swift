import Navigation
import NavigationProtocol

/// The batches, oldest first: those that are being made durable, and the one at hand.
///
/// Laws:
/// - `number` grows with each batch begun, so a batch's number is never seen again.
/// - `sequence` counts up by one, but for `rollBack`, which goes back to where the oldest batch began.
/// - No batch is sealed while the journal takes no commit, or while a watch waits for a standstill.
///
/// The hub notes into `current` what it decides; only this value begins, seals and ends a batch.
struct Batches: Sendable {
  /// The batch at hand.
  var current = Batch()
  /// The batches before, while they are being made durable.
  private(set) var sealed: [Batch] = []
  /// Counts the batches begun.
  private(set) var number: UInt64 = 1
  /// The number of the last row.
  private(set) var sequence: UInt64 = 0
  /// Whether the journal takes no records at the moment.
  private(set) var isStorageFailing = false
  private var wantsStandstill = false

  /// Whether the batch at hand may be sealed.
  var maySeal: Bool { !wantsStandstill && !isStorageFailing }

  /// Whether nothing was decided since the last commit.
  var isIdle: Bool { sealed.isEmpty && current.records.isEmpty && current.effects.isEmpty }

  /// Adds what waits for the commit.
  mutating func append(_ effect: Batch.Effect) { current.effects.append(effect) }

  /// Adds a row or snapshot to be made durable.
  mutating func append(_ record: JournalRecord) { current.records.append(record) }

  /// Notes that a nav is about to change in this batch.
  mutating func touch(_ entry: inout NavEntry, _ slot: Int) {
    guard entry.touchedBy != number else { return }
    assert(entry.touchedBy < number, "touched by batch \(entry.touchedBy) before \(number)")
    entry.touchedBy = number
    current.touched.append(Batch.Touched(slot: slot, rowBefore: entry.lastSequence))
  }

  /// Counts the next row.
  mutating func advance() {
    if current.sequenceBefore == nil { current.sequenceBefore = sequence }
    sequence += 1
  }

  /// Goes on behind a row that the journal has.
  mutating func replay(through row: UInt64) {
    assert(sealed.isEmpty && current.sequenceBefore == nil, "row \(row) is replayed among new ones")
    sequence = row
  }

  /// No batch is sealed until everything is durable, which a watch waits for.
  mutating func requestStandstill() { wantsStandstill = true }

  /// The records of the batch at hand, to be made durable together.
  mutating func takeRecords() -> [JournalRecord] {
    let records = current.records
    current.records = []
    // Where several came, several come.
    if records.count > 1 { current.records.reserveCapacity(records.count) }
    return records
  }

  /// Closes the batch at hand, whose records were all taken.
  ///
  /// - Parameters:
  ///   - coordinations: what the coordinations were before the batch, of those that it changed.
  ///   - navs: the navs as the batch leaves them.
  mutating func seal(_ coordinations: [Int: Coordination], _ navs: Slots<NavEntry>) {
    precondition(maySeal && current.records.isEmpty, "a batch that may not be sealed, or not taken")
    assert(current.coordinationsBefore.isEmpty, "the batch at hand was sealed before")
    for index in current.touched.indices where navs.isLive(current.touched[index].slot) {
      current.touched[index].revision = navs[current.touched[index].slot].controller.revision
    }
    current.coordinationsBefore = coordinations
    sealed.append(current)
    begin()
  }

  /// Makes the oldest batch, which is durable, the one at hand, for as long as its effects are
  /// released; returns the one to go on with.
  mutating func beginRelease() -> Batch? {
    isStorageFailing = false
    guard !sealed.isEmpty else { return nil }
    let next = current
    current = sealed.removeFirst()
    return next
  }

  /// Goes on with the batch that `beginRelease` returned, or with a new one.
  mutating func endRelease(_ next: Batch?) {
    guard let next else {
      assert(sealed.isEmpty, "\(sealed.count) batches behind the last one")
      wantsStandstill = false
      return begin()
    }
    current = next
  }

  /// Notes an op whose commit broke an invariant; the batch at hand must be decided again.
  mutating func condemn(_ op: Batch.CondemnedOp) { current.condemn(op) }

  /// Takes out everything that is not durable, as one batch; from then on the journal takes no
  /// records until a commit succeeds.
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

  private mutating func begin() {
    let former = current.effects.count
    current = Batch()
    number += 1
    // A large batch is followed by another one; what it had room for is not grown step by step.
    guard former > 1 else { return }
    let capacity = min(former, 64)
    current.effects.reserveCapacity(capacity)
    current.remembrances.reserveCapacity(capacity)
    current.answering.reserveCapacity(capacity)
  }
}
