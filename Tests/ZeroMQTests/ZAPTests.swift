import Foundation
import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct ZAPTests {
  /// A ROUTER that lets nobody in without a handler's leave.
  private func guarded(_ context: borrowing Context) throws -> Socket {
    let router = try context.socket(.router)
    try router.set(.zapDomain("test.ipc"))
    try router.set(.zapEnforceDomain(true))
    return router
  }

  private func client(_ context: borrowing Context, _ endpoint: String) throws -> Socket {
    let dealer = try context.socket(.dealer)
    try dealer.set(.neverReconnect)
    try dealer.connect(endpoint)
    try deliver(dealer, [[1]])
    return dealer
  }

  @Test func `an admitted peer is known by the kernel's word and the handler's name`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    var handler = try ZAPHandler.start(in: context)
    let router = try guarded(context)
    try router.bind(directory.endpoint)
    let dealer = try client(context, directory.endpoint)

    let question = try request(&handler)
    let me = PeerAddress.process(user: getuid(), group: getgid(), process: getpid())
    #expect(question.domain == "test.ipc")
    #expect(question.mechanism == .null)
    #expect(question.address == me)
    try handler.answer(question, .allow(userID: "alice"))

    var parts = Multipart(capacity: 2)
    try receive(router, into: &parts)
    #expect(parts.copyFrames().last == [1])
    #expect(parts[1].userID == "alice")
    #expect(parts[1].peerAddress == me)
    try deliver(router, parts.copyFrames())
    let echo = try receive(dealer)
    #expect(echo == [[1]])
  }

  @Test(arguments: [
    (ZAPAnswer.refuse(reason: "no"), 400 as Int32), (.fail(reason: "later"), 500),
  ])
  func `a refused peer never gets through`(answer: ZAPAnswer, status: Int32) throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    var handler = try ZAPHandler.start(in: context)
    let router = try guarded(context)
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    let dealer = try client(context, directory.endpoint)
    try handler.answer(try request(&handler), answer)
    let refused = try event(&monitor, .refused)
    #expect(refused.value == status)
    _ = try event(&monitor, .disconnected)
    var parts = Multipart(capacity: 2)
    let arrived = try router.receive(into: &parts)
    #expect(!arrived)
    _ = dealer
  }

  @Test func `without a handler an enforced domain lets nobody in`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try guarded(context)
    // libzmq leaves such a connection to the timer.
    try router.set(.handshakeInterval(milliseconds: 50))
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    let dealer = try client(context, directory.endpoint)
    _ = try event(&monitor, .handshakeFailed)
    _ = try event(&monitor, .disconnected)
    var parts = Multipart(capacity: 2)
    let arrived = try router.receive(into: &parts)
    #expect(!arrived)
    _ = dealer
  }

  @Test func `a CURVE peer shows the key it has`() throws {
    let context = try Context()
    var handler = try ZAPHandler.start(in: context)
    let server = try CurveKeyPair.generate()
    let peer = try CurveKeyPair.generate()
    let router = try guarded(context)
    try router.set(.curveServer(true))
    try router.set(.curveSecretKey(server.secretKey))
    try router.bind("tcp://127.0.0.1:*")
    let dealer = try context.socket(.dealer)
    try dealer.set(.curveServerKey(server.publicKey))
    try dealer.set(.curvePublicKey(peer.publicKey))
    try dealer.set(.curveSecretKey(peer.secretKey))
    try dealer.connect(router.lastEndpoint())
    try deliver(dealer, [[7]])

    let question = try request(&handler)
    #expect(question.mechanism == .curve(peer.publicKey))
    #expect(question.address == .network("127.0.0.1"))
    try handler.answer(question, .allow(userID: "bob"))
    let arrived = try receive(router)
    #expect(arrived[1] == [7])
  }

  private let head = ["id", "", "1.0", "7", "navd", "localhost:1:2:3", ""].map(bytes)

  @Test func `a request is read and its reply leads back`() throws {
    let request = try #require(ZAPRequest(frames: head + [bytes("NULL")]))
    #expect(request.requestID == bytes("7"))
    #expect(request.domain == "navd")
    #expect(request.address == .process(user: 1, group: 2, process: 3))
    #expect(
      request.reply(.allow(userID: "u"))
        == ["id", "", "1.0", "7", "200", "OK", "u", ""].map(bytes))
    #expect(
      request.reply(.refuse(reason: "why"))
        == ["id", "", "1.0", "7", "400", "why", "", ""].map(bytes))
    #expect(request.reply(.fail(reason: String(repeating: "é", count: 300)))[5].count <= 255)
  }

  @Test func `PLAIN and unknown mechanisms are not supported`() throws {
    let plain = ZAPRequest(frames: head + ["PLAIN", "user", "password"].map(bytes))
    #expect(plain?.mechanism == .unsupported("PLAIN"))
    let other = ZAPRequest(frames: head + ["GSSAPI", "principal"].map(bytes))
    #expect(other?.mechanism == .unsupported("GSSAPI"))
  }

  @Test func `what is not a request is told apart`() {
    #expect(ZAPRequest(frames: head) == nil)
    #expect(ZAPRequest(frames: head + ["NULL", "x"].map(bytes)) == nil)
    #expect(ZAPRequest(frames: head + ["CURVE", "key"].map(bytes)) == nil)
    for (index, other) in [(2, bytes("2.0")), (4, [0xFF]), (5, [0xFF]), (7, [0xFF])] {
      var frames = head + [bytes("NULL")]
      #expect(ZAPRequest(frames: frames) != nil)
      frames[index] = other
      #expect(ZAPRequest(frames: frames) == nil)
    }
  }

  @Test(arguments: [
    ("localhost:0:0:1", PeerAddress.process(user: 0, group: 0, process: 1)),
    ("localhost:4294967294:5:6", .process(user: 4_294_967_294, group: 5, process: 6)),
    ("127.0.0.1", .network("127.0.0.1")), ("fe80::0:0:1", .network("fe80::0:0:1")),
    ("::0:0:1", .network("::0:0:1")), ("localhost", .network("localhost")),
    ("localhost:a:0:1", .network("localhost:a:0:1")),
    ("localhost:-1:0:1", .network("localhost:-1:0:1")), ("", .network("")),
  ])
  func `only the kernel's form names a process`(text: String, address: PeerAddress) {
    #expect(PeerAddress(parsing: text) == address)
  }
}
