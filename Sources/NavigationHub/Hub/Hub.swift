package import NavigationCore

/// The server without its I/O: decides the effect of each event on navs and clients.
///
/// The hub performs no I/O and reads no clock. Its stored values keep their own laws; its
/// extensions have the code that concerns several of them.
///
/// In a turn, the shell calls `handle` for every event at hand, then `takeRecords`, and makes these
/// records durable. Then it calls `committed` and carries out the output. If the records could not
/// be made durable, it calls `rollBack` instead.
///
/// Laws:
/// - The same events give the same bytes in rows and messages.
/// - No message leaves before the records that it reports are durable.
/// - If the requester watches the whole nav and has credit, the diff of a revision leaves before
///   the `ok` that reports the revision.
///
/// Members that each event or op uses are mutating, though some change nothing: Swift then passes the
/// hub by reference, where it would copy a kilobyte otherwise.
package struct Hub: Sendable {
  var configuration: HubConfiguration
  /// The part of the configuration that the rules of navigation use; every op reads it.
  var context: NavigationContext
  let inspections: Inspections
  package internal(set) var access: Access
  var shards: Shards
  var navs: Navs
  var sessions = Sessions()
  var watches = Watches()
  var remembered: RememberedOps
  var batches: Batches
  var coordinations = Coordinations()
  var timer = WakeTimer()
  var heads = UnpublishedHeads()
  var clientsPace = VirtualNavPace()
  var trace = Trace()
  var refusals = Refusals()
  var sweep = IdleSweep()
  /// The slots of navs that lack looks of `$appearance`; see Hub+Appearance.swift.
  var navsLackingLooks: [NavSlot] = []
  var output = HubOutput()
  var reads = HistoryReads()
  var isStopping = false
  /// Counters, gauges and histograms; the shell adds what it measures itself.
  package var measurements = Measurements()
  /// The time at which the shell must call `handle(.wake)`, in milliseconds of CLOCK_BOOTTIME; nil
  /// if no deadline is pending.
  package var wakeAt: UInt64? { timer.wakeAt }

  /// Makes a hub without navs.
  ///
  /// `shards` is 1, or the number of shards of a cluster; `adopt` makes the hub serve some of
  /// these. `seed` is the source of random epochs; it must differ between runs.
  package init(
    configuration: HubConfiguration, access: Access = Access(), shards: Int = 1, seed: UInt64,
    inspections: Inspections = Inspections()
  ) {
    self.configuration = configuration
    context = configuration.context
    self.inspections = inspections
    self.access = access
    self.shards = Shards(count: shards)
    navs = Navs(shards: shards, seed: seed)
    batches = Batches(shards: shards)
    remembered = RememberedOps(limits: configuration)
  }

  /// The epoch that identifies this run of the daemon.
  package var boot: Epoch { navs.boot }

  /// Makes a reader of clients' messages that rejects messages above this hub's limit of octets.
  package func makeReader() -> ClientMessageReader {
    ClientMessageReader(maximumBytes: configuration.maximumRequestBytes)
  }

  /// Handles one event; the resulting messages wait for `committed`.
  ///
  /// The nav of the event must not be dormant, see `dormant(for:)`.
  package mutating func handle(_ event: HubEvent, at now: Instant) {
    precondition(!isUnsound, "an event while a nav is unsound")
    assert(dormant(for: event) == nil, "an event about a nav that is dormant")
    timer.advance(to: now)
    if !navsLackingLooks.isEmpty { applyLooks() }
    switch event {
    case .message(let connection, let peer, .hello(let hello)):
      _ = noteArrival(from: Sender(connection: connection, peer: peer), at: now)
      openSession(hello, for: Sender(connection: connection, peer: peer), at: now)
    case .message(let connection, let peer, let message):
      receive(message, from: sender(connection, peer), at: now)
    case .unreadable(let connection, let peer, let failure):
      answer(failure, to: sender(connection, peer), at: now)
    case .closed(let connection):
      if let slot = sessions.forget(connection) { endSession(slot, .connectionLost) }
    case .blocked(let connection):
      guard let slot = sessions.slot(of: connection) else { return }
      sessions[slot].isBlocked = true
      requestClientsRevision(at: now)
    case .unblocked(let connection):
      guard let slot = sessions.slot(of: connection) else { return }
      sessions[slot].isBlocked = false
      requestClientsRevision(at: now)
      resumeWatches(of: slot)
    case .history(let answer): finishRead(answer, at: now)
    case .backupProgress(let progress): reads.backup?.progress = progress
    case .backup(let answer): finishBackup(answer)
    case .historyPruned(let number, let revision):
      navs.setFloor(of: number, Revision(revision))
    case .snapshotWanted(let number):
      if let slot = navs.slot(numbered: number), navs.hasName(slot) {
        recordSnapshot(of: slot, at: now)
      }
    case .access(let access): installAccess(access)
    case .revoked(let connection): revoke(connection)
    case .cluster(let view): shards.note(view, at: now.boot)
    case .clusterCommandResult(let connection, let id, let failure):
      answerClusterCommand(connection, id: id, failure: failure)
    case .configured(let connection, let id, let result):
      answer(connection, id: id, configuration: result)
    case .wake: wake(at: now)
    case .stop: stop()
    }
  }

  /// The numbers of the newest rows of all shards added up, durable or not.
  package var totalSequence: UInt64 { batches.totalSequence }

  /// During a replay, the hub remembers the ops of all rows after this one, however old they are.
  package var remembersAllAfterRow: UInt64 {
    get { remembered.remembersAllAfterRow }
    set { remembered.remembersAllAfterRow = newValue }
  }

  /// Takes the records of the batch at hand out, to be made durable together.
  package mutating func takeRecords() -> JournalRecords { batches.takeRecords() }

  /// The cost, in the unit of `eventCost`, of a message, of a row read, of a screen read and of a watch
  /// served.
  static let (costOfMessage, costOfRow, costOfScreen, costOfWatch) = (256, 512, 512, 128)

  /// Whether ops may be decided while the batch at hand is being made durable.
  ///
  /// False if the batch changes a watched `$navs` or `$clients`, which show durable facts only.
  /// False also while a watch waits until everything is durable, while commits fail, and while the
  /// daemon stops.
  package var mayDecideDuringCommit: Bool {
    batches.mayDecideDuringCommit && !isStopping && !changesVirtualNavs
  }

  package var sealedCount: Int { batches.sealed.count }

  /// The cost of all events so far; its growth during one event is the cost of that event.
  ///
  /// The same events have the same cost. The unit is the cost of one octet of an answer.
  package var eventCost: Int { batches.eventCost }

  /// Seals the batch at hand, whose records must have been taken.
  ///
  /// From then on each `committed` releases the oldest sealed batch, and `rollBack` undoes all
  /// batches. Until the commit, the shell may handle only messages with ops, which go into the next
  /// batch.
  package mutating func seal() {
    precondition(mayDecideDuringCommit, "a hub that shows what is not durable, or is stopping")
    batches.seal(navs)
  }

  /// Notes that the records of a batch are durable; returns the batch's output.
  ///
  /// The batch is the oldest sealed one, or the batch at hand if none is sealed.
  package mutating func committed(at now: Instant) -> HubOutput {
    let wasSealed = batches.beginRelease()
    navs.markDurable(batches.current.changedNavs)
    if navs.keepsRecords(Navs.headsSlot) { noteDurableHeads() }
    if !batches.current.refusals.isEmpty { refusals.append(batches.current.refusals) }
    releaseEffects(at: now)
    measurements.count(.received, batches.current.messageCount)
    for changed in batches.current.changedNavs where navs.isLive(changed.slot) {
      sendToWatches(of: changed.slot, at: now)
      trimRing(of: changed.slot)
    }
    // Behind the diffs, because `$clients` shows which sessions have not got them.
    publishVirtualNavs(isAllDurable: !wasSealed, at: now)
    for directory in Navs.virtualSlots {
      sendToWatches(of: directory, at: now)
      trimRing(of: directory)
    }
    sessions.finishOps(of: batches.current.undo)
    batches.endRelease(wasSealed: wasSealed)
    if !wasSealed { sessions.forgetDecidedWatches() }
    trimRings()
    if sweep.isDue, batches.isIdle { sweepIdle(at: now) }
    return takeOutput(at: now)
  }

  /// Releases the batch at hand before the sealed ones; the batch has no records, and its answers
  /// show durable facts only.
  mutating func releaseAhead(at now: Instant) -> HubOutput {
    if !batches.current.refusals.isEmpty { refusals.append(batches.current.refusals) }
    releaseEffects(at: now)
    measurements.count(.received, batches.current.messageCount)
    assert(batches.current.records.isEmpty, "rows were decided ahead of a commit")
    batches.current.clearOutputs()
    return takeOutput(at: now)
  }

  private mutating func takeOutput(at now: Instant) -> HubOutput {
    if !trace.isEmpty { traceSent(at: now) }
    measurements.count(.sent, output.deliveries.count)
    output.requests = reads.schedule(output.requests)
    watches.forgetSharedMessages()
    defer { output = HubOutput() }
    return output
  }
}

