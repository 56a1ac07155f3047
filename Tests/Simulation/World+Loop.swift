package import Journal
package import NavigationCore
package import NavigationDaemon
package import NavigationHub

// The world as the shell of navd's loop: messages, time and the writer come by chance, and the decisions
// are those of `CommitLoop`, which ships.

/// The writer of a world, which commits when the world lets it.
///
/// One thread uses it.
@safe
package final class SimulatedWriter: BatchWriter, @unchecked Sendable {
  /// What was passed to it, and is not committed; the last part of each batch says so.
  private var parts: [(records: JournalRecords, isLast: Bool)] = []
  /// Whether the loop waits for a commit.
  var isAwaited = false
  package var commitsAreShort = false
  /// Whether the loop leaves its next commit to this writer.
  var isPreferred = false

  var completeBatches: Int { parts.count { $0.isLast } }

  /// Takes the parts of the oldest complete batches.
  func take(_ count: Int) -> [JournalRecords] {
    var left = count
    let end = parts.firstIndex { part in
      if part.isLast { left -= 1 }
      return left == 0
    }
    defer { parts.removeSubrange(...(end ?? 0)) }
    return parts[...(end ?? 0)].map(\.records)
  }

  package func workerShouldCommit(_ count: Int) -> Bool { isPreferred }
  package func stage(_ records: JournalRecords) { parts.append((records, false)) }
  package func submit(_ records: JournalRecords) { parts.append((records, true)) }
  package func discard() { parts = [] }
  package func awaitProgress(milliseconds: Int32) { isAwaited = true }
}

/// A batch that is not durable.
struct OpenBatch: Sendable {
  /// What its navs become with it.
  var states: [(place: Place, state: String)] = []
  var decidedAt: UInt64
  /// The number of the last op of each connection in it; see `Link.arrivals`.
  var lastTaken: [ConnectionID: Int] = [:]
}

extension World: CommitLoop {
  package var isJournalRemote: Bool { shardCount > 1 }
  package var refusesChanges: Bool { isFaulty && isJournalGone && !isJournalRemote }
  package func mustRest(at now: Instant) -> Bool { isFaulty && turn.isMultiple(of: 7) }

  /// Decides what chance decides for one turn.
  mutating func drawTurn() {
    peersOweTooMuch = isFaulty && !peersOweTooMuch && random.chance(30)
    writer.commitsAreShort = random.chance(500)
    writer.isPreferred = random.chance(400)
    if !isFaulty {
      limits = TurnLimits()
    } else if random.chance(scenario.faults.failCommit / 20) {
      isJournalGone.toggle()
    }
  }

  package mutating func workBetweenBatches(at now: Instant) {}
  package mutating func prepareBatch(readsState: Bool, at now: Instant) {}
  package mutating func measure(_ timing: CommitMeasurement) {}
  package mutating func noteFailedCommit(_ error: JournalError) {}

  package mutating func handle(_ event: HubEvent, at now: Instant) {
    note(event)
    demand(hub.dormant(for: event) == nil, "an event about a dormant nav is handled")
    hub.handle(event, at: now)
    // Without a batch, the events of failed ones are refused.
    guard batches.inFlightCount > 0 else { return }
    while openBatches.count < batches.inFlightCount {
      openBatches.append(OpenBatch(decidedAt: now.boot))
    }
    let newest = openBatches.count - 1
    checkTurn(of: event)
    guard !hub.isUnsound else {
      trace { _ in "unsound" }
      count { $0.unsoundBatches += 1 }
      (openBatches[newest].states, openBatches[newest].lastTaken) = ([], [:])
      return
    }
    for name in changed(by: event) {
      if let (place, state) = probe(name) { openBatches[newest].states.append((place, state)) }
    }
  }

  /// The daemon takes the ops of a connection in order, also those that are decided again.
  private mutating func checkTurn(of event: HubEvent) {
    guard case .message(let id, _, .op(let op)) = event, let index = index(of: id),
      let arrival = links[index].arrivals[op.id] ?? nil
    else { return }
    let last = openBatches.compactMap { $0.lastTaken[id] }.max() ?? links[index].lastTaken
    demand(arrival > last, "op \(op.id) of connection \(id.number) is taken behind a later one")
    openBatches[openBatches.count - 1].lastTaken[id] = arrival
  }

  // The writer.

