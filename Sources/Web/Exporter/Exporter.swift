import CLinux
package import RuntimePaths

/// The main function of navd-exporter.
package enum Exporter {
  package static let version = "0.1.0"
  package static let defaultAddress = "127.0.0.1:9719"

  /// Serves on the calling thread until SIGTERM or SIGINT arrives.
  ///
  /// nil as `endpoint` means that `rules` find the daemon, which need not run yet.
  package static func run(
    _ address: ListenAddress, endpoint: String?, rules: PathRules,
    ready: (ListenAddress) -> Void
  ) throws {
    let signals = try stopSignalDescriptor()
    let source = MetricsApplication(ConnectionProbe(endpoint: endpoint, rules: rules))
    var server = try HTTPServer(address, application: source)
    ready(server.boundAddress)
    while true {
      var entries = [
        pollfd(fd: server.pollDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
      ]
      let result = unsafe poll(&entries, nfds_t(entries.count), server.timeoutMilliseconds)
      guard result >= 0 || navd_errno() == EINTR else {
        throw SystemError("wait for", "requests", code: navd_errno())
      }
      // The exporter has no configuration, so SIGHUP has no effect.
      if entries[1].revents != 0, navd_next_signal(signals) != SIGHUP { return }
      server.run()
    }
  }

  /// Holds the noncopyable probe for the server's callbacks, which all run on one thread.
  ///
  /// The exporter accepts any header `Host`: it serves figures only, and monitoring systems use
  /// names of their own for it.
  private final class MetricsApplication: HTTPApplication {
    private var probe: ConnectionProbe

    init(_ probe: consuming ConnectionProbe) { self.probe = probe }

    func decideAfterHead(_ request: HTTPRequest) -> HTTPDecision {
      .respond(MetricsRouter.answer(method: request.method, path: request.path, from: &probe))
    }

    func decideAfterBody(_ request: HTTPRequest) -> HTTPDecision { decideAfterHead(request) }

    func refusalResponse(_ status: UInt32, _ reason: String) -> HTTPResponse {
      HTTPResponse(status, reason)
    }
  }
}