// The messages of clients.

extension Hub {
  /// The sender of a message: the actor of the connection if it has one, else the peer.
  private mutating func sender(_ connection: ConnectionID, _ peer: Peer) -> Sender {
    guard let actor = sessions.actor(of: connection) else {
      return Sender(connection: connection, peer: peer)
    }
    return Sender(connection: connection, peer: .actor(actor, of: peer))
  }

  mutating func receive(_ message: ClientMessage, from sender: Sender, at now: Instant) {
    route(message, from: sender, session: noteArrival(from: sender, at: now), at: now)
  }

  /// Answers a message that cannot be read; the third malformed frame of a session ends it.
  mutating func answer(_ failure: MessageFailure, to sender: Sender, at now: Instant) {
    let session = noteArrival(from: sender, at: now)
    guard failure.code == .badFrame else {
      return refuse(sender, errorAnswering(failure, session, sender), isOp: failure.verb == .op)
    }
    refuse(sender, OutgoingError(.badFrame, failure.text))
    guard let session else { return }
    sessions[session].malformedCount += 1
    batches.note(.malformed(session: session))
    assert(sessions[session].malformedCount <= 3, "a session goes on after its third")
    if sessions[session].malformedCount >= 3 { endWithBye(session, why: "protocol") }
  }

  /// Counts the message and notes when its session was heard; returns the session.
  private mutating func noteArrival(from sender: Sender, at now: Instant) -> SessionSlot? {
    batches.current.messageCount += 1
    batches.eventCost += Self.costOfMessage
    return sessions.noteMessage(on: sender.connection, at: now)
  }

