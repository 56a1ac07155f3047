import NavigationCore
import Testing

@testable import Web

/// A daemon that answers as it is told.
private struct FakeProbe: DaemonProbe {
  var known: JSONValue? = try? JSONValue(Array("{}".utf8))
  var failure: ProbeFailure?
  var asked = 0

  mutating func statistics() throws(ProbeFailure) -> JSONValue {
    asked += 1
    guard failure == nil, let known else { throw failure ?? ProbeFailure("not JSON") }
    return known
  }

  mutating func ping() throws(ProbeFailure) {
    asked += 1
    if let failure { throw failure }
  }
}

@Suite struct RouterTests {
  private func status(
    _ method: String, _ path: String, _ probe: FakeProbe = FakeProbe()
  ) -> UInt32 {
    var probe = probe
    return MetricsRouter.answer(method: method, path: path, from: &probe).status
  }

  @Test(arguments: ["/metrics", "/livez", "/readyz"])
  func `a daemon that does not answer is 503 with the reason`(path: String) {
    var probe = FakeProbe(failure: ProbeFailure("gone"))
    #expect(
      MetricsRouter.answer(method: "GET", path: path, from: &probe)
        == HTTPResponse(503, "gone").with("Cache-Control", "no-store"))
    #expect(status("GET", path) == 200)
  }

  @Test func `a refused method is told the one that is answered`() {
    var probe = FakeProbe()
    let answer = MetricsRouter.answer(method: "POST", path: "/livez", from: &probe)
    #expect(answer.headers.contains(["Allow", "GET, HEAD"]))
  }

  @Test(arguments: ["POST", "HEAD", "PUT", "get", ""])
  func `another method is refused without asking`(method: String) {
    var probe = FakeProbe()
    #expect(MetricsRouter.answer(method: method, path: "/metrics", from: &probe).status == 405)
    #expect(probe.asked == 0)
  }

  @Test(arguments: ["/", "", "/metrics/", "/metricsx", "//metrics", "/../metrics"])
  func `another path is not there, and nobody is asked`(path: String) {
    var probe = FakeProbe()
    #expect(MetricsRouter.answer(method: "GET", path: path, from: &probe).status == 404)
    #expect(probe.asked == 0)
  }

  @Test func `a daemon is ready while it serves and its journal takes changes`() throws {
    var probe = FakeProbe(known: try JSONValue(Array(#"{"serving":true}"#.utf8)))
    #expect(status("GET", "/readyz", probe) == 200)
    probe.known = try JSONValue(Array(#"{"serving":true,"storageProblem":"cannot"}"#.utf8))
    #expect(status("GET", "/readyz", probe) == 503)
    #expect(status("GET", "/livez", probe) == 200)
    probe.known = try JSONValue(Array(#"{"serving":false}"#.utf8))
    #expect(status("GET", "/readyz", probe) == 503)
  }
}
