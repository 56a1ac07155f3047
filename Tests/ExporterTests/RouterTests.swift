import NavigationCore
import Testing

@testable import NavigationExporter

/// A daemon that answers as it is told.
private struct FakeProbe: DaemonProbe {
  var known = DaemonStatistics()
  var failure: ProbeFailure?
  var asked = 0

  mutating func statistics() throws(ProbeFailure) -> DaemonStatistics {
    asked += 1
    if let failure { throw failure }
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
    return Router.answer(method: method, path: path, from: &probe).status
  }

  @Test(arguments: ["/metrics", "/livez", "/readyz"])
  func `a daemon that does not answer is 503 with the reason`(path: String) {
    var probe = FakeProbe(failure: ProbeFailure("gone"))
    #expect(Router.answer(method: "GET", path: path, from: &probe) == Answer(503, "gone"))
    #expect(status("GET", path) == 200)
  }

  @Test(arguments: ["POST", "HEAD", "PUT", "get", ""])
  func `another method is refused without asking`(method: String) {
    var probe = FakeProbe()
    #expect(Router.answer(method: method, path: "/metrics", from: &probe).status == 405)
    #expect(probe.asked == 0)
  }

  @Test(arguments: ["/", "", "/metrics/", "/metricsx", "//metrics", "/../metrics"])
  func `another path is not there, and nobody is asked`(path: String) {
    var probe = FakeProbe()
    #expect(Router.answer(method: "GET", path: path, from: &probe).status == 404)
    #expect(probe.asked == 0)
  }

  @Test func `a daemon is ready while it serves and its journal takes changes`() {
    var probe = FakeProbe()
    probe.known.isServing = true
    #expect(status("GET", "/readyz", probe) == 200)
    probe.known.isStorageFailing = true
    #expect(status("GET", "/readyz", probe) == 503)
    #expect(status("GET", "/livez", probe) == 200)
    probe.known.isStorageFailing = false
    probe.known.isServing = false
    #expect(status("GET", "/readyz", probe) == 503)
  }
}

@Suite struct ListenAddressTests {
  @Test(arguments: [
    ("127.0.0.1:9719", ListenAddress.network(address: "127.0.0.1", port: 9719)),
    ("127.1.2.3:0", .network(address: "127.1.2.3", port: 0)),
    ("[::1]:80", .network(address: "::1", port: 80)),
    ("unix:/run/x.sock", .local(path: "/run/x.sock")),
  ])
  func `an address of this machine is taken`(text: String, address: ListenAddress) throws {
    #expect(try ListenAddress(text, allowsRemote: false) == address)
    #expect(address.description == text)
  }

  @Test(arguments: ["0.0.0.0:9719", "[::]:9719", "192.0.2.1:1", "[2001:db8::1]:1"])
  func `an address that others reach must be allowed`(text: String) throws {
    #expect(throws: ListenError.self) { try ListenAddress(text, allowsRemote: false) }
    #expect(throws: Never.self) { try ListenAddress(text, allowsRemote: true) }
  }

  @Test(arguments: [
    "", "9719", "localhost:9719", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
    "unix:", "unix:x.sock", "[::1]", "127.0.0:80", ":80",
    "unix:/" + String(repeating: "x", count: 107),
  ])
  func `anything else is refused`(text: String) {
    #expect(throws: ListenError.self) { try ListenAddress(text, allowsRemote: true) }
  }
}
