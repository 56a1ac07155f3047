import NavigationCore
import NavigationHub
import Simulation
import Testing

/// Bugs that a run found, so that they stay found.
@Suite struct RegressionTests {
  /// Seeds mean what they meant only while the worlds they make are the same; a bug that needs a
  /// rare course of events has a test of its own below.
  static let seeds: [(seed: UInt64, bug: String)] = [
    (1, "watches made before the session opened were asked for in a dictionary's order"),
    (6, "watches made before the session opened were asked for in a dictionary's order"),
    (61, "a virtual nav lost its records when its last watch was replaced"),
    (1039, "credit that came in a failed batch served nobody"),
    (2168, "the checker demanded diffs of watches that ended with their session in the same turn"),
  ]

  @Test(arguments: seeds) func `no old bug comes back`(seed: UInt64, bug: String) {
    let report = World.run(seed: seed)
    #expect(report.violations.isEmpty, "\(bug)\nrepeat it: \(Seeds.command(seed))")
    #expect(report.traceHash == World.run(seed: seed).traceHash, "\(bug)")
  }

  /// Found by a run in which the disk was full just when a slow reader's credit came.
  @Test func `credit in a batch that failed is honoured when the batch is handled again`() {
    var hub = Hub(configuration: HubConfiguration(), seed: 1)
    let now = Instant(boot: 1000, wall: 1000)
    let text = String(repeating: "x", count: 9000)
    var id = 1
    var reader = hub.makeReader()
    func event(_ verb: String, _ body: String) -> HubEvent {
      HubEvent(
        frame: "nsp1.\(verb)".utf8.span, body: body.utf8.span, from: ConnectionID(1),
        .local(user: 0, group: 0, process: 1), reader: &reader)
    }
    func send(_ verb: String, _ body: String) -> [ServerVerb] {
      hub.handle(event(verb, body), at: now)
      _ = hub.takeRecords()
      return hub.committed(at: now).messages.map(\.verb)
    }
    let client = String(repeating: "a", count: 32)
    _ = send("hello", #"{"ver":[1,1],"client":"\#(client)","nonce":"n","window":16384}"#)
    _ = send("op", #"{"id":1,"nav":"n","do":[{"nav.create":{"root":{"id":"r"}}}]}"#)
    _ = send("watch", #"{"id":2,"nav":"n"}"#)
    var last: [ServerVerb] = []
    repeat {
      id += 1
      last = send(
        "op", #"{"id":\#(id + 1),"nav":"n","do":[{"push":{"screen":{"title":"\#(text)"}}}]}"#)
    } while last.contains(.diff) && id < 20
    #expect(last == [.ok], "the credit is used up")
    hub.handle(event("credit", #"{"upto":65536}"#), at: now)
    #expect(hub.rollBack().isEmpty)
    #expect(
      send("credit", #"{"upto":65536}"#).contains { $0 == .diff || $0 == .diffs || $0 == .snap })
  }
}
