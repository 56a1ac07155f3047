import NavigationHub
import RuntimePaths
import TransportGuard

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