  package mutating func commitHere(_ records: JournalRecords, at now: Instant) throws(JournalError)
    -> CommitMeasurement?
  {
    try store([records], batches: 1)
    return nil
  }

  package mutating func takeProgressOfWriter(at now: Instant) throws -> CommitProgress {
    var progress = CommitProgress()
    let isAwaited = writer.isAwaited
    writer.isAwaited = false
    // A wait can end without a commit.
    guard !isFaulty || random.chance(isAwaited ? 800 : 400) else { return progress }
    do throws(JournalError) {
      repeat {
        let ready = writer.completeBatches
        guard ready > 0 else { break }
        // The last ones may have come after the commit began.
        let taken = isFaulty ? 1 + random.below(ready) : ready
        try store(writer.take(taken), batches: taken)
        progress.completedBatches += taken
      } while random.chance(300)
    } catch {
      // Of a process that has ended.
      if case .unreadable = error { throw error }
      writer.discard()
      progress.failure = error
    }
    return progress
  }

  /// Stores the parts of the oldest open batches in one commit, or loses the process.
  private mutating func store(
    _ parts: [JournalRecords], batches count: Int
  ) throws(JournalError) {
    let end = JournalError.unreadable(path: "the journal", reason: "the process has ended")
    let isEmpty = parts.allSatisfy(\.isEmpty)
    if isFaulty, random.chance(scenario.faults.crashBeforeCommit) {
      if sabotage == .acknowledgeEarly {
        for _ in 0..<count { carryOut(hub.committed(at: daemonNow)) }
      }
      crash("before the commit")
      throw end
    }
    // The hub may assume that a reload finds what was stored, which the lost row breaks.
    // In a cluster, a commit without records can fail too, because it must prove the lease.
    if !isEmpty || isJournalRemote, isFaulty, sabotage != .loseRow,
      random.chance(scenario.faults.failCommit)
    {
      if store == nil, !isJournalRemote, random.chance(100) { throw failedSync(parts, count) }
      throw failedCommit()
    }
    facts.tentative = openBatches.prefix(count).flatMap(\.states)
    let outcome = commit(parts)
    guard outcome != .refused else { throw failedCommit() }
    guard survives(outcome) else { throw end }
    durableBatches += openBatches.prefix(count).map(\.decidedAt)
    for (id, last) in openBatches.prefix(count).flatMap(\.lastTaken) {
      if let index = index(of: id) { links[index].lastTaken = last }
    }
    openBatches.removeFirst(min(count, openBatches.count))
    if sabotage == .loseRow, !isEmpty, random.chance(100) { journal.dropLastBatch() }
    if isFaulty, random.chance(scenario.faults.crashAfterCommit) {
      crash("between the commit and the send")
      throw end
    }
  }

  /// The disk is full, or another member of the cluster has taken some shards.
  private mutating func failedCommit() -> JournalError {
    count { $0.failedCommits += 1 }
    (openBatches, facts.tentative) = ([], [])
    let lost = isJournalRemote ? hub.shardsHere.filter { _ in random.chance(300) } : []
    trace { _ in "commit failed, and shards \(lost.map(\.number)) are lost" }
    if !lost.isEmpty { count { $0.fences += 1 } }
    return lost.isEmpty ? .full(path: "the journal") : .fenced(path: "the journal", shards: lost)
  }

  /// A sync has failed, and nobody knows what is on the disk.
  private mutating func failedSync(_ parts: [JournalRecords], _ count: Int) -> JournalError {
    trace { _ in "a sync failed" }
    facts.tentative = openBatches.prefix(count).flatMap(\.states)
    if random.chance(500) { demand(commit(parts) == .done, "the model refuses a commit") }
    openBatches = []
    return .syncFailed(path: "the journal", reason: "chance")
  }

  package mutating func sendLast(_ output: HubOutput) {
    carryOut(output)
    crash("a sync failed")
  }

  package mutating func loseShards(_ lost: [Shard], at now: Instant) {
    release(Set(hub.shardsHere).intersection(lost).sorted())
  }

  package mutating func carryOut(_ output: HubOutput) {
    if durableBatches.isEmpty, !openBatches.isEmpty { count { $0.overtakings += 1 } }
    decidedAt = durableBatches.isEmpty ? daemonNow.boot : durableBatches.removeFirst()
    dispatch(output)
  }

