import NavigationCore

/// The sealed batches, which are being made durable, and the batch at hand.
///
/// Laws:
/// - `currentNumber` grows with each batch begun, so no two batches have the same number.
/// - The sequence of a shard grows by one with each row of the shard. `rollBack` sets it back to
///   its value before the oldest batch, and `continueNumbering` to the journal's newest row.
/// - No batch is sealed while commits fail, or while a watch waits until everything is durable.
///
/// The hub adds its decisions to `current`; only this type begins, seals and ends a batch.
struct Batches: Sendable {
  /// The batch at hand, to which the hub adds its decisions.
  var current = Batch()
  /// The batches that are being made durable, oldest first.
  private(set) var sealed: [Batch] = []
  /// The number of the batch at hand, counted from the start of the daemon.
  private(set) var currentNumber: UInt64 = 1
  /// The number of the newest row of each shard, durable or not.
  private var newestRowNumbers: [UInt64]
  /// For each shard, the number of the newest batch that added a row.
  private var newestRowBatches: [UInt64]
  /// The number of the newest batch that changed a delegate role, a question, a queue or a display
  /// lease.
  private var lastCoordinationBatch: UInt64 = 0
  /// Whether the last commit failed; the hub then refuses every change.
  private(set) var isStorageFailing = false
  private var forbidsSealing = false
  /// The cost of the events so far; a cost of 1 is the time of writing one octet of JSON.
  var eventCost = 0
  /// Emptied batches, whose lists keep their memory for the next batches.
  ///
  /// To use an ended batch again saves the allocation of its lists, 500 instructions an op.
  private var reusableBatches: [Batch] = []
  /// The batch at hand while an older, sealed one is released; empty otherwise.
  private var suspendedBatch = Batch()
  /// The ops whose commits broke an invariant.
  ///
  /// The hub handles the events of the batch again, and refuses these ops.
  private(set) var unsoundOps: [UnsoundOp] = []
  /// Whether an op of the batch at hand broke an invariant, so that the hub must roll the batch
  /// back and handle its events again.
  private(set) var isUnsound = false

  init(shards: Int = 1) {
    newestRowNumbers = Array(repeating: 0, count: shards)
    newestRowBatches = newestRowNumbers
  }

  func sequence(of shard: Shard) -> UInt64 { newestRowNumbers[shard.number] }

  /// The newest row numbers of all shards, added up.
  var totalSequence: UInt64 { newestRowNumbers.reduce(0, +) }

  /// Whether ops may be decided while this batch is being made durable.
  var mayDecideDuringCommit: Bool { !forbidsSealing && !isStorageFailing }

  /// Whether a batch that is not durable yet changes a nav.
  func haveChanged(_ entry: NavEntry) -> Bool {
    entry.lastChangeBatch + UInt64(sealed.count) >= currentNumber
  }

  /// Whether a sealed batch changes a nav or its coordination.
  func sealedBatchesChange(_ slot: NavSlot, _ entry: NavEntry) -> Bool {
    haveChanged(entry)
      || lastCoordinationBatch + UInt64(sealed.count) >= currentNumber
        && sealed.contains { $0.changesCoordination(at: slot) }
  }

  /// Whether nothing was decided since the last commit.
  var isIdle: Bool { sealed.isEmpty && current.isEmpty }

  /// Whether every change of a nav is durable.
  var changeNoNav: Bool {
    sealed.isEmpty && current.records.isEmpty && current.changedNavs.isEmpty
  }

  /// Adds a change to the list of changes that a rollback undoes.
  mutating func note(_ change: consuming Undo) { current.undo.append(change) }

  /// Keeps the newest op of a session counted as in flight after the commit, because the op still
  /// waits for the history.
  mutating func keepOpInFlight(_ session: SessionSlot) {
    let index = current.undo.lastIndex { if case .inFlight(session) = $0 { true } else { false } }
    if let index { current.undo.remove(at: index) }
  }

