import Testing
import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct TransferTests {
  @Test(arguments: [
    [[]], [[1], [], [2, 3], []], [[], [], []], [Array(repeating: 7, count: 4096)],
  ])
  func `a message arrives whole, empty frames included`(frames: [[UInt8]]) throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    try router.bind(directory.endpoint)
    let dealer = try context.socket(.dealer)
    try dealer.connect(directory.endpoint)
    try deliver(dealer, frames)

    let arrived = try receive(router)
    #expect(Array(arrived.dropFirst()) == frames)
    try deliver(router, arrived)
    let returned = try receive(dealer)
    #expect(returned == frames)
  }

  @Test func `a mandatory ROUTER reports an absent peer and leaves the message`() throws {
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.routerMandatory(true))
    let nobody = bytes("nobody")
    let result = try router.send([nobody, nobody])
    #expect(result == .unreachable)
    var message = Message(copying: nobody)
    let shared = try router.send(
      to: nobody.span, isEnveloped: true, head: nobody.span, sharing: &message)
    #expect(shared == .unreachable)
    #expect(message.copyBytes() == nobody)
    let copied = try router.send(
      to: nobody.span, isEnveloped: false, head: nobody.span, body: nobody.span)
    #expect(copied == .unreachable)
  }

  @Test func `a peer that has gone is unreachable`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.routerMandatory(true))
    var monitor = try Monitor.start(on: router)
    try router.bind(directory.endpoint)
    let peer = try connectOnce(to: directory.endpoint, in: context, router)
    _ = try event(&monitor, .disconnected)
    // The event may overtake the news to the ROUTER, which takes it in when it is used.
    var poller = Poller()
    _ = poller.add(router)
    var result = SendResult.sent
    for _ in 0..<patienceMilliseconds where result == .sent {
      _ = try poller.wait(milliseconds: 1)
      result = try router.send([peer, [1]])
    }
    #expect(result == .unreachable)
  }

  private func connectOnce(
    to endpoint: String, in context: borrowing Context, _ router: borrowing Socket
  ) throws -> [UInt8] {
    let dealer = try context.socket(.dealer)
    try dealer.connect(endpoint)
    try deliver(dealer, [[1]])
    return try receive(router)[0]
  }

  @Test func `a full queue takes no message`() throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let dealer = try context.socket(.dealer)
    try dealer.set(.sendHighWaterMark(3))
    // Nothing listens yet: the messages stay in the queue.
    try dealer.connect(directory.endpoint)
    for _ in 0..<3 { try deliver(dealer, [[1], [2]]) }
    let result = try dealer.send([[9]])
    #expect(result == .wouldBlock)
    let whole = try dealer.send([[1], [2]])
    #expect(whole == .wouldBlock)
  }

  @Test func `a ROUTER stops at a peer that does not read and goes on afterwards`() throws {
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.routerMandatory(true))
    try router.set(.sendHighWaterMark(2))
    try router.bind("inproc://full")
    let dealer = try context.socket(.dealer)
    try dealer.set(.receiveHighWaterMark(2))
    try dealer.connect("inproc://full")
    try deliver(dealer, [[1]])
    let peer = try receive(router)[0]
    var body = Message(copying: [UInt8](repeating: 5, count: 100))
    var sent = 0
    let head = bytes("head")
    while try router.send(to: peer.span, isEnveloped: false, head: head.span, sharing: &body)
      == .sent
    { sent += 1 }
    #expect(sent == 4)
    for _ in 0..<sent {
      let arrived = try receive(dealer)
      #expect(arrived == [head, [UInt8](repeating: 5, count: 100)])
    }
    // The ROUTER learns that the peer reads again when it is used, so it is asked to.
    var none = Multipart(capacity: 1)
    let nothing = try router.receive(into: &none)
    #expect(!nothing)
    let again = try router.send(
      to: peer.span, isEnveloped: true, head: head.span, body: head.span)
    #expect(again == .sent)
    let last = try receive(dealer)
    #expect(last == [[], head, head])
  }

  @Test func `an over-long message is cut, counted and leaves the next one alone`() throws {
    let context = try Context()
    let pair = try context.socket(.pair)
    try pair.bind("inproc://long")
    let other = try context.socket(.pair)
    try other.connect("inproc://long")
    try deliver(other, (0..<5000).map { [UInt8(truncatingIfNeeded: $0)] })
    try deliver(other, [[42]])
    var parts = Multipart(capacity: 4)
    try receive(pair, into: &parts)
    #expect(parts.copyFrames() == [[0], [1], [2], [3]])
    #expect(parts.droppedFrames == 4996)
    try receive(pair, into: &parts)
    #expect(parts.copyFrames() == [[42]])
    #expect(parts.droppedFrames == 0)
    let none = try pair.receive(into: &parts)
    #expect(!none)
    #expect(parts.copyFrames().isEmpty)
  }

  @Test func `using a socket against its pattern stops the process`() async {
    await #expect(processExitsWith: .failure) {
      let context = try Context()
      let request = try context.socket(.request)
      try request.connect("inproc://unbound")
      var parts = Multipart(capacity: 1)
      // A REQ must send before it receives.
      _ = try request.receive(into: &parts)
    }
  }
}