  package mutating func snapshotAndRows(
    of request: ReloadRequest
  ) throws -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    if let found = chain(of: request) { return found }
    crash("a nav cannot be read back")
    throw JournalError.unreadable(path: "the journal", reason: "the process has ended")
  }

  // What arrives.

  package mutating func receiveMessages(isAwaited: Bool) -> Bool {
    guard batches.waitingCount < limits.messages else { return false }
    let budget = isFaulty ? 1 + random.below(scenario.turnEvents) : 1000
    var received = 0
    while received < budget, batches.mayReceive, pageIns.mayReceive {
      let waiting = links.indices.filter { !links[$0].requests.isEmpty }
      guard let index = random.pick(waiting) else { break }
      var request = links[index].requests.removeFirst()
      prepare(&request, index)
      received += 1
      receive(request, from: links[index].id, links[index].peer)
      runTwice(request, index)
    }
    for link in links where !link.isOpen && link.requests.isEmpty && random.chance(600) {
      batches.append(.closed(link.id))
      links.removeAll { $0.id == link.id }
    }
    return received > 0
  }

  /// Reads a request as the daemon's shell reads what it receives.
  mutating func receive(_ request: Request, from connection: ConnectionID, _ peer: Peer) {
    hash.add(connection.number, request.body)
    count { $0.requests += 1 }
    trace { _ in "→ \(connection.number) \(request.verb.text) \(request.body.text)" }
    let event = HubEvent(
      frame: request.verb.span, body: request.body.span, from: connection, peer, reader: &reader)
    if case .message(_, _, .op(let op)) = event, let index = index(of: connection) {
      let isNew = links[index].arrivals[op.id] == nil
      links[index].arrivals[op.id] = .some(isNew ? links[index].arrivals.count : nil)
    }
    batches.noteReceived(request.body.count)
    batches.append(event)
  }

  /// Gives the loop what happened beside messages.
  mutating func takeEvents() {
    for event in events { trace { _ in "event \(event)" } }
    batches.append(events)
    events = []
    if !historyRequests.isEmpty, !isFaulty || random.chance(500) {
      batches.append(.history(answer(historyRequests.removeFirst())))
    }
    var answers: [ReloadRequest] = []
    while !pageRequests.isEmpty, !isFaulty || random.chance(scenario.pageSpeed) {
      answers.append(pageRequests.removeFirst())
    }
    readNavs += answers
    if !answers.isEmpty { batches.insertFirst(pageIns.release(answers)) }
    let held = pageIns.count
    count { $0.held = max($0.held, held) }
  }

  package mutating func startReplays(of requests: [ReloadRequest]) { pageRequests += requests }

  package mutating func reviveReadNavs() {
    defer { readNavs = [] }
    for request in readNavs where hub.dormant(request.nav) == request {
      count { $0.revivals += 1 }
      // If the read failed, the events wait again.
      guard let (snapshot, rows) = chain(of: request) else { continue }
      do {
        try hub.revive(request, snapshot: snapshot, rows: rows)
      } catch {
        violation("nav \(request.nav) cannot be revived: \(error.what)")
      }
    }
  }

  /// The navs that an event may change: time and the end of a session may change any.
  private func changed(by event: HubEvent) -> [String] {
    switch event {
    case .message(_, _, let message):
      switch message {
      case .op: message.nav.map { [$0] } ?? []
      case .watch, .unwatch, .get, .ping, .credit, .cluster: []
      case .hello, .delegate, .answer, .lease, .bye: scenario.navs
      }
    case .unreadable, .closed, .access, .revoked, .wake, .stop: scenario.navs
    case .blocked, .unblocked, .history, .historyPruned, .snapshotWanted, .backupProgress, .backup,
      .cluster, .clusterCommandResult, .configured:
      []
    }
  }

  /// Notes what a session may be sent from this event on.
  private mutating func note(_ event: HubEvent) {
    if case .blocked(let id) = event, let index = index(of: id) {
      // What is decided now is not sent to its watches, though the socket may have room by then.
      links[index].isBehind = true
    }
    guard let id = event.connection, let index = index(of: id) else { return }
    switch event {
    case .message(_, _, let message):
      links[index].heardAt = daemonNow.boot
      switch message {
      // A new session counts from the start.
      case .hello: (links[index].sent, links[index].upTo) = (0, scenario.window)
      case .credit(let upTo): links[index].upTo = max(links[index].upTo, upTo)
      default: break
      }
    case .unreadable: links[index].heardAt = daemonNow.boot
    default: break
    }
  }
}
