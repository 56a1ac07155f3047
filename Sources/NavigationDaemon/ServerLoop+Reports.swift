import CommandLineOptions
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import TransportGuard
import ZeroMQ

// Reports to the log and to the service manager.

extension ServerLoop {
  func notify(_ notifications: ServiceNotification...) {
    do {
      try ServiceManager.notify(notifications)
    } catch {
      log(.warning, error.description)
    }
  }

  /// Reports what prevents changes, or that nothing does any more.
  func reportStorage(_ problem: String?) {
    let text = problem ?? "the journal can be written again"
    log(problem == nil ? .notice : .error, text, kind: problem == nil ? nil : .journalFailed)
    notify(.status(text))
  }

  /// Passes the progress of long work to the service manager, if that is due.
  mutating func show(
    _ subject: ProgressSubject, _ done: UInt64, of total: UInt64, at now: UInt64
  ) {
    if let text = workStatus.note(subject, done, of: total, at: now) { show(text) }
  }

  /// Shows the progress of pruning, as long as rows are left to examine.
  mutating func notePruning(_ report: MaintenanceReport, at now: Instant) {
    if report.rowsLeft > 0 {
      if let text = workStatus.note(.prune, left: report.rowsLeft, at: now.boot) { show(text) }
    } else {
      end(.prune)
    }
  }

  mutating func end(_ subject: ProgressSubject) {
    if workStatus.end(subject) { notify(.status(idleStatus)) }
  }

  /// The status of a daemon that does no long work.
  private var idleStatus: String {
    maintenance.storageProblem ?? sockets.problem ?? configuration.startStatus
  }

  private func show(_ text: String) { notify(.status("\(text); \(idleStatus)")) }

  mutating func reportNotices() {
    guard !router.notices.isEmpty else { return }
    for notice in router.notices { log(LogEntry(notice)) }
    router.notices = []
  }

  /// Restores the paths of sockets that another process has replaced, and logs that; examines the
  /// journal, too.
  mutating func restoreSocketPaths() {
    let former = sockets.problem
    for entry in sockets.restorePaths() { log(entry) }
    if sockets.problem != former { notify(.status(idleStatus)) }
    examine()
  }

  // Measurements of the shell, for the hub's statistics.

  /// Gives the hub the timing of a commit whose messages have just been passed to the socket.
  mutating func measure(_ timing: CommitMeasurement) {
    hub.measurements.note(timing.duration, .commitNanoseconds)
    hub.measurements.note(UInt64(timing.records), .recordsPerCommit)
    hub.measurements.note(SystemClock.monotonicNanoseconds() - timing.durableAt, .fanOutNanoseconds)
  }

  /// Gives the hub the figures that do not change while the daemon runs.
  mutating func measureConstants() {
    let version = libraryVersion()
    hub.measurements[.libzmqVersion] =
      UInt64(version.major) * 10_000 + UInt64(version.minor) * 100 + UInt64(version.patch)
    hub.measurements[.startedAt] = SystemClock.bootMilliseconds()
    hub.measurements[.descriptorLimit] = descriptorLimit() ?? 0
    reportLimits()
  }

  /// Copies the configured limits into the hub's statistics; a reload may change them.
  mutating func reportLimits() {
    let limits = configuration.current.router
    hub.measurements[.retentionBytes] = UInt64(configuration.current.retention.bytes)
    hub.measurements[.connectionLimit] = UInt64(limits.connections)
    hub.measurements[.connectionsPerPrincipalLimit] = UInt64(limits.connectionsPerPrincipal)
  }

  /// Gives the hub the present figures before a client reads them; it asks the file system at most
  /// ten times a second.
  mutating func measureGauges(at now: Instant) {
    hub.measurements.storageProblem = maintenance.storageProblem
    hub.measurements.socketProblem = sockets.problem
    hub.measurements[.walPages] = UInt64(max(writer.walPages, 0))
    measureBackups(at: now)
    guard maintenance.mustReadFileFigures(at: now.boot) else { return }
    let figures = router.measure(at: now.boot)
    hub.measurements[.connections] = UInt64(figures.open)
    hub.measurements[.comparedConnections] = UInt64(figures.countedConnections)
    hub.measurements[.kernelConnections] = UInt64(figures.kernelSockets)
    hub.measurements[.connectionDifferences] = UInt64(figures.differences)
    hub.measurements.principals = figures.principals.prefix(PrincipalConnections.listedCount).map {
      PrincipalConnections(principal: $0.name, count: UInt64($0.connections))
    }
    let sizes = writer.journal.fileSizes
    hub.measurements[.journalBytes] = UInt64(sizes.journal)
    hub.measurements[.walBytes] = UInt64(sizes.log)
    let space = writer.journal.place.directory.flatMap { DiskSpace.probe($0.path) }
    hub.measurements[.diskFree] = space?.free ?? 0
    hub.measurements[.diskSize] = space?.size ?? 0
  }
}
