import CLinux
import Journal
import NavigationSync
import RuntimePaths
import ZeroMQ

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
    hub.measurements[.journalLimit] = UInt64(configuration.history.bytes)
    hub.measurements[.connectionLimit] = UInt64(configuration.limits.connections)
    hub.measurements[.principalLimit] = UInt64(configuration.limits.connectionsPerPrincipal)
  }

  /// Reads what somebody may be about to ask for; the file system is asked now and then only.
  mutating func handInGauges(at now: Instant) {
    hub.measurements[.storageFailing] = isStorageFailing ? 1 : 0
    hub.measurements[.logPages] = UInt64(max(writer.walPages, 0))
    guard now.boot >= gaugesDue else { return }
    gaugesDue = now.boot + Self.gaugesAge
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
    takeConnectionEvents()
    if audit.isDueForAnswers(at: now.boot) { auditConnections(at: now) }
    hub.measurements[.connections] = UInt64(connections.openCount)
    hub.measurements.principals = connections.principals.prefix(PrincipalConnections.limit).map {
      PrincipalConnections(principal: $0.name, count: UInt64($0.connections))
    }
  }

  /// Compares the table with the kernel's sockets.
  ///
  /// It reports each difference older than 2 s, and removes connections that the kernel no longer has.
  mutating func auditConnections(at now: Instant) {
    takeConnectionEvents()
    let open = openSockets()
    let counted = connections.cookies
    hub.measurements[.countedConnections] = UInt64(counted.count)
    hub.measurements[.openConnections] = UInt64(open.count)
    let found = audit.compare(counted: counted, open: open, at: now.boot)
    guard found.count > 0 else { return }
    hub.measurements[.connectionDifferences] += UInt64(found.count)
    log(
      LogEntry(
        .error,
        "connections are miscounted: \(found.counted.count) have ended and were counted, "
          + "\(found.open.count) are open and were not; this is a fault of navd, please report it"))
    for cookie in found.counted { connections.noteClosed(cookie: cookie, at: now.boot) }
  }

  /// The kernel's numbers of the sockets that peers are connected to.
  private func openSockets() -> [UInt64] {
    let listening = listener.sockets.map(\.descriptor)
    return (0...gate.highestDescriptor).compactMap { descriptor in
      let isPeer = listening.contains { navd_was_accepted_from(descriptor, $0) != 0 }
      return isPeer ? navd_socket_cookie(descriptor) : nil
    }
  }

  /// Milliseconds for which what the file system said is good enough.
  private static let gaugesAge: UInt64 = 100
}
