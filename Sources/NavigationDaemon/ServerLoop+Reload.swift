import CLinux
import Journal
import Navigation
import NavigationSync
import RuntimePaths

// Another configuration while serving: all of it or nothing, and nobody is sent away.

extension ServerLoop {
  /// What it takes to read the configuration again.
  struct Reloading {
    var sources: ConfigurationSources
    var rules: PathRules
    /// What the daemon was started with.
    var first: Configuration
    /// What the service manager was told after the start.
    var status: String
  }

  /// Takes the signals that have come: to stop, or to read the configuration again.
  mutating func takeSignals(_ descriptor: Int32) throws {
    var mustReload = false
    while true {
      let signal = navd_next_signal(descriptor)
      if signal == 0 { break }
      if signal == SIGHUP { mustReload = true } else { isStopping = true }
    }
    if mustReload, !isStopping { try reload() }
  }

  /// Reads the configuration again and takes it over, if it can be in whole.
  private mutating func reload() throws {
    guard let reloading else { return }
    // Before anything else, by which the service manager tells this reload from one before.
    let began = SystemClock.monotonicNanoseconds() / 1000
    notify(.reloading(sinceMicroseconds: began))
    // What is being made durable was decided by the configuration at hand.
    try standStill(at: Self.now())
    writer.rest()
    let (level, text) = takeOver(reloading)
    log(LogEntry(level, text, kind: .reloaded))
    notify(.ready, .status("\(text); \(reloading.status)"))
  }

  /// Takes a new configuration over, and says how it went.
  private mutating func takeOver(_ reloading: Reloading) -> (LogLevel, String) {
    let (loaded, faults) = reloading.sources.examine()
    if let first = faults.first {
      // The service manager shows one line; the log has them all.
      for fault in faults.dropFirst() { log(LogEntry(.error, fault.description, kind: .reloaded)) }
      let more = faults.count > 1 ? " (and \(counted(faults.count - 1, "more fault")))" : ""
      return (
        .error, "reload refused: \(first.description)\(more); the former configuration stays"
      )
    }
    let new = loaded.configuration
    if let reason = configuration.reasonAgainstReload(new, startedWith: reloading.first) {
      return (.error, "reload refused: \(reason); the former configuration stays")
    }
    let control: AccessControl
    do throws(DaemonError) {
      control = try AccessControl(new.access, daemonUser: reloading.rules.userID)
    } catch {
      return (.error, "reload refused: \(error.description); the former configuration stays")
    }
    let changes = configuration.changes(to: new)
    apply(new, control)
    guard !changes.isEmpty else { return (.notice, "reloaded: nothing has changed") }
    // Names and values are the administrator's, and few; a whole new file is told in short.
    let told = changes.prefix(8).map(\.description).joined(separator: ", ")
    let more = changes.count > 8 ? " and \(changes.count - 8) more" : ""
    return (.notice, "reloaded: \(told)\(more)")
  }

  private mutating func apply(_ new: Configuration, _ control: AccessControl) {
    // There may be more to prune than before.
    if new.history != configuration.history { maintenanceDue = Self.now().boot }
    configuration = new
    log.setLevel(new.logLevel)
    hub.reconfigure(Daemon.hubConfiguration(new))
    gate.setTotalLimit(new.limits.unreadTotalBytes)
    keyWatch.start(new.access.keyDirectory)
    // Read before there was a watch of that directory.
    var control = control
    control.readKeys()
    takeOver(control)
    handInLimits()
    messageReader = hub.makeReader()
    writer.journal.retention = Daemon.retention(new)
  }
}