  /// The error that answers a message that cannot be read.
  ///
  /// Errors about the session take precedence over the error of a wrong argument.
  private mutating func errorAnswering(
    _ failure: MessageFailure, _ session: SessionSlot?, _ sender: Sender
  ) -> OutgoingError {
    var error = OutgoingError(failure.code, id: failure.id, failure.text)
    if let verb = failure.verb { error.addVerb(verb) }
    if failure.code == .limit { error.reason = "size" }
    guard failure.code == .limit || failure.code == .invalidArgument else { return error }
    switch failure.verb {
    case .op:
      guard var fenced = fencedError(for: sender) else { return error }
      fenced.id = failure.id
      return fenced
    case .watch, .unwatch, .credit, .delegate, .answer, .lease, .bye:
      return session == nil ? .noSession(failure.id) : error
    case .hello, .get, .cluster, .ping, nil: return error
    }
  }

  /// Refuses a message about a nav that another daemon serves; returns whether it did.
  ///
  /// An op is checked later, in the order of its checks.
  private mutating func refusesMisplaced(_ message: ClientMessage, _ sender: Sender) -> Bool {
    if shards.areAllHere { return false }
    if case .unwatch = message { return false }
    guard let nav = message.nav, var error = misplacedError(nav) else { return false }
    error.id = message.id
    if case .answer = message { error.addVerb(.answer) }
    refuse(sender, error)
    return true
  }

  /// Whether a sender is a gateway, which may read and change navs only in a session for an actor.
  func needsSession(_ sender: Sender) -> Bool {
    if case .actor = sender.peer { return true }
    return access.speaksForActorsOnly(sender.peer)
  }

