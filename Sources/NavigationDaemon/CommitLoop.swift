package import Journal
package import NavigationCore
package import NavigationHub

/// Decides which events form a batch, who commits the batch, and what waits for the commit.
///
/// It decides the events again if the journal does not store their batch.
///
/// `ServerLoop` makes them for sockets, a clock and a journal. The simulation has another loop, in
/// which chance replaces these three, so that what it simulates is what ships.
package protocol CommitLoop: ~Copyable {
  associatedtype Writer: BatchWriter

  var hub: Hub { get set }
  var batches: EventBatches { get set }
  var pageIns: PageIns<ReceivedEvent> { get set }
  var writer: Writer { get }

  // What the decisions depend on.

  var limits: TurnLimits { get }
  /// Whether the journal is on another machine: the writer makes each commit, and another daemon can
  /// take the journal over.
  var isJournalRemote: Bool { get }
  /// Whether clients have so much unread that a turn begins as little as possible.
  var peersOweTooMuch: Bool { get }
  /// Whether the journal can take no commit, so that the hub refuses every change.
  var refusesChanges: Bool { get }
  /// Whether work on the journal has waited so long that the batches in flight must end.
  func mustRest(at now: Instant) -> Bool

  // What they lead to.

  /// Does what must be done between two batches; batches can be in flight.
  mutating func workBetweenBatches(at now: Instant) throws
  /// Takes note of a batch that begins; `readsState` says that it has a `get`.
  mutating func prepareBatch(readsState: Bool, at now: Instant)
  /// Passes an event to the hub.
  mutating func handle(_ event: HubEvent, at now: Instant)
  /// Performs the effects of a durable batch.
  mutating func carryOut(_ output: HubOutput) throws
  /// Performs the last effects before the process ends.
  mutating func sendLast(_ output: HubOutput) throws
  /// Commits a batch at once; nothing is in flight.
  mutating func commitHere(_ records: JournalRecords, at now: Instant) throws(JournalError)
    -> CommitMeasurement?
  /// Takes what the writer has done since the last call.
  mutating func takeProgressOfWriter(at now: Instant) throws -> CommitProgress
  mutating func measure(_ timing: CommitMeasurement)
  mutating func noteFailedCommit(_ error: JournalError)
  /// Stops serving shards that another daemon has taken.
  mutating func loseShards(_ lost: [Shard], at now: Instant) throws
  /// Adds messages that have arrived to `batches`; returns whether there were any.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool
  /// Reads the rows of a nav at once.
  mutating func snapshotAndRows(
    of request: ReloadRequest
  ) throws -> (snapshot: SnapshotRow?, rows: [JournalRow])
  /// Revives the navs that the history thread has read.
  mutating func reviveReadNavs() throws
  /// Has the rows of navs read, without waiting.
  mutating func startReplays(of requests: [ReloadRequest])
}

/// What commits the batches that a loop does not commit itself, in their order; see `JournalWriter`.
package protocol BatchWriter: AnyObject {
  var commitsAreShort: Bool { get }
  func workerShouldCommit(_ count: Int) -> Bool
  func stage(_ records: JournalRecords)
  func submit(_ records: JournalRecords)
  func discard()
  func awaitProgress(milliseconds: Int32)
}

/// What one turn of the loop does at most.
package struct TurnLimits: Sendable {
  /// The maximum number of messages in one turn; with more, handshakes would wait too long.
  package var messages = 256
  /// The amount of `Hub.work` in one turn from which on other messages wait for the next turn.
  ///
  /// With a quarter of this limit, 64 ops for 100 watches each took several commits, and throughput
  /// fell to 84 %.
  package var work = 1 << 20
  /// The number of events after which their records are passed to the writer.
  package var eventsPerPart = 16
  /// The number of events from which the writer commits a batch instead of the loop while commits
  /// are long.
  package var largeBatch = JournalWriter.largeBatch

  package init() {}
}

/// What the writer has done; the loop handles the members in their order.
package struct CommitProgress {
  /// Whether a reader of the log kept a checkpoint from emptying it.
  var hasLogReader = false
  /// The error of a checkpoint.
  var checkpointFailure: JournalError?
  /// The number of completed batches, and the measurements of their commits.
  package var completedBatches = 0
  var timings: [CommitMeasurement] = []
  /// The error of the batch after the completed ones; the journal has no record of it, and the
  /// writer drops later batches.
  package var failure: JournalError?

  package init() {}
}

