import Journal
import NavigationCore
import RuntimePaths
import TransportGuard

// One turn: handle the events at hand, commit the changes, send the answers.

extension ServerLoop {
  /// The number of events from which the writer commits a batch, instead of the loop.
  private static let eventsWorthOverlapping = 8
  /// The number of events after which their records are passed to the writer.
  private static let eventsPerPart = 16

  /// Performs one turn: takes the writer's progress, then handles the events at hand and due work.
  mutating func turn(at now: Instant) throws {
    try takeProgress(at: now)
    takeRouterEvents()
    if let wakeAt = hub.wakeAt, wakeAt <= now.boot { batches.append(.wake) }
    if !batches.areDurable, mustStandStill(at: now) { try standStill(at: now) }
    if batches.areDurable, !writer.isBusy { try maintain(at: now) }
    try handleEvents(at: now)
    reviveSome(at: now)
    try router.takeDue(at: now.boot)
    reportIncidents()
  }

  private mutating func takeRouterEvents() {
    guard !router.events.isEmpty else { return }
    batches.append(router.events)
    router.events.removeAll(keepingCapacity: true)
  }

  /// Handles the events at hand as one batch, and commits it here or passes it to the writer.
  private mutating func handleEvents(at now: Instant) throws {
    let isAlone = batches.areDurable
    let hasGet = batches.hasGet
    let events = batches.begin()
    guard !events.isEmpty else { return }
    maintenance.noteEvents(at: now.boot)
    if hasGet { handInGauges(at: now) }
    for index in events.indices {
      try handle(events[index], at: now)
      guard !hub.isUnsound else { return try decideAgain(at: now) }
      // The writer inserts a part of a large batch while the rest of it is decided.
      if index % Self.eventsPerPart == Self.eventsPerPart - 1 { writer.stage(hub.takeRecords()) }
    }
    let records = hub.takeRecords()
    let isSmall = isAlone && events.count < Self.eventsWorthOverlapping
    // During a checkpoint, or if more ops are about to arrive, the batch goes to the writer's queue.
    if isSmall, !hub.maySeal || !writer.takes(records.count) {
      try commit(records, at: now)
    } else {
      let maySeal = hub.maySeal
      if maySeal { hub.seal() }
      writer.submit(records)
      if !maySeal { try standStill(at: now) }
    }
  }

  /// Takes the batch at hand back, in which an op broke an invariant, and decides its events again.
  private mutating func decideAgain(at now: Instant) throws {
    while !batches.isNewestAlone {
      writer.awaitProgress()
      try takeProgress(at: now)
    }
    // If an earlier batch could not be stored, everything was taken back already.
    guard hub.isUnsound else { return }
    writer.discard()
    try reload(hub.rollBackUnsound())
    batches.takeBack()
    try handleEvents(at: now)
  }

  mutating func handle(_ event: HubEvent, at now: Instant) throws {
    if hub.hasDormantNavs, let request = hub.dormant(for: event) {
      let (snapshot, rows) = try history.chain(of: request)
      try hub.revive(request, snapshot: snapshot, rows: rows)
    }
    hub.handle(event, at: now)
  }

  /// Performs the effects of a durable batch: messages, requests to the history, log entries.
  mutating func release(_ output: HubOutput) throws {
    try router.send(output)
    if !output.requests.isEmpty { history.ask(output.requests) }
    if output.startsBackup { backups.start() }
    for connection in output.dropped { router.discardOutbox(of: connection) }
    for notice in output.notices { log(LogEntry(notice)) }
  }
}

// Messages that have arrived.

extension ServerLoop {
  /// Receives a limited number of messages; returns whether there were any.
  ///
  /// `isAwaited` says that the router was empty when it was last read.
  mutating func receiveMessages(isAwaited: Bool) throws -> Bool {
    var count = 0
    while count < Self.messagesPerTurn, batches.mayReceive {
      guard try router.receive() else { break }
      count += 1
      batches.noteReceived(router.receivedBytes)
      takeMessage()
      // Reading an empty socket costs two system calls. So where messages come one at a time, each
      // is handled without looking for another. One that came meanwhile is found in the next turn.
      if count == 1, isAwaited, polling.comeOneByOne { return true }
    }
    if count > 0 { polling.noteReceived(count, isAwaited: isAwaited) }
    return count > 0
  }

  // Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  private mutating func takeMessage() {
    // Messages are decoded here, while they are received. Handling them later then needs none of
    // the reader's code and buffers in the processor's caches.
    if let event = router.readEvent(&messageReader, access.control) { batches.append(event) }
  }

  /// Polls for messages for as long as `polling` allows; returns whether there are any.
  ///
  /// It does not poll while the writer has batches, because the writer needs the processor, nor
  /// while there is other work.
  mutating func lookForMessages() throws -> Bool {
    guard batches.areDurable, batches.atHand.isEmpty, router.events.isEmpty else { return false }
    let start = SystemClock.monotonicNanoseconds()
    polling.beginWait(at: start)
    let limit = polling.limit
    var last = start
    while last - start < limit {
      if try receiveMessages(isAwaited: true) {
        polling.endWait(at: SystemClock.monotonicNanoseconds())
        return true
      }
      let now = SystemClock.monotonicNanoseconds()
      guard polling.goesOn(afterLook: now - last) else { return false }
      last = now
    }
    return false
  }
}
