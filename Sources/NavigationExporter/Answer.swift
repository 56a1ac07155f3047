package import NavigationCore

/// A response to an HTTP request.
package struct Answer: Hashable, Sendable {
  /// The status code, such as 200.
  package var status: UInt32
  /// The value of `Content-Type`.
  package var type: String
  /// The body.
  package var body: String

  /// Makes a response of one line of plain text.
  package init(_ status: UInt32, _ line: String) {
    self.status = status
    type = "text/plain; charset=utf-8"
    body = line + "\n"
  }

  init(metrics: String) {
    (status, type, body) = (200, PrometheusText.contentType, metrics)
  }
}

/// The queries that responses need; a test replaces the daemon by a double.
package protocol DaemonProbe: ~Copyable {
  /// Reads the statistics of the daemon.
  ///
  /// - Throws: the reason as text, if the daemon does not answer within 2.5 s.
  mutating func statistics() throws(ProbeFailure) -> DaemonStatistics

  /// Waits for a reply from the loop of the daemon, which shows that the loop runs.
  mutating func ping() throws(ProbeFailure)
}

/// The reason why a query failed.
package struct ProbeFailure: Error, Hashable, Sendable {
  /// The reason in one line.
  package var reason: String

  /// Makes a failure from its reason.
  package init(_ reason: String) { self.reason = reason }
}

/// Chooses the response to a request.
package enum Router {
  /// The response to a request, which depends only on its method, its path and the daemon.
  package static func answer(
    method: String, path: String, from probe: inout some DaemonProbe & ~Copyable
  ) -> Answer {
    guard ["/metrics", "/livez", "/readyz"].contains(path) else {
      return Answer(404, "not found; the paths are /metrics, /livez and /readyz")
    }
    guard method == "GET" else { return Answer(405, "method not allowed; use GET") }
    do throws(ProbeFailure) {
      switch path {
      case "/livez":
        try probe.ping()
        return Answer(200, "ok")
      case "/readyz": return readiness(try probe.statistics())
      default: return Answer(metrics: PrometheusText.render(try probe.statistics()))
      }
    } catch {
      return Answer(503, error.reason)
    }
  }

  /// 200 if the daemon can serve changes, else 503 with the reason.
  static func readiness(_ statistics: DaemonStatistics) -> Answer {
    if statistics.isServing == false { return Answer(503, "navd is stopping") }
    if statistics.isStorageFailing {
      return Answer(503, "navd cannot write its journal; its log has the error")
    }
    return Answer(200, "ok")
  }
}
