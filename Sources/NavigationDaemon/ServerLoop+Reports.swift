import CLinux
import Journal
import NavigationHub
import NavigationProtocol
import RuntimePaths
import TransportGuard
import ZeroMQ

// What the log and the service manager are told.

extension ServerLoop {
  func notify(_ notifications: ServiceNotification...) {
    do {
      try ServiceManager.notify(notifications)
    } catch {
      log(LogEntry(.warning, error.description))
    }
  }

  func reportStorage(_ text: String) {
    log(LogEntry(.error, text, kind: .journalFailed))
    notify(.status(text))
  }

  /// Logs what the router has for the log.
  mutating func reportIncidents() {
    guard !router.incidents.isEmpty else { return }
    for incident in router.incidents { log(LogEntry(incident)) }
    router.incidents = []
  }

  /// Takes our sockets' paths back, and logs what was done.
  func reclaimPlaces() {
    for entry in sockets.reclaim() { log(entry) }
  }
}

// What only the shell can measure, handed to the hub.

extension ServerLoop {
  /// Counts a commit whose messages have just been handed to the socket.
  mutating func measure(_ timing: CommitTiming) {
    hub.measurements.note(timing.duration, .commit)
    hub.measurements.note(UInt64(timing.records), .batch)
    hub.measurements.note(SystemClock.monotonicNanoseconds() - timing.durableAt, .fanOut)
  }

  /// What does not change while the daemon runs.
  mutating func handInConstants() {
    let version = Library.version()
    hub.measurements[.transportVersion] =
      UInt64(version.major) * 10_000 + UInt64(version.minor) * 100 + UInt64(version.patch)
    hub.measurements[.startedAt] = SystemClock.bootMilliseconds()
    hub.measurements[.descriptorLimit] = descriptorLimit() ?? 0
    handInLimits()
  }

  /// What a reload may change.
  mutating func handInLimits() {
    hub.measurements[.journalLimit] = UInt64(configuration.current.history.bytes)
    hub.measurements[.connectionLimit] = UInt64(configuration.current.limits.connections)
    hub.measurements[.principalLimit] = UInt64(
      configuration.current.limits.connectionsPerPrincipal)
  }

  /// Reads what somebody may be about to ask for; the file system is asked now and then only.
  mutating func handInGauges(at now: Instant) {
    hub.measurements[.storageFailing] = maintenance.isStorageFailing ? 1 : 0
    hub.measurements[.logPages] = UInt64(max(writer.walPages, 0))
    guard maintenance.mustMeasure(at: now.boot) else { return }
    handInConnections(at: now)
    let directory = writer.journal.directory
    let sizes = writer.journal.fileSizes
    hub.measurements[.journalBytes] = UInt64(sizes.journal)
    hub.measurements[.logBytes] = UInt64(sizes.log)
    let space = DiskSpace.probe(directory)
    hub.measurements[.diskFree] = space?.free ?? 0
    hub.measurements[.diskSize] = space?.size ?? 0
  }

  private mutating func handInConnections(at now: Instant) {
    let figures = router.measure(at: now.boot)
    hub.measurements[.connections] = UInt64(figures.open)
    hub.measurements[.countedConnections] = UInt64(figures.counted)
    hub.measurements[.openConnections] = UInt64(figures.sockets)
    hub.measurements[.connectionDifferences] = UInt64(figures.differences)
    hub.measurements.principals = figures.principals.prefix(PrincipalConnections.limit).map {
      PrincipalConnections(principal: $0.name, count: UInt64($0.connections))
    }
  }
}
