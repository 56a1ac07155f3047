import NavigationCore

/// Queries a daemon for the responses of the exporter; tests have a double of it.
protocol DaemonProbe: ~Copyable {
  /// Reads the statistics of the daemon; throws if it does not answer within 2.5 s.
  mutating func statistics() throws -> JSONValue

  /// Waits for a reply of the daemon's loop, which proves that the loop runs.
  mutating func ping() throws
}

/// The reason why navd gave no answer to a query.
struct ProbeFailure: Error, Hashable, Sendable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// Chooses the response to an HTTP request for metrics or health.
enum MetricsRouter {
  /// The response to a request, which depends only on its method, its path and the daemon.
  static func answer(
    method: String, path: String, from probe: inout some DaemonProbe & ~Copyable
  ) -> HTTPResponse {
    var response = HTTPResponse(200, "ok")
    do {
      switch path {
      case _ where ["/metrics", "/livez", "/readyz"].contains(path) && method != "GET":
        response = HTTPResponse(405, "method not allowed; use GET").with("Allow", "GET, HEAD")
      case "/livez": try probe.ping()
      case "/readyz": response = readiness(try probe.statistics())
      case "/metrics":
        let text = PrometheusText.render(try probe.statistics())
        response = HTTPResponse(200, type: PrometheusText.contentType, body: Array(text.utf8))
      default: response = HTTPResponse(404, "not found; the paths are /metrics, /livez and /readyz")
      }
    } catch {
      response = HTTPResponse(503, "\(error)")
    }
    return response.with("Cache-Control", "no-store")
  }

  /// Responds 200 if the daemon can serve changes, else 503 with the reason.
  static func readiness(_ statistics: JSONValue) -> HTTPResponse {
    if statistics["serving"]?.bool == false { return HTTPResponse(503, "navd is stopping") }
    if statistics["storageProblem"]?.string != nil {
      return HTTPResponse(503, "navd cannot write its journal; its log has the error")
    }
    return HTTPResponse(200, "ok")
  }
}
