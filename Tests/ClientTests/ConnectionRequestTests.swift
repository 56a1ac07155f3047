import NavigationClient
import NavigationCore
import Testing
import ZeroMQ

/// Requests without a session: what navctl and the exporter ask, and how it can end.
@Suite(.timeLimit(.minutes(5))) struct ConnectionRequestTests {
  private typealias Answers = @Sendable (Received) -> [FakeDaemon.Answer]?

  private func withConnection(
    _ answers: @escaping Answers,
    _ body: (inout NavigationConnection, FakeDaemon) throws -> Void
  ) throws {
    let daemon = try FakeDaemon(answers: answers)
    defer { daemon.stop() }
    var connection = try NavigationConnection.connect(
      to: daemon.endpoint, name: "ctl", timeout: patience)
    try body(&connection, daemon)
  }

  /// The error that ends a request, as text.
  private func failure(_ body: () throws(ConnectionError) -> Void) -> String {
    do throws(ConnectionError) {
      try body()
      return "answered"
    } catch {
      return "\(error)"
    }
  }

  @Test func `a ping is answered with the run of the daemon and its clock`() throws {
    try withConnection({ received in
      guard received.verb == "ping" else { return nil }
      // The reply to an earlier ping says nothing of this one's daemon, but it is one.
      return [
        (.ok, #"{"id":99}"#),
        (.pong, #"{"id":\#(received.id),"boot":"961f1acfefbff61f","t":1732147200123}"#),
      ]
    }) { connection, _ in
      let pong = try connection.ping(timeout: patience)
      #expect(pong.boot == Epoch("961f1acfefbff61f"))
      #expect(pong.millisecondsSince1970 == 1_732_147_200_123)
      #expect(try connection.ping(timeout: patience) == pong)
    }
  }

  @Test func `a daemon that does not answer in time is named, and whether it may have acted`()
    throws
  {
    try withConnection({ _ in [] }) { connection, daemon in
      let text = "navd at \(daemon.endpoint) did not answer in time"
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.ping(timeout: .milliseconds(5))
        } == text)
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.get(GetRequest(id: 0, nav: "k"), timeout: .milliseconds(5))
        } == text)
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.perform(
            OpRequest(id: 0, nav: "k"), operations: [[0x7B, 0x7D]], timeout: .milliseconds(5))
        } == text + "; it may have made the change")
    }
  }

  @Test func `an error without an id is that of the only request`() throws {
    try withConnection({ received in
      guard received.verb == "get" else { return nil }
      return [
        (.err, #"{"id":77,"code":"busy","msg":"","effect":"none","retry":"later"}"#),
        (.err, #"{"id":null,"code":"bad-json","msg":"m","effect":"none","retry":"no"}"#),
      ]
    }) { connection, _ in
      let reply = try connection.get(GetRequest(id: 0, nav: "k"), timeout: patience)
      guard case .failure(let refusal) = reply.result else {
        Issue.record("answered")
        return
      }
      #expect(refusal.knownCode == .badJSON && refusal.id == nil)
    }
  }

  @Test func `a message that cannot be read ends a request, and a bye only if it is for good`()
    throws
  {
    try withConnection({ received in
      switch (received.verb, received["what"]) {
      case ("get", "top"): [(.ok, "{")]
      case ("get", "bar"): [(.bye, #"{"why":"revoked"}"#)]
      case ("get", _):
        [(.bye, #"{"why":"shutting-down"}"#), (.ok, #"{"id":\#(received.id),"value":1}"#)]
      default: nil
      }
    }) { connection, _ in
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.get(GetRequest(id: 0, nav: "k", what: .top), timeout: patience)
        }.hasPrefix("unreadable answer: "))
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.get(GetRequest(id: 0, nav: "k", what: .bar), timeout: patience)
        } == "session ended by navd: revoked")
      let reply = try connection.get(GetRequest(id: 0, nav: "k"), timeout: patience)
      #expect(try reply.result.get().value?.bytes == [0x31])
    }
  }

  @Test func `a request that is too large is refused without being sent`() throws {
    try withConnection({ received in
      received.verb == "get" ? [(.ok, #"{"id":\#(received.id),"value":2}"#)] : []
    }) { connection, _ in
      let title = String(repeating: "x", count: 65_536)
      let reply = try connection.perform(
        OpRequest(id: 0, nav: "k"),
        operations: [Array(#"{"push":{"screen":{"title":"\#(title)"}}}"#.utf8)])
      guard case .failure(let refusal) = reply.result else {
        Issue.record("performed")
        return
      }
      #expect(refusal.knownCode == .limit && refusal.reason == "size" && refusal.effect == "none")
      #expect(String(decoding: reply.body, as: UTF8.self).contains(#""code":"limit""#))
      _ = try connection.get(GetRequest(id: 0, nav: "k"), timeout: patience).result.get()
    }
  }

  @Test func `a long read tells its progress, question by question`() throws {
    // The backup is answered after the third question.
    let asked = Counter()
    try withConnection({ received in
      switch received["what"] {
      case "backup":
        asked.backup.store(received.id)
        return []
      case "stats":
        let count = asked.count.add()
        let progress: FakeDaemon.Answer = (
          .ok, #"{"id":\#(received.id),"value":{"backup":{"done":\#(count),"total":3}}}"#
        )
        guard count == 3 else { return [progress] }
        return [
          progress, (.ok, #"{"id":\#(asked.backup.value),"value":"/copy"}"#),
        ]
      default: return nil
      }
    }) { connection, _ in
      var told: [String] = []
      let reply = try connection.get(
        GetRequest(id: 0, nav: nil, what: .backup), timeout: patience,
        polling: GetRequest(id: 0, nav: nil, what: .stats), every: .zero
      ) { told.append($0.value?.text ?? "") }
      #expect(try reply.result.get().value?.text == #""/copy""#)
      #expect(told.count >= 2)
      #expect(
        told.prefix(2) == [
          #"{"backup":{"done":1,"total":3}}"#, #"{"backup":{"done":2,"total":3}}"#,
        ])
    }
  }

  @Test func `progress that is refused is asked for again, and the request goes on`() throws {
    let asked = Counter()
    try withConnection({ received in
      switch received["what"] {
      case "backup":
        asked.backup.store(received.id)
        return []
      case "stats":
        let refusal: FakeDaemon.Answer = (
          .err, #"{"id":\#(received.id),"code":"busy","msg":"","effect":"none","retry":"later"}"#
        )
        guard asked.count.add() == 3 else { return [refusal] }
        return [
          refusal,
          (
            .err,
            #"{"id":\#(asked.backup.value),"code":"storage","msg":"","effect":"none","retry":"later"}"#
          ),
        ]
      default: return nil
      }
    }) { connection, _ in
      let reply = try connection.get(
        GetRequest(id: 0, nav: nil, what: .backup), timeout: patience,
        polling: GetRequest(id: 0, nav: nil, what: .stats), every: .zero
      ) { _ in Issue.record("there is no progress") }
      guard case .failure(let refusal) = reply.result else {
        Issue.record("copied")
        return
      }
      #expect(refusal.knownCode == .storage)
    }
  }

  @Test func `a long read without a question asks nothing else, and can time out`() throws {
    try withConnection({ received in received.verb == "get" ? [] : nil }) { connection, daemon in
      #expect(
        failure { () throws(ConnectionError) in
          _ = try connection.get(
            GetRequest(id: 0, nav: nil, what: .backup), timeout: .milliseconds(5), polling: nil,
            every: .zero, report: { _ in })
        } == "navd at \(daemon.endpoint) did not answer in time")
    }
  }

  @Test func `an address that is none is an error of the library`() {
    for endpoint in ["", "nowhere", "ipc:", "tcp://x"] {
      #expect(
        failure { () throws(ConnectionError) in
          _ = try NavigationConnection.connect(to: endpoint, timeout: .zero)
        }.hasPrefix("zmq_connect"), "\(endpoint)")
    }
  }

  @Test func `a session that is refused or ended says why`() throws {
    try withConnection({ received in
      guard received.verb == "hello" else { return nil }
      return [
        (
          .err,
          #"{"nonce":"\#(received["nonce"] ?? "")","code":"version","msg":"too old","effect":"none","retry":"no"}"#
        )
      ]
    }) { connection, _ in
      #expect(
        failure { () throws(ConnectionError) in
          try connection.openSession(timeout: patience)
        } == "session refused: version: too old")
    }
    try withConnection({ $0.verb == "watch" ? [(.bye, #"{"why":"fenced"}"#)] : nil }) {
      connection, _ in
      try connection.openSession(timeout: patience)
      try connection.request { $0.watch("kiosk") }
      #expect(
        failure { () throws(ConnectionError) in
          while try connection.next(timeout: patience) != nil {}
        } == "session ended by navd: fenced")
    }
  }

  @Test(
    arguments: [
      (.unreachable(endpoint: "ipc:///x"), "no navd answers at ipc:///x"),
      (
        .refused(endpoint: "ipc:///x", .unauthorised(key: nil)),
        "navd at ipc:///x refuses the connection: this client has no right"
      ),
      (
        .refused(endpoint: "ipc:///x", .tooManyConnections),
        "navd at ipc:///x has too many connections"
      ),
      (
        .refused(endpoint: "tcp://h:1", .handshake(serverKey: "k")),
        "the handshake with tcp://h:1 failed: it has another server key, or is not navd"
      ),
      (
        .system(ZeroMQError("zmq_connect", subject: "x", code: 22)),
        "zmq_connect x: Invalid argument (EINVAL)"
      ),
    ] as [(ConnectionError, String)])
  func `an error is one line that names the address`(error: ConnectionError, text: String) {
    #expect(error.description == text)
  }
}
