import NavigationClient
import NavigationCore
import Testing

/// Operations whose time is up are neither sent nor sent again.
@Suite(.timeLimit(.minutes(5))) struct LateOperationTests {
  /// A session, and an op that is to be sent before the time 3000.
  private func rig() -> (rig: SessionReplicaTests.Rig, id: UInt64, outputs: [SessionOutput]) {
    var rig = SessionReplicaTests.Rig()
    let (id, outputs) = rig.session.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"ui.backTap":{}}"#.utf8)], until: 3000)
    return (rig, id, outputs)
  }

  /// The code and the effect of the only answer.
  private func refusal(_ outputs: [SessionOutput]) throws -> [String] {
    let refusals = outputs.compactMap { output -> ErrReply? in
      if case .event(.answered(_, .failure(let refusal))) = output { refusal } else { nil }
    }
    let refusal = try #require(refusals.first)
    #expect(refusals.count == 1)
    return [refusal.code, refusal.effect]
  }

  @Test func `without a connection an op fails at its time, and is not sent`() throws {
    var (rig, id, outputs) = rig()
    #expect(outputs.isEmpty)
    #expect(rig.session.wakeAt == 3000)
    #expect(rig.session.tick(at: 2999).isEmpty)
    let late = rig.session.tick(at: 3000)
    #expect(late.answered == [id])
    #expect(try refusal(late) == ["expired", "none"])
    rig.now = 3001
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `a process that stood still fails an op before it sends anything`() throws {
    var (rig, id, _) = rig()
    rig.now = 32_000
    let opened = try rig.open()
    #expect(opened.answered == [id] && opened.sent.isEmpty)
  }

  @Test func `what is under way is awaited, and not sent again after its time`() throws {
    var (rig, id, _) = rig()
    #expect(try rig.open().sent.map(\.verb) == [.op])
    rig.now = 4000
    #expect(rig.session.tick(at: 4000).isEmpty)
    _ = rig.session.disconnected()
    let late = rig.session.tick(at: 4000)
    #expect(late.answered == [id])
    #expect(try refusal(late) == ["expired", "unknown"])
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `before its time an op goes again after a loss`() throws {
    var (rig, _, _) = rig()
    let first = try rig.open().sent.map(\.body)
    _ = rig.session.disconnected()
    rig.now = 2999
    let again = try rig.open().sent.map(\.body)
    // With the member `again` at its end.
    #expect(again.count == 1 && again[0].starts(with: first[0].dropLast()))
  }

  @Test func `an op of a nav without a daemon fails at its time too`() throws {
    var cluster = ClusterReplica(client: ClientID(high: 1, low: 2), seed: 7)
    let hello = try #require(
      cluster.connected(.first, at: 0).compactMap { output -> [UInt8]? in
        if case .send(_, .hello, let body) = output { body } else { nil }
      }.first)
    func receive(_ verb: ServerVerb, _ body: String, at now: UInt64) throws -> [ClusterOutput] {
      cluster.receive(try read(verb, body), verb: verb, octets: body.utf8.count, at: now)
    }
    _ = try receive(
      .welcome, SessionReplicaTests.Rig.welcome(nonce(String(decoding: hello, as: UTF8.self))),
      at: 0)
    let (id, _) = cluster.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [Array(#"{"ui.backTap":{}}"#.utf8)], until: 3000)
    for now in stride(from: UInt64(0), to: 3000, by: 500) {
      _ = try receive(
        .err,
        #"{"id":\#(id),"code":"busy","reason":"no-owner","msg":"","effect":"none","retry":"later","after":400,"nav":"kiosk"}"#,
        at: now)
      _ = cluster.tick(at: now + 499)
    }
    _ = try receive(
      .err,
      #"{"id":\#(id),"code":"busy","reason":"no-owner","msg":"","effect":"none","retry":"later","after":400,"nav":"kiosk"}"#,
      at: 2999)
    let outputs = cluster.tick(at: 4000)
    let codes = outputs.compactMap { output -> String? in
      if case .event(.answered(id, .failure(let refusal))) = output { refusal.code } else { nil }
    }
    #expect(codes == ["expired"])
    #expect(
      !outputs.contains { if case .send(_, .op, _) = $0 { true } else { false } })
  }

  @Test(arguments: [
    ("ui.backTap", true), ("ui.newer", false), ("gesture.finish", true), ("button.activate", true),
    ("push", false), ("pop", false), ("button.set", false),
  ])
  func `what a person does begins within two seconds or never, without a word of the program`(
    name: String, isByPerson: Bool
  ) async throws {
    #expect(OperationKind(name: name).isByPerson == isByPerson)
    let daemon = try FakeDaemon(answers: { received in
      received.verb == "op" ? [(.ok, FakeNav().ok(received.id))] : nil
    })
    defer { daemon.stop() }
    let client = try await NavigationClient.connect(endpoint: daemon.endpoint, timeout: patience)
    defer { client.close() }
    try await client.perform(
      [NavigationOperation(json: #"{"\#(name)":{}}"#)], on: "kiosk", guardedBy: .override)
    #expect((try await daemon.next("op")["due"] != nil) == isByPerson)
  }

  @Test func `a tap while the daemon is away fails after two seconds and never happens`()
    async throws
  {
    try await withDaemon { client, daemon in
      try await client.perform(
        [
          .create(root: ScreenDescription(id: "home")), .attach(),
          .push(ScreenDescription(id: "a")),
        ], on: "kiosk", guardedBy: .unguarded)
      daemon.kill()
      let tap = try NavigationOperation(json: #"{"ui.backTap":{}}"#)
      await #expect(throws: NavigationClientError.self) {
        try await client.perform([tap], on: "kiosk", guardedBy: .override)
      }
      try daemon.start()
      #expect(try await client.state(of: "kiosk").screens.map(\.id) == ["home", "a"])
      #expect(try await client.state(of: "kiosk").revision == 1)
    }
  }
}
