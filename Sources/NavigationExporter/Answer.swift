package import NavigationSync

/// An answer to a request over HTTP.
package struct Answer: Hashable, Sendable {
  /// The status, as in 200.
  package var status: UInt32
  /// What the body is.
  package var type: String
  /// The body.
  package var body: String

  /// Makes an answer of plain text, one line.
  package init(_ status: UInt32, _ line: String) {
    self.status = status
    type = "text/plain; charset=utf-8"
    body = line + "\n"
  }

  init(metrics: String) {
    (status, type, body) = (200, PrometheusText.contentType, metrics)
  }
}

/// Where the answers come from: the daemon, asked within bounded time.
package protocol DaemonProbe: ~Copyable {
  /// Asks for the statistics.
  ///
  /// - Throws: why there are none, as text for people.
  mutating func statistics() throws(ProbeFailure) -> DaemonStatistics

  /// Asks for a sign of life of the daemon's loop.
  mutating func ping() throws(ProbeFailure)
}

/// Why a daemon could not be asked.
package struct ProbeFailure: Error, Hashable, Sendable {
  /// One line for people.
  package var reason: String

  /// Makes a failure.
  package init(_ reason: String) { self.reason = reason }
}

/// Decides what a request gets.
package enum Router {
  /// The answer to a request; nothing but its method and its path is looked at.
  package static func answer(
    method: String, path: String, from probe: inout some DaemonProbe & ~Copyable
  ) -> Answer {
    guard ["/metrics", "/livez", "/readyz"].contains(path) else {
      return Answer(404, "there are /metrics, /livez and /readyz")
    }
    guard method == "GET" else { return Answer(405, "only GET is answered") }
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

  /// Whether the daemon does what it is there for.
  static func readiness(_ statistics: DaemonStatistics) -> Answer {
    if statistics.isServing == false { return Answer(503, "navd is stopping") }
    if statistics.isStorageFailing {
      return Answer(503, "the journal cannot be written; navd's log says why")
    }
    return Answer(200, "ok")
  }
}