// One turn: handle the events at hand, commit the changes, carry them out.

extension CommitLoop where Self: ~Copyable {
  /// Handles the events at hand and those that waited, after `takeProgress`.
  package mutating func takeTurn(at now: Instant) throws {
    if !peersOweTooMuch {
      batches.takeWaiting(upTo: limits.messages, cost: limits.work)
      if let wakeAt = hub.wakeAt, wakeAt <= now.boot { batches.append(.wake) }
    }
    if !batches.areDurable, mustAwaitBatches(at: now) { try awaitBatches(at: now) }
    try workBetweenBatches(at: now)
    if hub.hasDormantNavs || !pageIns.isEmpty { try pageIn() }
    try handleEvents(at: now)
  }

  /// Handles the events at hand as one batch, and commits it here or passes it to the writer.
  private mutating func handleEvents(at now: Instant) throws {
    let isAlone = batches.areDurable
    let hasGet = batches.hasGet
    let events = batches.beginBatch()
    guard !events.isEmpty else { return }
    prepareBatch(readsState: hasGet, at: now)
    if refusesChanges { return try rollBack(at: now) }
    let commitsHere =
      isAlone && !isJournalRemote
      && (events.count < limits.largeBatch || writer.commitsAreShort)
    let end = hub.eventCost + (peersOweTooMuch ? 0 : limits.work)
    for index in events.indices {
      let before = hub.eventCost
      if before >= end, batches.postpone(index) { continue }
      handle(events[index], at: now)
      if batches.chargesPrincipals {
        let cost = hub.eventCost - before
        batches.charge(index, cost)
      }
      guard !hub.isUnsound else {
        movePostponedToBacklog()
        return try decideAgain(at: now)
      }
      // The writer inserts a part of a large batch while the rest of it is decided.
      if !commitsHere, index % limits.eventsPerPart == limits.eventsPerPart - 1 {
        writer.stage(hub.takeRecords())
      }
    }
    movePostponedToBacklog()
    let records = hub.takeRecords()
    // During a checkpoint, or if more ops are about to arrive, the batch goes to the writer's queue.
    if commitsHere, !hub.mayDecideDuringCommit || !writer.workerShouldCommit(records.count) {
      try commit(records, at: now)
    } else {
      let mayDecideDuringCommit = hub.mayDecideDuringCommit
      if mayDecideDuringCommit { hub.seal() }
      writer.submit(records)
      if !mayDecideDuringCommit { try awaitBatches(at: now) }
    }
  }

  private mutating func movePostponedToBacklog() {
    guard batches.hasPostponed else { return }
    // A requirement of a protocol is not passed `inout` beside another one.
    var held = PageIns<ReceivedEvent>()
    swap(&held, &pageIns)
    batches.movePostponedToBacklog(&held)
    swap(&held, &pageIns)
  }

  /// Rolls back the newest batch, in which an op broke an invariant, and decides its events again.
  private mutating func decideAgain(at now: Instant) throws {
    while !batches.isNewestAlone {
      writer.awaitProgress(milliseconds: .max)
      try takeProgress(at: now)
    }
    // After the failure of an earlier batch, `fail` has taken everything back already.
    guard hub.isUnsound else { return }
    writer.discard()
    try reload(hub.rollBackUnsound())
    batches.retryAll()
    try handleEvents(at: now)
  }

  /// Revives the navs that have been read, and holds the events that must wait for other dormant
  /// navs.
  ///
  /// The batches in flight meet no dormant nav, even if their events are handled again. Their
  /// events have passed this function already, and no nav becomes dormant while a batch is in
  /// flight.
  private mutating func pageIn() throws {
    // In the batch of the events that waited, because a fault of the nav is noted there.
    try reviveReadNavs()
    // Most turns hold nothing, and so copy no event.
    var first = 0
    while first < batches.atHand.count, pageIns.isEmpty || first < batches.retriedCount,
      hub.dormant(for: batches.atHand[first]) == nil
    {
      first += 1
    }
    guard first < batches.atHand.count else { return }
    for received in batches.takeAtHand(from: first)
    where !pageIns.hold(received, for: hub.dormant(for: received.event)) {
      batches.putBack(received)
    }
    let requests = pageIns.takeRequests()
    if !requests.isEmpty { startReplays(of: requests) }
  }
}

