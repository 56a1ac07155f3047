/// Everything that the hub decided between two commits, and what a rollback of it needs.
struct Batch: Sendable {
  /// An output that the hub holds back until the records of the batch are durable.
  enum Effect: Sendable {
    /// A message to one connection.
    case send(ConnectionID, ServerVerb, [UInt8], Outcome)
    /// An answer that reports a revision of a nav; the diffs of the requester's own watch go first.
    case answer(ConnectionID, session: Int?, nav: Int, [UInt8], Outcome)
    /// Begins to serve a watch.
    case start(watch: Int)
    /// Serves the watches of a session, which may have credit again.
    case pump(session: Int)
    /// An event without revision, for the watches that have got all durable diffs of the nav.
    case event(nav: Int, [UInt8])
    /// A read of the history, for an op that waits for it.
    case read(HistoryRequest)
    /// A backup, for a client that waits for it.
    case backup
    /// The progress of a gesture; within a batch only the newest one is kept.
    case progress(nav: Int, [UInt8])
    /// Ends the watches of a closed nav, and frees its slot.
    case closed(nav: Int)
    /// A session ended and its connection gets nothing after the `bye`.
    case ended(ConnectionID)
    /// Ends the watches of sessions that lost the right to read, because the access rules changed.
    case recheck
    /// A log entry, written when the batch is durable.
    case notice(Notice)
  }

  struct Remembrance: Sendable {
    var key: RememberedOps.Key
    var op: UInt64
    var evicted: RememberedOps.Entry?
  }

  /// An op whose commit broke an invariant of its nav.
  struct CondemnedOp: Sendable {
    var key: RememberedOps.Key
    var op: UInt64
    /// The nav's slot, whose state is unsound until it is reloaded.
    var slot: Int
    var violated: [String]
  }

  /// The number of clients' messages that the batch handled.
  var messages = 0
  var records = JournalRecords()
  var effects: [Effect] = []
  /// A nav that the batch changed.
  struct Touched: Sendable {
    var slot: Int
    /// The nav's newest row before the batch.
    var rowBefore: UInt64
    /// The nav's revision at the end of the batch; nil until the batch is sealed.
    var revision: Revision?
  }

  /// The changed navs, in the order of their first change.
  var touched: [Touched] = []
  /// The slots of the navs that the batch created, and of those that it closed.
  var created: [Int] = []
  var closed: [Int] = []
  var remembrances: [Remembrance] = []
  /// The coordinations that the batch changed, as they were before it, by the nav's slot.
  var coordinationsBefore: [Int: Coordination] = [:]
  /// The session of each op that counts as in flight until the batch is durable.
  var answering: [Int] = []
  /// The tokens of the reads for which ops began to wait.
  var waiting: [UInt64] = []
  /// The session of each malformed message that was counted.
  var malformed: [Int] = []
  /// The reads that were answered, to be put back by a rollback.
  var finishedReads: [(token: UInt64, read: PendingRead)] = []
  var sequenceBefore: UInt64?
  /// The backup that ended, to be put back by a rollback.
  var finishedBackup: PendingBackup?
  /// The ops whose commits broke an invariant; they are refused when the batch is decided again.
  private(set) var condemned: [CondemnedOp] = []
  /// Whether one of them was found in this batch, which must be decided again.
  private(set) var isUnsound = false
  /// The navs that were frozen by what the batch would have made of them.
  var frozen: [Int] = []
  /// Whether `$clients` may have changed.
  var changedClients = false

  /// Whether the batch begins a backup.
  var beginsBackup: Bool {
    effects.contains { if case .backup = $0 { true } else { false } }
  }

  /// Why an op is refused that was decided before; nil if it was not, or its commit was sound.
  func condemnation(of op: OpContext) -> CondemnedOp? {
    condemned.first { $0.op == op.request.id && $0.key == op.key }
  }

  /// Notes an op whose commit broke an invariant.
  mutating func condemn(_ op: CondemnedOp) {
    assert(!op.violated.isEmpty, "op \(op.op) broke nothing")
    condemned.append(op)
    isUnsound = true
  }

  /// Takes over what was noted when the events of the batch were decided before.
  mutating func refuse(_ condemned: [CondemnedOp]) {
    assert(self.condemned.isEmpty && !isUnsound, "a batch that has begun")
    self.condemned = condemned
  }

  /// Empties the batch, but keeps the memory of the lists that each op lengthens.
  mutating func clear() {
    var empty = Batch()
    if records.isEmpty { swap(&empty.records, &records) }
    swap(&empty.effects, &effects)
    swap(&empty.touched, &touched)
    swap(&empty.remembrances, &remembrances)
    swap(&empty.answering, &answering)
    empty.effects.removeAll(keepingCapacity: true)
    empty.touched.removeAll(keepingCapacity: true)
    empty.remembrances.removeAll(keepingCapacity: true)
    empty.answering.removeAll(keepingCapacity: true)
    self = empty
  }

  /// Appends the next batch to this one, to roll both back together.
  mutating func absorb(_ next: Batch) {
    assert(sequenceBefore ?? 0 <= next.sequenceBefore ?? .max, "an earlier batch joins")
    remembrances += next.remembrances
    coordinationsBefore.merge(next.coordinationsBefore) { first, _ in first }
    created += next.created
    closed += next.closed
    answering += next.answering
    waiting += next.waiting
    malformed += next.malformed
    finishedReads += next.finishedReads
    condemned += next.condemned
    isUnsound = isUnsound || next.isUnsound
    frozen += next.frozen
    finishedBackup = finishedBackup ?? next.finishedBackup
    effects += next.effects
    let known = Set(touched.map(\.slot))
    touched += next.touched.filter { !known.contains($0.slot) }
    if sequenceBefore == nil { sequenceBefore = next.sequenceBefore }
    assert(Set(touched.map(\.slot)).count == touched.count, "a nav is touched twice")
  }
}
