import Testing
@testable import ZeroMQ

@Suite(.timeLimit(.minutes(5)))
struct MessageTests {
  @Test(arguments: [0, 1, 32, 33, 34, 200, 100_000])
  func `a message holds what it was made of`(count: Int) {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
    let message = Message(copying: payload)
    #expect(message.copyBytes() == payload)
    #expect(message.storage.hasMore == false)
    #expect(message.storage.property("Peer-Address") == nil)
  }

  @Test func `short payloads stay readable when the message moves`() {
    let payload = bytes("inside the zmq_msg_t itself")
    let message = Message(copying: payload)
    let moved = pass(message)
    #expect(moved.copyBytes() == payload)
  }

  private func pass(_ message: consuming Message) -> Message { message }

  @Test func `clearing the content keeps the message usable`() {
    let message = Message(copying: [UInt8](repeating: 1, count: 500))
    message.storage.clear()
    #expect(message.copyBytes().isEmpty)
    let short: [UInt8] = [1, 2, 3]
    message.storage.fill(copying: short.span)
    #expect(message.copyBytes() == [1, 2, 3])
  }

  @Test(arguments: [5, 33, 34, 220, 5000])
  func `shares outlive the original and each other`(count: Int) {
    let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    var original = Message(copying: payload)
    let first = original.share()
    var second = first.copyBytes() == payload ? original.share() : Message()
    original.storage.clear()
    #expect(second.copyBytes() == payload)
    let third = second.share()
    second = Message()
    #expect(third.copyBytes() == payload)
    #expect(first.copyBytes() == payload)
  }

  @Test func `what libzmq holds is counted until the last share of it has gone`() {
    // Far more than the tests beside this one hold.
    let size = 256 << 20
    var original = Message(copying: [UInt8](repeating: 7, count: size))
    let share = original.share()
    original = Message()
    #expect(Message.heldOctets > size)
    _ = consume share
    #expect(Message.heldOctets < size)
  }

  @Test(arguments: [20, 220, 3000])
  func `one body goes to many peers while it is in flight`(count: Int) throws {
    let directory = try TemporaryDirectory()
    let context = try Context()
    let router = try context.socket(.router)
    try router.set(.routerMandatory(true))
    try router.set(.sendHighWaterMark(0))
    try router.bind(directory.endpoint)
    let first = try context.socket(.dealer)
    try first.set(.receiveHighWaterMark(0))
    try first.connect(directory.endpoint)
    try deliver(first, [[1]])
    let firstPeer = try receive(router)[0]
    let second = try context.socket(.dealer)
    try second.set(.receiveHighWaterMark(0))
    try second.connect(directory.endpoint)
    try deliver(second, [[2]])
    let secondPeer = try receive(router)[0]

    let rounds = 3000
    let head = bytes("head")
    for round in 0..<rounds {
      // Made and destroyed while the I/O thread still sends it.
      var body = Message(
        copying: [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: count))
      let one = try router.send(
        to: firstPeer.span, isEnveloped: false, head: head.span, sharing: &body)
      let two = try router.send(
        to: secondPeer.span, isEnveloped: true, head: head.span, sharing: &body)
      try #require(one == .sent && two == .sent)
    }
    for round in 0..<rounds {
      let expected = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: count)
      let one = try receive(first)
      let two = try receive(second)
      try #require(one == [head, expected])
      try #require(two == [[], head, expected])
    }
  }

  @Test func `frames of a reused multipart do not show the message before`() throws {
    let context = try Context()
    let pair = try context.socket(.pair)
    try pair.bind("inproc://reuse")
    let other = try context.socket(.pair)
    try other.connect("inproc://reuse")
    var parts = Multipart(capacity: 3)
    for frames: [[UInt8]] in [[[1], [2], [3]], [[]], [[4], []]] {
      try deliver(other, frames)
      try receive(pair, into: &parts)
      #expect(parts.copyFrames() == frames)
      #expect(parts[0].bytes.count == frames[0].count)
    }
  }

  @Test func `a frame that is not there cannot be read`() async {
    await #expect(processExitsWith: .failure) {
      let parts = Multipart(capacity: 1)
      _ = parts[0].count
    }
  }
}