// The end of commits: durable batches, failures and roll-back.

extension CommitLoop where Self: ~Copyable {
  /// Commits the batch that has just begun on the loop thread; no other batch is in flight.
  private mutating func commit(_ records: JournalRecords, at now: Instant) throws {
    let timing: CommitMeasurement?
    do {
      timing = try commitHere(records, at: now)
    } catch {
      return try fail(error, at: now)
    }
    batches.completeOldest()
    try carryOut(hub.committed(at: now))
    if let timing { measure(timing) }
  }

  /// Releases the batches that the writer has completed, or rolls back those that failed.
  package mutating func takeProgress(at now: Instant) throws {
    let progress = try takeProgressOfWriter(at: now)
    for _ in 0..<progress.completedBatches {
      batches.completeOldest()
      try carryOut(hub.committed(at: now))
    }
    for timing in progress.timings { measure(timing) }
    if let error = progress.failure { try fail(error, at: now) }
  }

  /// Whether the loop must wait until all batches in flight are durable before it goes on.
  ///
  /// While batches are in flight, the hub may decide ops only. Every other event reads or changes
  /// what is durable.
  private func mustAwaitBatches(at now: Instant) -> Bool {
    !hub.mayDecideDuringCommit || batches.areFull || !batches.areOnlyOps || mustRest(at: now)
      || refusesChanges
  }

  /// Waits until every batch is durable or has failed; in a long wait, it answers reads.
  package mutating func awaitBatches(at now: Instant) throws {
    while !batches.areDurable {
      writer.awaitProgress(milliseconds: JournalWriter.slowCommitMilliseconds)
      try takeProgress(at: now)
      // In a cluster, the lease may end meanwhile, and another daemon have newer states.
      guard !batches.areDurable, !isJournalRemote, pageIns.isEmpty else { continue }
      _ = try receiveMessages(isAwaited: false)
      try answerAhead(at: now)
    }
  }

  /// Answers the reads at hand that concern durable states only; all other events stay at hand.
  private mutating func answerAhead(at now: Instant) throws {
    guard !batches.areOnlyOps else { return }
    var waiting = batches.connectionsInFlight
    var isBehindAccess = false
    for received in batches.takeAtHand() {
      if case .access = received.event { isBehindAccess = true }
      if let connection = received.event.connection {
        if !isBehindAccess, !waiting.contains(connection),
          let output = hub.answerAhead(received.event, at: now)
        {
          batches.subtractAnswered(received)
          try carryOut(output)
          continue
        }
        waiting.insert(connection)
      }
      batches.putBack(received)
    }
  }

  mutating func fail(_ error: JournalError, at now: Instant) throws {
    switch error {
    case .fenced(_, let lost) where error.isRetryable:
      // Other shards go on: their events are decided again.
      let lostShards = Set(lost)
      let requests = hub.rollBack(isStorageFailing: false)
      try reload(requests.filter { !lostShards.contains(Shard(ofNav: $0.nav)) })
      batches.retryAll()
      try loseShards(lost, at: now)
    case _ where error.isRetryable:
      noteFailedCommit(error)
      try rollBack(at: now)
    case .syncFailed, .fenced:
      // The state of the disk is unknown, or is another's. navd answers nothing more, and the next
      // process reads the journal.
      _ = hub.rollBack()
      hub.handle(.stop, at: now)
      try sendLast(hub.committed(at: now))
      throw error
    default: throw error
    }
  }

  private mutating func reload(_ requests: [ReloadRequest]) throws {
    for request in requests {
      let (snapshot, rows) = try snapshotAndRows(of: request)
      try hub.reload(request, snapshot: snapshot, rows: rows)
    }
  }

  /// Rolls back the batches that are not durable, and handles their events again; the hub then
  /// refuses every change.
  private mutating func rollBack(at now: Instant) throws {
    try reload(hub.rollBack())
    for event in batches.takeAll() { handle(event, at: now) }
    precondition(hub.takeRecords().isEmpty, "records while the journal takes none")
    try carryOut(hub.committed(at: now))
  }
}