  mutating func refuse(
    _ sender: Sender, _ error: OutgoingError, about nav: String? = nil, isOp: Bool = false
  ) {
    noteRefusal(error, of: sender, about: nav)
    let error = nav.map { addingStanding(to: error, of: $0, for: sender) } ?? error
    let outcome: Outcome = isOp ? .refused(error.code) : .refusedMessage(error.code)
    batches.append(.send(sender.connection, .err, ServerMessageWriter.error(error), outcome))
  }

  /// Refuses a message with an id about a nav.
  mutating func refuse(_ sender: Sender, _ failure: OpFailure, _ id: UInt64, about nav: String) {
    var error = failure.error
    error.id = id
    refuse(sender, error, about: nav)
  }

  /// Adds the nav's standing to an error if the sender may read the nav.
  ///
  /// Otherwise removes details of the nav's state from the error.
  func addingStanding(to error: OutgoingError, of nav: String, for sender: Sender) -> OutgoingError
  {
    guard let slot = navs.slot(of: nav) else { return error }
    var error = error
    guard rights(of: sender.peer, onNavAt: slot).contains(.read) else { return error.withoutState }
    error.standing = navs[slot].standing
    return error
  }

  /// Adds a message to the batch; it leaves when the batch is durable.
  mutating func send(
    _ connection: ConnectionID, _ verb: ServerVerb, _ body: [UInt8], _ outcome: Outcome = .none
  ) {
    batches.append(.send(connection, verb, body, outcome))
  }

  private mutating func route(
    _ message: ClientMessage, from sender: Sender, session: SessionSlot?, at now: Instant
  ) {
    switch message {
    case .hello: preconditionFailure("a hello is no message of an actor")
    case .ping(let id):
      let body = ServerMessageWriter.pong(id: id, boot: boot, time: now.wall)
      return send(sender.connection, .pong, body)
    case .get(let request):
      if session == nil, needsSession(sender) {
        return refuse(sender, .noSession(message.id), about: request.nav)
      }
      if refusesMisplaced(message, sender) { return }
      return get(request, for: sender, at: now)
    case .op(let request):
      return operate(request, from: sender, session: session, at: now)
    case .cluster(let request):
      if session == nil, needsSession(sender) {
        return refuse(sender, .noSession(message.id))
      }
      return requestClusterCommand(request, from: sender)
    case .watch, .unwatch, .credit, .delegate, .answer, .lease, .bye: break
    }
    guard let session else { return refuse(sender, .noSession(message.id)) }
    if refusesMisplaced(message, sender) { return }
    switch message {
    case .watch(let request):
      if keepUntilNavExists(request, for: sender, session: session) { return }
      beginWatch(request, for: sender, session: session, at: now)
    case .unwatch(let id, let nav, let view):
      unwatch(nav, view, session: session)
      send(sender.connection, .ok, ServerMessageWriter.ok(id: id, nav: nav))
    case .credit(let limit):
      let hadCredit = sessions[session].hasCredit
      // After a rollback this message is handled again, when the limit has been raised already.
      sessions[session].creditLimit = max(limit, sessions[session].creditLimit)
      if hadCredit { batches.append(.serve(session: session)) } else { resumeWatches(of: session) }
    case .delegate(let request): register(request, for: sender, session: session)
    case .lease(let request): lease(request, for: sender, session: session)
    case .answer(let ask, let answer): receive(answer, to: ask, from: session)
    case .bye(let id):
      send(sender.connection, .ok, ServerMessageWriter.ok(id: id))
      endSession(session, .bye)
    case .hello, .ping, .get, .op, .cluster: break
    }
  }
}

extension ClientMessage {
  /// The id that the answer to this message repeats; nil for messages without one.
  var id: UInt64? {
    switch self {
    case .watch(let request): request.id
    case .unwatch(let id, _, _), .ping(let id), .bye(let id): id
    case .delegate(let request): request.id
    case .lease(let request): request.id
    case .cluster(let request): request.id
    case .op(let request): request.id
    case .get(let request): request.id
    case .hello, .answer, .credit: nil
    }
  }
}
