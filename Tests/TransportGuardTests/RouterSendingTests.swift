import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing
import ZeroMQ

@testable import TransportGuard

/// What the router does for peers that read, and with those that do not: section G of
/// docs/security.md.
@Suite(.timeLimit(.minutes(1))) struct RouterSendingTests {
  private static let large = 256 << 10

  private func body(_ number: Int) -> [UInt8] {
    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: Self.large)
  }

  /// Sends large messages to a peer until one has to wait; returns their number.
  private func fill(_ stage: inout RouterStage, _ id: ConnectionID) throws -> Int {
    for number in 0..<64 {
      try stage.router.send(stage.output(body(number), to: [id]))
      if !stage.router.waitingToSend.isEmpty { return number + 1 }
    }
    throw DeadlineExpired()
  }

  @Test func `one body goes to several peers, and nothing to one that is not there`() throws {
    var stage = try RouterStage()
    let one = try stage.client()
    let first = try stage.id()
    let two = try stage.client()
    let second = try stage.id()
    var output = stage.output(Array("a".utf8), to: [first, second, ConnectionID(999_999)])
    let place = output.add(Array("b".utf8))
    output.append(.err, at: place, to: second)
    output.append(.ok, at: 0, to: first)
    try stage.router.send(output)
    func frames(_ verb: String, _ text: String) -> [[UInt8]] {
      ["nsp1." + verb, text].map { Array($0.utf8) }
    }
    for verb in ["ok", "ok"] { #expect(try receive(one) == frames(verb, "a")) }
    #expect(try receive(two) == frames("ok", "a"))
    #expect(try receive(two) == frames("err", "b"))
    #expect(stage.takeEvents().isEmpty && stage.takeIncidents().isEmpty)
  }

  @Test func `what a peer cannot take now waits, and comes in its order when the peer reads`()
    throws
  {
    var stage = try RouterStage()
    let client = try stage.client()
    let id = try stage.id()
    var sent = try fill(&stage, id)
    for _ in 0..<3 {
      try stage.router.send(stage.output(body(sent), to: [id], .diff))
      sent += 1
    }
    #expect(stage.takeEvents() == ["blocked \(id.number)"], "told once")
    let now: UInt64 = 1_000
    #expect(stage.wakeAt(now) == now + 100)
    for number in 0..<sent {
      var frames: [[UInt8]] = []
      var parts = Multipart(capacity: 4)
      try stage.go { stage in
        try stage.router.takeDue(at: now)
        guard try client.receive(into: &parts) else { return false }
        frames = parts.copyFrames()
        return true
      }
      #expect(frames.last == body(number), "message \(number)")
    }
    #expect(stage.takeEvents() == ["unblocked \(id.number)"])
    #expect(stage.wakeAt(now) != now + 100 && stage.takeIncidents().isEmpty)
  }

  @Test func `a peer for which 4 MB wait is disconnected, and the log says what it left`() throws {
    var stage = try RouterStage()
    let client = try stage.client()
    let id = try stage.id()
    let other = try stage.client()
    let another = try stage.id()
    try stage.router.send(stage.output([1], to: [id]))
    #expect(try receive(client).last == [1])
    var sent = try fill(&stage, id)
    let handed = sent - 1
    _ = stage.takeEvents()
    while stage.router.notices.isEmpty {
      try stage.router.send(stage.output(body(0), to: [id]))
      sent += 1
    }
    let size = Self.large + Message.overheadOctets
    #expect((sent - handed) * size > Outbox.maximumWaitingBytes)
    #expect((sent - handed - 1) * size <= Outbox.maximumWaitingBytes)
    let incident = try #require(stage.takeIncidents().first)
    let bytes = sent * size + 1 + Message.overheadOctets
    #expect(incident.text == "uid:\(getuid()) is disconnected: it left \(bytes) bytes unread")
    #expect(incident.kind == .limitExceeded && incident.level == .warning)
    #expect(stage.takeEvents() == ["closed \(id.number)"])
    // Nothing more goes to it or comes from it, and its end is not told again.
    try stage.router.send(stage.output(Array("late".utf8), to: [id, another]))
    try stage.go { $0.router.connections.openCount == 1 }
    let isThere = try stage.router.receive()
    #expect(!isThere && stage.takeEvents().isEmpty && stage.takeIncidents().isEmpty)
    #expect(stage.router.connections.slot(of: id) == nil)
    _ = consume client
    _ = consume other
  }

  @Test func `messages that wait are dropped with the session they are for`() throws {
    var stage = try RouterStage()
    let client = try stage.client()
    let id = try stage.id()
    let sent = try fill(&stage, id)
    for _ in 0..<5 { try stage.router.send(stage.output(body(0), to: [id])) }
    stage.router.discardOutbox(of: id)
    stage.router.discardOutbox(of: ConnectionID(77))
    try stage.router.takeDue(at: 0)
    #expect(stage.takeEvents() == ["blocked \(id.number)", "unblocked \(id.number)"])
    for number in 0..<sent - 1 { #expect(try receive(client).last == body(number)) }
    try stage.go { stage in
      _ = try stage.router.receive()
      try stage.router.send(stage.output(Array("new".utf8), to: [id]))
      try stage.router.takeDue(at: 0)
      return stage.router.waitingToSend.isEmpty
    }
    #expect(try receive(client).last == Array("new".utf8))
  }

  @Test func `of many that do not read, the one that left the most is disconnected`() async {
    // All sockets of a process share one count of the octets that libzmq holds.
    await #expect(processExitsWith: .success) { try RouterSendingTests.floodTwoPeers() }
  }

  private static func floodTwoPeers() throws {
    let body = [UInt8](repeating: 7, count: 65_536)
    let limit = 40 * body.count
    var stage = try RouterStage(unsentBytes: limit)
    let name = String(stage.endpoint.dropFirst("ipc://".count))
    // Peers that read nothing after the handshake: what the kernel cannot hold stays in libzmq.
    var peers: [RawPeer] = []
    var ids: [ConnectionID] = []
    for messages in [15, 12] {
      let peer = try RawPeer(name)
      try peer.send((Wire.greeting() + Wire.ready([("Socket-Type", Array("DEALER".utf8))]))[...])
      try stage.go { _ in peer.isReady }
      try peer.send(Wire.message([1, 2])[...])
      let id = try stage.id()
      for _ in 0..<messages { try stage.router.send(stage.output(body, to: [id])) }
      let descriptor = try #require(stage.accepted.last)
      try stage.go { stage in
        try stage.router.sendWaiting()
        var count: Int32 = 0
        let result = unsafe ioctl(descriptor, UInt(TIOCOUTQ), &count)
        return result == 0 && count > 65_536 && stage.router.waitingToSend.contains(id)
      }
      peers.append(peer)
      ids.append(id)
    }
    #expect(stage.takeIncidents().isEmpty)
    var now: UInt64 = 1000
    while stage.router.notices.isEmpty {
      try stage.router.send(stage.output(body, to: [ids[0]]))
      now += 10
      try stage.router.takeDue(at: now)
    }
    let incident = try #require(stage.takeIncidents().first)
    let text = try #require(
      incident.text.wholeMatch(of: /uid:\d+ is disconnected: it left (\d+) of (\d+) bytes unread/))
    let (left, total) = (try #require(Int(text.1)), try #require(Int(text.2)))
    // The limit does not include what the kernel holds for the two peers.
    #expect(total > limit && total <= limit + (1 << 20))
    #expect(left * 2 > total)
    let ended = stage.takeEvents().filter { $0.hasPrefix("closed") }
    #expect(ended == ["closed \(ids[0].number)"])
    try stage.go { $0.router.connections.openCount == 1 }
    #expect(stage.router.connections.slot(of: ids[1]) != nil)
    withExtendedLifetime(peers) {}
  }
}

/// Peers over networks, which prove keys.
@Suite(.timeLimit(.minutes(1))) struct NetworkPeerTests {
  private let ping = [Array("nsp1.ping".utf8), Array(#"{"id":7}"#.utf8)]

  @Test func `a revoked key is heard no more, and its session ends once`() throws {
    var stage = try RouterStage(.network)
    let (panel, kiosk) = (try CurveKeyPair.generate(), try CurveKeyPair.generate())
    stage.guests.names = [panel.publicKey: "panel", kiosk.publicKey: "kiosk"]
    let first = try stage.client(key: panel, saying: ping)
    guard case .message(let id, .key("panel", let address), _)? = try stage.event() else {
      Issue.record("not heard")
      return
    }
    #expect(address == "127.0.0.1")
    let second = try stage.client(key: kiosk, saying: ping)
    let other = try stage.id()
    #expect(stage.router.revoke(stage.guests).isEmpty)
    // A key under another name is another peer.
    stage.guests.names = [panel.publicKey: "panel", kiosk.publicKey: "stolen"]
    #expect(stage.router.revoke(stage.guests) == [other])
    stage.guests.names = [:]
    #expect(stage.router.revoke(stage.guests) == [id])
    #expect(stage.router.revoke(stage.guests).isEmpty)
    _ = try first.send(ping)
    #expect(try stage.event() == nil)
    _ = try second.send(ping)
    #expect(try stage.event() == nil)
    // A key that comes back does not bring its connection back.
    stage.guests.names = [panel.publicKey: "panel"]
    _ = try first.send(ping)
    #expect(try stage.event() == nil)
  }

  @Test func `a key that is not authorised is refused, and the log has it with the address`() throws
  {
    var stage = try RouterStage(.network)
    let stranger = try CurveKeyPair.generate()
    let client = try stage.client(key: stranger, saying: ping)
    try stage.go { !$0.router.notices.isEmpty }
    let incident = try #require(stage.takeIncidents().first)
    #expect(
      incident.text
        == "127.0.0.1 is refused: its key is not authorised: \(stranger.publicKey)")
    #expect(incident.principal == nil && incident.code == "not-admitted")
    _ = client
  }

  @Test func `a key that says nothing is disconnected after 10 s, and later if bytes came`() throws
  {
    var stage = try RouterStage(.network)
    let key = try CurveKeyPair.generate()
    stage.guests.names = [key.publicKey: "panel"]
    let client = try stage.context.socket(.dealer)
    try client.set(.neverReconnect)
    guard let identity = stage.identity else { throw DeadlineExpired() }
    try client.set(.curveServerKey(identity.publicKey))
    try client.set(.curvePublicKey(key.publicKey))
    try client.set(.curveSecretKey(key.secretKey))
    try client.connect(stage.endpoint)
    try stage.go { $0.measure(at: 0).principals.first?.name == "panel" }
    let due = try #require(stage.router.connections.wakeAt)
    stage.router.takeDueConnections(at: due - 1)
    #expect(stage.takeIncidents().isEmpty)
    // A message has come in part, and then another, as often as the deadline is postponed.
    let begun = Wire.greeting("CURVE") + Wire.hello + Wire.sealed(200).prefix(100)
    let isLetThrough = stage.gate.judge(stage.accepted[0], begun.span)
    #expect(isLetThrough && stage.gate.hasUntakenMessages(of: stage.accepted[0]))
    for round in 0..<UInt64(Connections.maximumPostponements) {
      stage.router.takeDueConnections(at: due + round * Connections.firstMessageTime)
      #expect(stage.takeIncidents().isEmpty && stage.router.connections.openCount == 1)
    }
    stage.router.takeDueConnections(
      at: due + UInt64(Connections.maximumPostponements) * Connections.firstMessageTime)
    let incident = try #require(stage.takeIncidents().first)
    #expect(incident.text == "a connection over the network is closed: no message came in 10 s")
    #expect(incident.level == .notice)
    try stage.go { $0.router.connections.openCount == 0 }
    _ = client
  }
}
