import Foundation
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct SocketTests {
  @Test func `an error says what was attempted, on what, and what came back`() throws {
    let context = try Context()
    let socket = try context.socket(.router)
    #expect(
      failure { () throws(ZeroMQError) in try socket.bind("nonsense") }
        == "zmq_bind nonsense: Invalid argument (EINVAL)")
    #expect(
      failure { () throws(ZeroMQError) in try socket.connect("carrier://pigeon") }
        == "zmq_connect carrier://pigeon: Protocol not supported (EPROTONOSUPPORT)")
  }

  private func failure(_ body: () throws(ZeroMQError) -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return error.description
    }
  }

  @Test func `a port in use is refused by name`() throws {
    let context = try Context()
    let first = try context.socket(.router)
    try first.bind("tcp://127.0.0.1:*")
    let endpoint = try first.lastEndpoint()
    #expect(endpoint.hasPrefix("tcp://127.0.0.1:"))
    let second = try context.socket(.router)
    do {
      try second.bind(endpoint)
      Issue.record("bound \(endpoint) twice")
    } catch {
      #expect(error.code == EADDRINUSE)
      #expect(error.function == "zmq_bind")
      #expect(error.subject == endpoint)
    }
  }

  @Test func `a path too long for the kernel is refused`() throws {
    let context = try Context()
    let socket = try context.socket(.router)
    do {
      try socket.bind("ipc:///tmp/" + String(repeating: "x", count: 120))
      Issue.record("bound")
    } catch {
      #expect(error.code == ENAMETOOLONG)
    }
  }

  @Test(arguments: [
    SocketOption.routerMandatory(true), .routerHandover(false), .sendHighWaterMark(256),
    .receiveHighWaterMark(64), .maximumFrameBytes(69_632), .linger(milliseconds: 0),
    .handshakeInterval(milliseconds: 3000), .zapDomain("navd.ipc"),
    .zapEnforceDomain(true), .heartbeatInterval(milliseconds: 5000),
    .heartbeatTimeout(milliseconds: 15_000), .heartbeatTimeToLive(milliseconds: 20_000),
    .tcpKeepAlive(true), .tcpKeepAliveIdle(seconds: 30), .curveServer(true), .useDescriptor(-1),
    .ipv6(true), .reconnectInterval(milliseconds: 100), .neverReconnect,
    .connectTimeout(milliseconds: 3000),
  ])
  func `every option takes its working value`(option: SocketOption) throws {
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(option)
  }

  @Test(arguments: [
    (SocketOption.sendHighWaterMark(-1), "ZMQ_SNDHWM"),
    (.receiveHighWaterMark(-1), "ZMQ_RCVHWM"),
    (.linger(milliseconds: -2), "ZMQ_LINGER"),
    (.handshakeInterval(milliseconds: -1), "ZMQ_HANDSHAKE_IVL"),
    (.zapDomain(String(repeating: "d", count: 256)), "ZMQ_ZAP_DOMAIN"),
    (.heartbeatInterval(milliseconds: -1), "ZMQ_HEARTBEAT_IVL"),
    (.heartbeatTimeToLive(milliseconds: 6_553_600), "ZMQ_HEARTBEAT_TTL"),
    (.reconnectInterval(milliseconds: -2), "ZMQ_RECONNECT_IVL"),
    (.connectTimeout(milliseconds: -1), "ZMQ_CONNECT_TIMEOUT"),
  ])
  func `an option out of range is refused by name`(option: SocketOption, name: String) throws {
    let context = try Context()
    let router = try context.socket(.router)
    do {
      try router.set(option)
      Issue.record("accepted \(option)")
    } catch {
      #expect(error.description == "zmq_setsockopt \(name): Invalid argument (EINVAL)")
    }
  }

  @Test func `a frame above the limit costs the sender its connection`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.maximumFrameBytes(100))
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    let dealer = try context.socket(.dealer)
    try dealer.set(.neverReconnect)
    try dealer.connect(directory.endpoint)
    try deliver(dealer, [[UInt8](repeating: 0, count: 101)])
    _ = try event(&monitor, .disconnected)
    var parts = Multipart(capacity: 2)
    let arrived = try router.receive(into: &parts)
    #expect(!arrived)
  }

  @Test func `sockets may outlive their context`() throws {
    let socket = try orphan()
    try socket.bind("inproc://orphan")
    #expect(try socket.lastEndpoint() == "inproc://orphan")
  }

  private func orphan() throws -> Socket {
    let context = try Context()
    return try context.socket(.pair)
  }

  @Test func `the library is the one the options were written for`() {
    #expect(libraryVersion().major == 4)
  }

  @Test func `the first routing id differs from the unseeded one`() throws {
    let context = try Context()
    let router = try context.socket(.router)
    try router.bind("inproc://seeded")
    let dealer = try context.socket(.dealer)
    try dealer.connect("inproc://seeded")
    try deliver(dealer, [[]])
    let peer = try receive(router)[0]
    #expect(peer.count == 5)
    // What rand gives first in a process that never seeded it.
    #expect(peer != [0, 0x6B, 0x8B, 0x45, 0x67])
  }
}