  mutating func append(_ effect: consuming Batch.Effect) {
    eventCost += effect.messageOctets
    current.effects.append(effect)
  }

  /// Adds a row, with a copy of its body, to be made durable.
  @inline(__always)
  mutating func append(_ row: consuming RowHeader, body: Span<UInt8>) {
    eventCost += body.count
    current.records.append(consume row, body: body)
  }

  mutating func append(_ snapshot: SnapshotRow) { current.records.append(snapshot) }

  /// Adds a nav, which is about to change, to the changed navs of the batch.
  mutating func noteChange(of entry: inout NavEntry, _ slot: NavSlot) {
    guard entry.lastChangeBatch != currentNumber else { return }
    assert(
      entry.lastChangeBatch < currentNumber,
      "changed by batch \(entry.lastChangeBatch) before \(currentNumber)")
    entry.lastChangeBatch = currentNumber
    current.changedNavs.append(Batch.ChangedNav(slot: slot, rowBefore: entry.lastSequence))
  }

  /// Keeps the coordination of a nav for a rollback, before its first change in this batch.
  mutating func noteFormer(_ coordination: inout Coordination, _ slot: NavSlot) {
    guard coordination.lastChangeBatch != currentNumber else { return }
    coordination.lastChangeBatch = currentNumber
    lastCoordinationBatch = currentNumber
    note(.coordination(slot, before: coordination))
  }

  /// Counts one more row of a shard; returns its number.
  mutating func nextRow(of shard: Shard) -> UInt64 {
    if newestRowBatches[shard.number] != currentNumber {
      newestRowBatches[shard.number] = currentNumber
      note(.row(shard, before: newestRowNumbers[shard.number]))
    }
    newestRowNumbers[shard.number] += 1
    return newestRowNumbers[shard.number]
  }

  /// Makes the next row of a shard follow `row`, the newest one in the journal.
  mutating func continueNumbering(after row: UInt64, of shard: Shard) {
    assert(
      !current.undo.contains { $0.concerns([shard], []) } && sealed.isEmpty,
      "row \(row) is replayed among new ones")
    newestRowNumbers[shard.number] = row
  }

  /// Sets the number of the newest row of a shard back to `row`, in a rollback.
  mutating func resetSequence(of shard: Shard, to row: UInt64) {
    assert(row < sequence(of: shard), "row \(row) before row \(sequence(of: shard))")
    newestRowNumbers[shard.number] = row
  }

  /// Removes the undo entries of shards that move to another daemon, and of navs whose slots may be
  /// reused before a rollback.
  ///
  /// The row numbers of these shards stay, so that `totalSequence` never falls.
  mutating func forget(_ shards: Set<Shard>, _ slots: Set<NavSlot>) {
    current.undo.removeAll { $0.concerns(shards, slots) }
  }

  /// Forbids sealing until everything is durable, because a watch waits for a snapshot.
  mutating func forbidSealing() { forbidsSealing = true }

  /// Removes and returns the records of the batch at hand, to be made durable together.
  mutating func takeRecords() -> JournalRecords {
    precondition(!isUnsound, "records of a batch that must be decided again")
    guard !current.records.isEmpty else { return JournalRecords() }
    // Batches of about the same size tend to follow each other.
    var records = JournalRecords(like: current.records)
    swap(&records, &current.records)
    return records
  }

  /// Seals the batch at hand, whose records must have been taken.
  mutating func seal(_ navs: borrowing Navs) {
    precondition(
      mayDecideDuringCommit && current.records.isEmpty, "a batch that is not to be sealed")
    let keepsHeads = navs.keepsRecords(Navs.headsSlot)
    for index in current.changedNavs.indices where navs.isLive(current.changedNavs[index].slot) {
      let slot = current.changedNavs[index].slot
      current.changedNavs[index].finalRevision = navs[slot].controller.revision
      if keepsHeads { current.changedNavs[index].finalHead = NavHead(navs[slot]) }
    }
    unsoundOps = []
    var sealing = reusableBatches.popLast() ?? Batch()
    swap(&sealing, &current)
    // The room for the next records stays here.
    swap(&sealing.records, &current.records)
    sealed.append(consume sealing)
    currentNumber += 1
  }

