import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd
import TransportGuard

// A reload of the configuration while serving: all of it is applied, or nothing. No connection
// ends.

extension ServerLoop {
  /// Takes the pending signals, and reloads for SIGHUP; returns true for any other signal.
  mutating func mustStop(afterSignalsFrom descriptor: Int32) throws -> Bool {
    var mustReload = false
    while true {
      let signal = navd_next_signal(descriptor)
      if signal == 0 { break }
      guard signal == SIGHUP else { return true }
      mustReload = true
    }
    if mustReload { _ = try reload() }
    return false
  }

  /// Answers administrators: the values in use, or the outcome of a reload.
  mutating func answerQuestions() throws {
    while !questions.isEmpty {
      let question = questions.removeFirst()
      let answer: ConfigurationAnswer
      switch question.subject {
      case .values: answer = .value(configuration.valuesAsJSON)
      case .reload:
        let entry = try reload()
        answer =
          entry.level == .error
          ? .refused(entry.message) : .value(OpaqueJSON.string(entry.message).bytes)
      }
      batches.append(.configured(question.connection, id: question.id, answer))
    }
  }

  /// Reads the configuration again, and applies it unless a part of it cannot be applied.
  ///
  /// It logs the outcome, and returns that entry: with level error if the former configuration stays.
  private mutating func reload() throws -> LogEntry {
    // First of all, because the service manager tells reloads apart by this time.
    let began = SystemClock.monotonicNanoseconds() / 1000
    notify(.reloading(sinceMicroseconds: began))
    // The batches in flight were decided by the present configuration.
    try awaitBatches(at: Instant.now())
    writer.awaitCheckpoint()
    let entry = reloaded()
    log(entry)
    notify(.ready, .status("\(entry.message); \(configuration.startStatus)"))
    return entry
  }

  /// Applies a new configuration; returns the entry for the log.
  private mutating func reloaded() -> LogEntry {
    do throws(ServingConfiguration.Refusal) {
      let new = try configuration.examine()
      let changes = configuration.current.changes(to: new.loaded.configuration)
      apply(new.loaded, new.access)
      for warning in Daemon.warnings(about: new.loaded) {
        log(.warning, warning.description, kind: .reloaded)
      }
      guard !changes.isEmpty else {
        return LogEntry(.notice, "reloaded: nothing has changed", kind: .reloaded)
      }
      // Names and values come from the administrator, and are few. A longer list is cut after
      // eight.
      let listed = changes.prefix(8).map(\.description).joined(separator: ", ")
      let more = changes.count > 8 ? " and \(changes.count - 8) more" : ""
      return LogEntry(.notice, "reloaded: \(listed)\(more)", kind: .reloaded)
    } catch {
      // The service manager shows one line, but the log has all faults.
      for other in error.otherReasons { log(.error, other, kind: .reloaded) }
      let more =
        error.otherReasons.isEmpty
        ? "" : " (and \(counted(error.otherReasons.count, "more fault")))"
      let text = "reload refused: \(error.reason)\(more); the former configuration stays"
      return LogEntry(.error, text, kind: .reloaded)
    }
  }

  private mutating func apply(_ loaded: LoadedConfiguration, _ control: AccessControl) {
    let new = loaded.configuration
    if new.retention != configuration.current.retention {
      maintenance.noteRetentionChange(at: Instant.now().boot)
    }
    let reschedules = new.backup != configuration.current.backup
    configuration.loaded = loaded
    if reschedules { scheduleBackups() }
    log.setLevel(new.logLevel)
    hub.reconfigure(Daemon.hubConfiguration(new))
    served?.keeper.useConfiguration(of: hub)
    router.apply(new.router)
    access.watch(new.access.keyDirectory)
    // The keys were read before the watch of their directory began.
    var control = control
    control.readKeys()
    useAccess(control)
    reportLimits()
    messageReader = hub.makeReader()
    writer.journal.retention = new.retention
  }

  // Changes of roles, grants and keys.

  /// Reads the keys again, and ends the sessions of clients whose keys are no longer authorised.
  mutating func rereadKeys() { useAccess(access.reread()) }

  mutating func useAccess(_ control: AccessControl) {
    let former = access.control.access
    access.control = control
    for problem in control.problems {
      log(.warning, "a key is ignored: \(problem)", kind: .clientRefused)
    }
    for connection in router.revoke(control) { batches.append(.revoked(connection)) }
    if control.access != former { batches.append(.access(control.access)) }
  }
}
