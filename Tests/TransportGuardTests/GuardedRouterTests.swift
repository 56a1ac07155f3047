import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import Testing
import ZeroMQ

@testable import TransportGuard

/// The router as docs/security.md describes it: who gets in, what is read, and who ends.
@Suite(.timeLimit(.minutes(1))) struct GuardedRouterTests {
  private let me = Peer.local(user: getuid(), group: getgid(), process: getpid())
  private var principal: String { "uid:\(getuid())" }
  private static let ping = [Array("nsp1.ping".utf8), Array(#"{"id":7}"#.utf8)]
  private var ping: [[UInt8]] { Self.ping }

  @Test func `a message of an admitted peer comes with the kernel's word about its sender`() throws
  {
    var stage = try RouterStage()
    let client = try stage.client(saying: ping)
    guard case .message(_, let peer, .ping(id: 7)) = try stage.event() else {
      Issue.record("no ping")
      return
    }
    #expect(peer == me && stage.takeIncidents().isEmpty)
    let first = try { () throws in
      _ = try client.send(ping)
      return try stage.id()
    }()
    _ = try client.send(ping)
    #expect(try stage.id() == first, "each connection has one id")
    let figures = stage.measure(at: 0)
    #expect(figures.open == 1)
    #expect(figures.principals.map(\.name) == [principal])
  }

  @Test(arguments: [
    [[1]], [[1], [2], [3]], [[], [1]], [[], []], [[], [1], [2], [3]],
    [Array(repeating: 5, count: 9), [], []], Array(repeating: [3], count: 40), ping + [[]],
    ping + ping, [[]] + ping + [[1]], [ping[0]],
  ])
  func `a message of another number of frames than two is unreadable`(frames: [[UInt8]]) throws {
    var stage = try RouterStage()
    let client = try stage.client(saying: frames)
    guard case .unreadable(_, let peer, let failure) = try stage.event() else {
      Issue.record("read")
      return
    }
    #expect(peer == me && failure.code == MessageFailure.wrongFrameCount.code)
    _ = try client.send(ping)
    guard case .message = try stage.event() else {
      Issue.record("the next one is not read")
      return
    }
  }

  @Test func `an answer has the empty frame where the question had it`() throws {
    var stage = try RouterStage()
    let request = try stage.client(.request, saying: ping)
    let dealer = try stage.client(saying: ping)
    var ids = [try stage.id()]
    ids.append(try stage.id())
    try stage.router.send(stage.output(Array("{}".utf8), to: ids))
    // REQ takes the empty frame away, and would never get an answer without it.
    let frames = [Array("nsp1.ok".utf8), Array("{}".utf8)]
    #expect(try receive(request) == frames)
    #expect(try receive(dealer) == frames)
  }

  @Test func `a peer to whom nothing is granted is refused, and the log names it`() throws {
    var stage = try RouterStage()
    stage.guests.isOpen = false
    let client = try stage.client(saying: ping)
    try stage.go { !$0.router.notices.isEmpty }
    let incident = try #require(stage.takeIncidents().first)
    #expect(incident.text == "\(principal) is refused: nothing is granted to it")
    #expect(incident.principal == principal && incident.code == "not-admitted")
    #expect(incident.level == .warning && incident.kind == .refused)
    try stage.go { $0.measure(at: 0).open == 0 }
    let isThere = try stage.router.receive()
    #expect(!isThere)
    _ = client
  }

  @Test func `nobody gets in while libzmq is not seen to read by the gate`() throws {
    var stage = try RouterStage(isInPlace: false)
    let client = try stage.client(saying: ping)
    try stage.go { !$0.router.notices.isEmpty }
    let incident = try #require(stage.takeIncidents().first)
    #expect(incident.text == "navd refuses every peer: libzmq does not call navd's recv")
    #expect(incident.level == .error)
    _ = client
  }

  @Test(arguments: [
    (2, 100, "too many connections: uid:\(getuid()) is refused"),
    (100, 2, "too many connections of uid:\(getuid())"),
  ])
  func `one connection more than a limit is refused, and gets in when another ends`(
    all: Int, ofPrincipal: Int, text: String
  ) throws {
    var stage = try RouterStage(connections: all, ofPrincipal: ofPrincipal)
    let first = try stage.client(saying: ping)
    _ = try stage.id()
    do {
      let second = try stage.client(saying: ping)
      _ = try stage.id()
      let third = try stage.client(saying: ping)
      try stage.go { !$0.router.notices.isEmpty }
      #expect(stage.takeIncidents().map(\.text) == [text])
      _ = consume second
      _ = consume third
    }
    try stage.go { $0.measure(at: 0).open == 1 }
    let fourth = try stage.client(saying: ping)
    _ = try stage.id()
    #expect(stage.takeIncidents().isEmpty)
    _ = consume first
    _ = consume fourth
  }

  @Test func `limits that a reload lowers disconnect nobody`() throws {
    var stage = try RouterStage()
    let client = try stage.client(saying: ping)
    _ = try stage.id()
    var limits = stage.router.limits
    limits.connections = 1
    stage.router.apply(limits)
    _ = try client.send(ping)
    _ = try stage.id()
    let other = try stage.client(saying: ping)
    try stage.go { !$0.router.notices.isEmpty }
    #expect(stage.takeIncidents().map(\.text) == ["too many connections: \(principal) is refused"])
    _ = consume other
  }

  @Test func `a request for admission waits until there is room for what the peer may send`() throws
  {
    var stage = try RouterStage()
    let hog = try stage.client(saying: ping)
    _ = try stage.id()
    // As if that peer had sent more than all may, which the loop has not taken.
    let bytes = Wire.greeting() + Wire.ready([]) + Wire.message([5_000])
    let isLetThrough = stage.gate.judge(stage.accepted[0], bytes.span)
    #expect(isLetThrough)
    stage.gate.setTotalByteLimit(1_000)
    #expect(stage.gate.roomForConnections == 0)
    let client = try stage.client(saying: ping)
    try stage.go { $0.accepted.count == 2 && $0.router.hasWaitingAdmissions }
    #expect(stage.wakeAt(5_000) == 5_010)
    #expect(stage.takeIncidents().isEmpty)
    stage.gate.setTotalByteLimit(1 << 30)
    #expect(stage.wakeAt(5_000) == 5_000)
    _ = try stage.id()
    let isWaiting = stage.router.hasWaitingAdmissions
    #expect(!isWaiting)
    _ = consume hog
    _ = consume client
  }

  @Test func `the end of a connection is told once, after its last message`() throws {
    var stage = try RouterStage()
    let id: ConnectionID
    do {
      let client = try stage.client(saying: ping)
      id = try stage.id()
      _ = try client.send(ping)
      try client.set(.linger(milliseconds: 1_000))
    }
    try stage.go { $0.router.connections.openCount == 0 }
    #expect(stage.takeEvents().isEmpty, "its last message may wait")
    #expect(try stage.id() == id)
    let isThere = try stage.router.receive()
    #expect(!isThere && stage.takeEvents() == ["closed \(id.number)"])
    try stage.router.takeDue(at: .max / 2)
    #expect(stage.takeEvents().isEmpty)
  }

  @Test func `the end is told after half a second where messages never cease`() throws {
    var stage = try RouterStage()
    let id: ConnectionID
    do {
      let client = try stage.client(saying: ping)
      id = try stage.id()
      _ = consume client
    }
    try stage.go { $0.router.connections.openCount == 0 }
    let due = try #require(stage.router.connections.wakeAt)
    try stage.router.takeDue(at: due - 1)
    #expect(stage.takeEvents().isEmpty)
    try stage.router.takeDue(at: due)
    #expect(stage.takeEvents() == ["closed \(id.number)"])
  }

  @Test func `connections that the kernel does not have are reported as a fault, and go`() throws {
    var stage = try RouterStage()
    let client = try stage.client(saying: ping)
    let id = try stage.id()
    // The router was told of no listening socket, so none of the kernel's sockets is a peer's.
    _ = stage.measure(at: 10_000)
    #expect(stage.takeIncidents().isEmpty)
    #expect(stage.measure(at: 10_999).differences == 0)
    let figures = stage.measure(at: 12_000)
    #expect(figures.differences == 1)
    #expect(figures.countedConnections == 1 && figures.kernelSockets == 0)
    let incident = try #require(stage.takeIncidents().first)
    #expect(incident.level == .error && incident.kind == .connectionsMiscounted)
    #expect(
      incident.text == "connections are miscounted: 1 have ended but were counted, 0 are open but "
        + "were not; this is a fault of navd, please report it")
    #expect(stage.measure(at: 20_000).open == 0)
    let isThere = try stage.router.receive()
    #expect(!isThere && stage.takeEvents() == ["closed \(id.number)"])
    _ = client
  }

  @Test func `scarce descriptors are reported once a second`() throws {
    var stage = try RouterStage()
    for _ in 0..<50 {
      stage.gate.events.append(.descriptorShortage)
      stage.router.takeConnectionEvents()
    }
    let texts = stage.takeIncidents().map(\.text)
    #expect(texts == ["connections are closed: nearly all descriptors are in use"])
  }

  @Test(
    arguments: [
      (.offence(.routingID), "it chose its own routing id"),
      (
        .offence(.command(name: "SUBSCRIBE", bytes: 12)),
        "it sent a ZMTP command SUBSCRIBE of 12 bytes, which clients do not send"
      ),
      (
        .offence(.command(name: "", bytes: 5000)),
        "it sent a ZMTP command of 5000 bytes, which clients do not send"
      ),
      (
        .offence(.command(name: "MESSAGE", bytes: 90)),
        "it sent a frame of 90 bytes as the ZMTP command MESSAGE, which carries heartbeats only, "
          + "2 a second"
      ),
      (.offence(.version), "it does not speak ZMTP 3"),
      (.connectionByteLimit, "it sent more than navd holds unread for one connection"),
      (
        .totalByteLimit,
        "the unread messages of all peers exceed [limits] unread-total-bytes, and it sent most of them"
      ),
      (
        .offence(.longMessage),
        "the frames of one message exceed [limits] message-to-daemon-bytes together"
      ),
    ] as [(InboundGate.Reason, String)])
  func `who is disconnected, and for what, is in the log`(
    reason: InboundGate.Reason, text: String
  ) throws {
    var stage = try RouterStage()
    for (user, who) in [(5, "uid:5"), (nil, "a peer")] as [(UInt32?, String)] {
      stage.gate.events.append(
        .disconnected(InboundGate.Disconnection(descriptor: nil, user: user, reason: reason)))
      stage.router.takeConnectionEvents()
      let incident = try #require(stage.takeIncidents().first)
      #expect(incident.text == "\(who) is disconnected: \(text)")
      #expect(incident.principal == user.map { "uid:\($0)" } && incident.kind == .limitExceeded)
    }
  }

  @Test func `more connections than the limit and its tolerance are shut down at once`() throws {
    var stage = try RouterStage(connections: 100, ofPrincipal: 3)
    var ends: [[Int32]] = []
    for _ in 0..<3 + Connections.toleratedExcess + 2 {
      var pair: [Int32] = [-1, -1]
      #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
      #expect(stage.gate.noteAccepted(pair[0]))
      ends.append(pair)
    }
    stage.router.takeConnectionEvents()
    let isShut = ends.map { pair in
      var byte: UInt8 = 0
      return unsafe recv(pair[1], &byte, 1, Int32(MSG_DONTWAIT)) == 0
    }
    #expect(isShut.prefix(3 + Connections.toleratedExcess).allSatisfy { !$0 })
    #expect(isShut.suffix(2) == [true, true])
    // One line for all of them.
    #expect(
      stage.takeIncidents().map(\.text)
        == ["too many connections: some of \(principal) are disconnected"])
    for end in ends.joined() { close(end) }
  }
}
