/// Decides what happens to every nav and every client.
///
/// The hub performs no I/O and reads no clock. It routes each event to the values below, each of
/// which keeps its own laws. The extensions of the hub hold the code that concerns several of these
/// values.
///
/// In a turn, the shell calls `handle` for every event at hand, then `takeRecords`, and makes these
/// records durable. Then it calls `committed` and carries out the output. If the records could not
/// be made durable, it calls `rollBack` instead.
///
/// Laws:
/// - The same events give the same bytes.
/// - No message leaves before the records that it reports are durable.
/// - If the requester watches the whole nav and has credit, the diff of a revision leaves before
///   the `ok` that reports the revision.
package struct Hub: Sendable {
  var configuration: HubConfiguration
  /// The access rules.
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
  /// Counters, gauges and histograms; the shell adds what it measures itself.
  package var measurements = Measurements()
  /// The time at which the shell must call `handle(.wake)`; nil if no deadline is pending.
  ///
  /// CLOCK_BOOTTIME in milliseconds.
  package var wakeAt: UInt64? { timer.wakeAt }

  /// Makes a hub without navs.
  ///
  /// - Parameters:
  ///   - configuration: the limits.
  ///   - access: the access rules.
  ///   - seed: the source of random epochs; it must differ between runs.
  package init(configuration: HubConfiguration, access: Access = Access(), seed: UInt64) {
    self.configuration = configuration
    self.access = access
    navs = Navs(seed: seed)
    remembered = RememberedOps(limits: configuration)
  }

  /// The epoch that identifies this run of the daemon.
  package var boot: Epoch { navs.boot }

  /// Makes a reader of clients' messages that rejects what is larger than this hub's limit.
  package func makeReader() -> ClientMessageReader {
    ClientMessageReader(maximumBytes: configuration.maximumRequestBytes)
  }

  /// Handles one event; its outputs wait for `committed`.
  ///
  /// The nav of the event must not be dormant, see `dormant(for:)`.
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

  /// The number of the newest row, durable or not.
  package var sequence: UInt64 { batches.sequence }

  /// During a replay, the hub remembers the ops of rows after this one regardless of their age.
  package var remembersBehind: UInt64 {
    get { remembered.remembersBehind }
    set { remembered.remembersBehind = newValue }
  }

  /// Takes the records of the batch at hand out, to be made durable together.
  package mutating func takeRecords() -> JournalRecords { batches.takeRecords() }

  /// Whether ops may be decided while the batch at hand is being made durable.
  ///
  /// They may not while a virtual nav is watched, because its records would show what is not
  /// durable yet. Nor while a watch waits for a state of which everything is durable, while the
  /// journal takes no commits, or while the daemon stops.
  package var maySeal: Bool { batches.maySeal && !isStopping && !navs.hasActiveDirectory }

  /// The number of batches that are sealed and not yet committed.
  package var sealedCount: Int { batches.sealed.count }

  /// Seals the batch at hand, whose records must have been taken.
  ///
  /// From then on each `committed` is about the oldest sealed batch, and `rollBack` about all
  /// batches. Until the commit, the shell may handle messages with ops only; they go into the next
  /// batch.
  package mutating func seal() {
    precondition(maySeal, "a hub that shows what is not durable, or is stopping")
    batches.seal(coordinations.takeBefore(), navs.slots)
  }

  /// Notes that the records of a batch are durable; returns the outputs that waited for them.
  ///
  /// The batch is the oldest sealed one, or the batch at hand if none is sealed.
  package mutating func committed(at now: Instant) -> HubOutput {
    let wasSealed = batches.beginRelease()
    for touched in batches.current.touched where navs.isLive(touched.slot) {
      navs.slots[touched.slot].durable =
        touched.revision ?? navs.slots[touched.slot].controller.revision
      assert(navs.slots[touched.slot].durable <= navs.slots[touched.slot].revision)
    }
    releaseEffects(at: now)
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
    batches.endRelease(wasSealed: wasSealed)
    if !wasSealed { _ = coordinations.takeBefore() }
    trimRings()
    measurements.count(.sent, output.deliveries.count)
    watches.endTurn()
    defer { output = HubOutput() }
    return output
  }
}