  /// Makes the oldest sealed batch, which is durable, the batch at hand while its effects are
  /// released.
  ///
  /// Returns false if none was sealed: then the batch at hand itself is durable.
  mutating func beginRelease() -> Bool {
    precondition(!sealed.isEmpty || !isUnsound, "an unsound batch is released")
    isStorageFailing = false
    guard !sealed.isEmpty else { return false }
    assert(suspendedBatch.effects.isEmpty && suspendedBatch.changedNavs.isEmpty, "two at hand")
    suspendedBatch = sealed.removeFirst()
    swap(&current, &suspendedBatch)
    return true
  }

  /// Ends the release that `beginRelease` began.
  ///
  /// If the released batch was sealed, the batch that was at hand before is at hand again.
  /// Otherwise a new batch begins. `wasSealed` is the result of `beginRelease`.
  mutating func endRelease(wasSealed: Bool) {
    current.clear()
    guard !wasSealed else {
      var ended = Batch()
      swap(&ended, &suspendedBatch)
      swap(&ended, &current)
      return reusableBatches.append(consume ended)
    }
    assert(sealed.isEmpty, "\(sealed.count) batches behind the last one")
    forbidsSealing = false
    unsoundOps = []
    currentNumber += 1
  }

  /// Records an op whose commit broke an invariant; the hub must roll the batch back.
  ///
  /// The broken state has no row; it stays in memory until the shell reloads the nav.
  mutating func noteUnsound(_ op: UnsoundOp, _ nav: Batch.ChangedNav) {
    assert(!op.violated.isEmpty, "op \(op.op) broke nothing")
    if !current.changedNavs.contains(where: { $0.slot == nav.slot }) {
      current.changedNavs.append(nav)
    }
    unsoundOps.append(op)
    isUnsound = true
  }

  /// The record that the same op broke an invariant before the rollback; nil if it did not.
  func unsoundOp(_ op: OpContext) -> UnsoundOp? {
    unsoundOps.first { $0.op == op.request.id && $0.key == op.key }
  }

  /// Removes and returns all batches that are not durable, joined into one.
  ///
  /// If `isStorageFailing`, the journal counts as failing until a commit succeeds.
  mutating func rollBack(isStorageFailing isFailing: Bool = true) -> Batch {
    if isFailing { isStorageFailing = true }
    return takeUncommitted()
  }

  /// Removes and returns the batch at hand, in which an op broke an invariant; the hub undoes it.
  mutating func takeUnsound() -> Batch {
    precondition(sealed.isEmpty, "\(sealed.count) batches are not durable")
    assert(isUnsound, "a sound batch is decided again")
    let refused = unsoundOps
    defer { unsoundOps = refused }
    return takeUncommitted()
  }

  /// Removes and returns all batches that are not durable, joined into one, for the hub to undo.
  private mutating func takeUncommitted() -> Batch {
    var failed = sealed.first ?? current
    for next in sealed.dropFirst() { failed.absorb(next) }
    if !sealed.isEmpty { failed.absorb(current) }
    sealed = []
    current = Batch()
    (unsoundOps, isUnsound) = ([], false)
    currentNumber += 1
    return failed
  }
}

/// An op that would break an invariant of its nav.
///
/// navd rolls the batch back, handles its events again, and refuses the op.
struct UnsoundOp: Sendable {
  var key: RememberedOps.Key
  var op: UInt64
  var violated: [String]
}

