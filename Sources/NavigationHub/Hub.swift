package import Navigation
package import NavigationProtocol

/// Decides what happens to every nav and every client.
///
/// Performs no I/O, reads no clock. The hub routes each event to the values below, which keep their
/// laws themselves; the extensions of the hub are what concerns several of them.
///
/// A turn of the shell is: `handle` for every event at hand, `takeRecords`, make them durable, then
/// `committed`, and do what its output says; or `rollBack`, if they could not be made durable.
///
/// Laws:
/// - The same events give the same bytes.
/// - No message leaves before the records that it reports are durable.
/// - The diff of a revision goes onto the requester's own full watch before the `ok`.
package struct Hub: Sendable {
  var configuration: HubConfiguration
  /// Who may do what.
  package internal(set) var access: Access
  var navs: Navs
  var sessions = Sessions()
  var watches = Watches()
  var remembered: RememberedOps
  var batches = Batches()
  var coordinations = Coordinations()
  var timer = WakeTimer()
  var output = HubOutput()
  var reads = HistoryReads()
  var isStopping = false
  /// What was done so far, in numbers; the shell adds what it measures.
  package var measurements = Measurements()
  /// When `handle(.wake)` is due; nil if nothing waits.
  ///
  /// CLOCK_BOOTTIME in milliseconds.
  package var wakeAt: UInt64? { timer.wakeAt }

  /// Makes a hub without navs.
  ///
  /// - Parameters:
  ///   - configuration: the limits.
  ///   - access: who may do what.
  ///   - seed: randomness for epochs; a new one for every run.
  package init(configuration: HubConfiguration, access: Access = Access(), seed: UInt64) {
    self.configuration = configuration
    self.access = access
    navs = Navs(seed: seed)
    remembered = RememberedOps(limits: configuration)
  }

  /// Names this run of the daemon.
  package var boot: Epoch { navs.boot }

  /// A reader of messages that takes what this hub takes.
  package func makeReader() -> ClientMessageReader {
    ClientMessageReader(maximumBytes: configuration.maximumRequestBytes)
  }

  /// Takes one event; what follows from it waits for `committed`.
  ///
  /// The nav that it is about must not be dormant, see `dormant(for:)`.
  package mutating func handle(_ event: HubEvent, at now: Instant) {
    precondition(!isUnsound, "an event while a nav is unsound")
    assert(dormant(for: event) == nil, "an event about a nav that is dormant")
    timer.advance(to: now)
    switch event {
    case .message(let connection, let peer, let message):
      receive(message, from: Sender(connection: connection, peer: peer), at: now)
    case .unreadable(let connection, let peer, let failure):
      answer(failure, to: Sender(connection: connection, peer: peer), at: now)
    case .closed(let connection):
      if let slot = sessions.close(connection) { endSession(slot, .lost) }
    case .blocked(let connection):
      if let slot = sessions.slot(of: connection) { sessions.slots[slot].isBlocked = true }
    case .unblocked(let connection):
      guard let slot = sessions.slot(of: connection) else { return }
      sessions.slots[slot].isBlocked = false
      batches.append(.pump(session: slot))
    case .history(let answer): finishRead(answer, at: now)
    case .backupProgress(let progress): reads.note(progress)
    case .backup(let answer): finishBackup(answer)
    case .floor(let number, let revision):
      navs.setFloor(of: number, Revision(revision))
    case .snapshotWanted(let number):
      if let slot = navs.slot(numbered: number) { recordSnapshot(of: slot, at: now) }
    case .access(let access): change(access)
    case .revoked(let connection): revoke(connection)
    case .wake: wake(at: now)
    case .stop: stop()
    }
  }

  /// The number of the last row.
  package var sequence: UInt64 { batches.sequence }

  /// While replaying: the ops of rows behind this one are remembered whatever their time.
  package var remembersBehind: UInt64 {
    get { remembered.remembersBehind }
    set { remembered.remembersBehind = newValue }
  }

  /// The records of the batch at hand, to be made durable together.
  package mutating func takeRecords() -> [JournalRecord] { batches.takeRecords() }

  /// Whether ops may be decided while the batch at hand is being made durable.
  ///
  /// Not while a virtual nav is watched, which would show what is not durable yet, and not while a
  /// watch waits for a state of which everything is durable.
  package var maySeal: Bool { batches.maySeal && !isStopping && !navs.hasActiveDirectory }

  /// The number of batches that are sealed and not yet committed.
  package var sealedCount: Int { batches.sealed.count }

  /// Closes the batch at hand, whose records were all taken.
  ///
  /// Each `committed` is about the oldest batch sealed from then on, and `rollBack` about all of
  /// them. Messages with ops, and only those, may be handled meanwhile; they begin the next batch.
  package mutating func seal() {
    precondition(maySeal, "a hub that shows what is not durable, or is stopping")
    batches.seal(coordinations.takeBefore(), navs.slots)
  }

  /// Takes note that the records taken are durable; returns everything that waited for them.
  ///
  /// The records are those of the oldest sealed batch if there is one.
  package mutating func committed(at now: Instant) -> HubOutput {
    let next = batches.beginRelease()
    for touched in batches.current.touched where navs.isLive(touched.slot) {
      navs.slots[touched.slot].durable =
        touched.revision ?? navs.slots[touched.slot].controller.revision
    }
    let effects = batches.current.effects
    for effect in effects { release(effect, at: now) }
    measurements.count(.received, batches.current.messages)
    publishDirectories()
    for touched in batches.current.touched where navs.isLive(touched.slot) {
      pumpWatches(of: touched.slot, at: now)
      trim(touched.slot)
    }
    for directory in Navs.virtualSlots {
      pumpWatches(of: directory, at: now)
      trim(directory)
    }
    sessions.finish(batches.current.answering, answers: 1)
    batches.endRelease(next)
    if next == nil { _ = coordinations.takeBefore() }
    trimRings()
    measurements.count(.sent, output.deliveries.count)
    watches.endTurn()
    defer { output = HubOutput() }
    return output
  }
}
