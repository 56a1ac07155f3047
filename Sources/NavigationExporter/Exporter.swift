import CLinux
package import RuntimePaths

/// The exporter from start to stop.
package enum Exporter {
  /// The version, as `--version` says it.
  package static let version = "0.1.0"
  /// Where it listens unless it is told.
  package static let defaultAddress = "127.0.0.1:9719"

  /// Serves until a stop signal comes; blocks the calling thread.
  ///
  /// - Parameters:
  ///   - address: where to listen.
  ///   - endpoint: where the daemon is, which need not be there yet; nil to look for it.
  ///   - rules: where it is looked for.
  ///   - ready: told once where it listens.
  /// - Throws: `SystemError`.
  package static func run(
    _ address: ListenAddress, endpoint: String?, rules: PathRules,
    ready: (ListenAddress) -> Void
  ) throws {
    // Before any thread exists, which would otherwise take the signals.
    let signals = navd_stop_signals()
    guard signals >= 0 else { throw SystemError("catch", "SIGTERM", code: navd_errno()) }
    let source = Source(ConnectionProbe(endpoint: endpoint, rules: rules))
    let server = try HTTPServer(address) { source.answer(method: $0, path: $1) }
    ready(server.bound)
    while true {
      var entries = [
        pollfd(fd: server.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
        pollfd(fd: server.hasRoom ? server.listener : -1, events: Int16(POLLIN), revents: 0),
      ]
      let result = unsafe poll(&entries, nfds_t(entries.count), server.timeout)
      guard result >= 0 || navd_errno() == EINTR else {
        throw SystemError("wait for", "requests", code: navd_errno())
      }
      // There is nothing to read again.
      if entries[1].revents != 0, navd_next_signal(signals) != SIGHUP { return }
      server.run()
    }
  }

  /// Keeps the probe for the callbacks of the server, all on one thread.
  private final class Source {
    private var probe: ConnectionProbe

    init(_ probe: consuming ConnectionProbe) { self.probe = probe }

    func answer(method: String, path: String) -> Answer {
      Router.answer(method: method, path: path, from: &probe)
    }
  }
}