/// Everything that the hub decided between two commits, with the values for a rollback.
struct Batch: Sendable {
  /// An output that the hub holds back until the records of the batch are durable.
  enum Effect: Sendable {
    case send(ConnectionID, ServerVerb, [UInt8], Outcome)
    /// An answer that reports a revision of a nav; the diffs of the requester's own watch go first.
    case answer(ConnectionID, session: SessionSlot?, nav: NavSlot, [UInt8], Outcome)
    case start(watch: WatchSlot)
    /// Serves the watches of a session, which may have credit again.
    case serve(session: SessionSlot)
    /// An event without revision, for the watches that have got all durable diffs of the nav.
    case event(nav: NavSlot, [UInt8])
    case read(HistoryRequest)
    case backup
    /// The progress of a gesture; a batch keeps only the newest one of each nav.
    case progress(nav: NavSlot, [UInt8])
    /// Ends the watches of a closed nav, and frees its slot.
    case closed(nav: NavSlot)
    /// A session ended and its connection gets nothing after the `bye`.
    case ended(ConnectionID)
    /// Ends the watches of sessions that lost the right to read, because the access rules changed.
    case recheckRights
    case notice(Notice)
    /// A request of an administrator to the cluster, which the shell carries out.
    indirect case clusterCommand(ClusterCommandRequest)
    /// A question about the configuration, which the shell answers.
    indirect case ask(ConfigurationQuestion)

    /// The octets of the effect's message; 0 if it has none.
    fileprivate var messageOctets: Int {
      switch self {
      case .send(_, _, let body, _), .answer(_, _, _, let body, _), .event(_, let body): body.count
      default: 0
      }
    }
  }

  /// The number of clients' messages that the batch handled.
  var messageCount = 0
  var records = JournalRecords()
  var effects: [Effect] = []
  struct ChangedNav: Sendable {
    var slot: NavSlot
    /// The nav's newest row before the batch.
    var rowBefore: UInt64
    /// The nav's revision at the end of the batch; nil until the batch is sealed.
    var finalRevision: Revision?
    /// The nav's position at the end of a sealed batch; nil unless a client watches `$heads`.
    var finalHead: NavHead?
  }

  /// The changed navs, in the order of their first change.
  var changedNavs: [ChangedNav] = []
  /// The changes outside the navs, newest last; a rollback undoes them, and reloads the navs from
  /// the journal.
  var undo: [Undo] = []
  /// The refusals that `get refusals` shows as soon as the batch is committed.
  var refusals: [Refusals.Refusal] = []
  /// Whether `$navs` and `$clients` may have changed.
  var mayChangeNavList = false
  var mayChangeClientList = false

  /// Whether the hub has decided nothing in the batch.
  var isEmpty: Bool {
    records.isEmpty && changedNavs.isEmpty && effects.isEmpty && undo.isEmpty
  }

  /// Whether the batch changed the coordination of a nav; O(changes).
  fileprivate func changesCoordination(at slot: NavSlot) -> Bool {
    undo.contains { if case .coordination(slot, _) = $0 { true } else { false } }
  }

  /// Empties the batch, but keeps the memory of the lists that each op lengthens.
  mutating func clear() {
    if !records.isEmpty { records = JournalRecords() }
    changedNavs.removeAll(keepingCapacity: true)
    undo.removeAll(keepingCapacity: true)
    clearOutputs()
    (mayChangeNavList, mayChangeClientList) = (false, false)
  }

  /// Forgets effects, refusals and the count of messages.
  mutating func clearOutputs() {
    effects.removeAll(keepingCapacity: true)
    (messageCount, refusals) = (0, [])
  }

  /// Appends the next batch to this one, to roll both back together.
  mutating func absorb(_ next: Batch) {
    undo += next.undo
    effects += next.effects
    let known = Set(changedNavs.map(\.slot))
    changedNavs += next.changedNavs.filter { !known.contains($0.slot) }
    assert(Set(changedNavs.map(\.slot)).count == changedNavs.count, "a nav is noted twice")
  }
}
