import Testing
import ZeroMQ

@Suite struct EndpointsTests {
  @Test(arguments: [
    ("ipc:///run/navd/navd.sock", ["ipc:///run/navd/navd.sock"]),
    ("tcp://a:1,tcp://b:2", ["tcp://a:1", "tcp://b:2"]),
    ("tcp://a:1, ipc:///b", ["tcp://a:1", "ipc:///b"]),
    ("ipc:///a,b", ["ipc:///a,b"]),
    ("ipc:///a,b,tcp://c:3", ["ipc:///a,b", "tcp://c:3"]),
    ("", [""]),
  ])
  func `a comma separates addresses where a scheme follows`(text: String, expected: [String]) {
    #expect(endpoints(in: text) == expected)
  }
}
