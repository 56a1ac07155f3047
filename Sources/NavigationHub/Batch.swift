import Navigation
import NavigationProtocol

/// Everything that the hub decided between two commits, and what a rollback of it needs.
struct Batch: Sendable {
  /// An effect that waits for the records to be durable.
  enum Effect: Sendable {
    /// A message to one connection.
    case send(ConnectionID, ServerVerb, [UInt8], Outcome)
    /// An answer that reports a revision of a nav; the diffs of the requester's own watch go first.
    case answer(ConnectionID, session: Int?, nav: Int, [UInt8], Outcome)
    /// A watch may begin.
    case start(watch: Int)
    /// A session may have room again.
    case pump(session: Int)
    /// An event without revision, to the watches that are caught up.
    case event(nav: Int, [UInt8])
    /// A read of the history that an op waits for.
    case read(HistoryRequest)
    /// A copy of the journal that a client waits for.
    case backup
    /// An event of which only the last counts.
    case progress(nav: Int, [UInt8])
    /// A nav is gone.
    case closed(nav: Int)
    /// A session is over, with a last word.
    case ended(ConnectionID)
    /// Rights have changed, and watches may have lost theirs.
    case recheck
    /// A log entry about what is durable then.
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

  /// The messages of clients it came from.
  var messages = 0
  var records: [JournalRecord] = []
  var effects: [Effect] = []
  /// A nav that was changed.
  struct Touched: Sendable {
    var slot: Int
    /// Its last durable row before.
    var rowBefore: UInt64
    /// The revision that the batch made, once it is sealed.
    var revision: Revision?
  }

  /// The navs changed, in the order of their first change.
  var touched: [Touched] = []
  /// The navs created and closed.
  var created: [Int] = []
  var closed: [Int] = []
  var remembrances: [Remembrance] = []
  /// The coordinations as they were before the batch, of the navs whose changed.
  var coordinationsBefore: [Int: Coordination] = [:]
  /// The session of each op that counts as in flight.
  var answering: [Int] = []
  /// The ops that began to wait for the history.
  var waiting: [UInt64] = []
  /// The sessions whose malformed messages were counted.
  var malformed: [Int] = []
  /// The reads that were answered, should the answer have to come again.
  var finishedReads: [(token: UInt64, read: PendingRead)] = []
  var sequenceBefore: UInt64?
  /// The backup that was answered, should the answer have to come again.
  var finishedBackup: PendingBackup?
  /// The ops whose commits broke an invariant; they are refused when the batch is decided again.
  private(set) var condemned: [CondemnedOp] = []
  /// Whether one of them was found in this batch, which must be decided again.
  private(set) var isUnsound = false
  /// The navs that were frozen by what the batch would have made of them.
  var frozen: [Int] = []
  /// Whether `$clients` may have changed.
  var changedClients = false

  /// Whether the batch asks for a copy of the journal.
  var beginsBackup: Bool {
    effects.contains { if case .backup = $0 { true } else { false } }
  }

  /// Why an op is refused that was decided before; nil if it was not, or its commit was sound.
  func condemnation(of op: OpContext) -> CondemnedOp? {
    condemned.first { $0.op == op.request.id && $0.key == op.key }
  }

  /// Notes an op whose commit broke an invariant.
  mutating func condemn(_ op: CondemnedOp) {
    condemned.append(op)
    isUnsound = true
  }

  /// Takes over what was noted when the events of the batch were decided before.
  mutating func refuse(_ condemned: [CondemnedOp]) { self.condemned = condemned }

  /// Joins the next batch, to be rolled back together.
  mutating func absorb(_ next: Batch) {
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
  }
}
