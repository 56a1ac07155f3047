import CLinux
import Journal
import Navigation
import NavigationHub
import NavigationProtocol
import RuntimePaths
import TransportGuard

// Another configuration while serving: all of it or nothing, and no connection ends.

extension ServerLoop {
  /// Takes the signals that have come; returns whether to stop.
  mutating func takeSignals(_ descriptor: Int32) throws -> Bool {
    var mustReload = false
    while true {
      let signal = navd_next_signal(descriptor)
      if signal == 0 { break }
      guard signal == SIGHUP else { return true }
      mustReload = true
    }
    if mustReload { try reload() }
    return false
  }

  /// Reads the configuration again and applies it, if all of it can be applied.
  private mutating func reload() throws {
    // Before anything else, by which the service manager tells this reload from one before.
    let began = SystemClock.monotonicNanoseconds() / 1000
    notify(.reloading(sinceMicroseconds: began))
    // The batches under way were decided by the configuration at hand.
    try standStill(at: Self.now())
    writer.rest()
    let entry = reloaded()
    log(entry)
    notify(.ready, .status("\(entry.message); \(configuration.status)"))
  }

  /// Applies a new configuration; returns what became of it.
  private mutating func reloaded() -> LogEntry {
    do throws(ServingConfiguration.Refusal) {
      let new = try configuration.examine()
      let changes = configuration.current.changes(to: new.configuration)
      apply(new.configuration, new.access)
      guard !changes.isEmpty else {
        return LogEntry(.notice, "reloaded: nothing has changed", kind: .reloaded)
      }
      // Names and values are the administrator's, and few; a whole new file is told in short.
      let told = changes.prefix(8).map(\.description).joined(separator: ", ")
      let more = changes.count > 8 ? " and \(changes.count - 8) more" : ""
      return LogEntry(.notice, "reloaded: \(told)\(more)", kind: .reloaded)
    } catch {
      // The service manager shows one line; the log has them all.
      for other in error.others { log(LogEntry(.error, other, kind: .reloaded)) }
      let more =
        error.others.isEmpty ? "" : " (and \(counted(error.others.count, "more fault")))"
      let text = "reload refused: \(error.reason)\(more); the former configuration stays"
      return LogEntry(.error, text, kind: .reloaded)
    }
  }

  private mutating func apply(_ new: Configuration, _ control: AccessControl) {
    if new.history != configuration.current.history {
      maintenance.noteRetention(at: Self.now().boot)
    }
    configuration.use(new)
    log.setLevel(new.logLevel)
    hub.reconfigure(Daemon.hubConfiguration(new))
    router.apply(Daemon.routerLimits(new))
    access.watch(new.access.keyDirectory)
    // The new keys were read before there was a watch of their directory.
    var control = control
    control.readKeys()
    takeOver(control)
    handInLimits()
    messageReader = hub.makeReader()
    writer.journal.retention = Daemon.retention(new)
  }
}

// Roles, grants and keys that change.

extension ServerLoop {
  /// Reads the keys again, and ends the sessions of those that are not authorised any more.
  mutating func rereadKeys() { takeOver(access.reread()) }

  /// Judges by other roles, grants and keys from now on.
  mutating func takeOver(_ control: AccessControl) {
    let former = access.control.access
    access.use(control)
    for problem in control.problems {
      log(LogEntry(.warning, "a key is left out: \(problem)", kind: .refused))
    }
    for connection in router.revoke(control) { batches.append(.revoked(connection)) }
    if control.access != former { batches.append(.access(control.access)) }
  }
}
