import CZeroMQ

/// A ZeroMQ socket.
///
/// It is not `Sendable`, because libzmq allows one thread at a time to use a socket. libzmq closes
/// it when the socket, its ``Monitor`` and the ``Poller``s that watch it have been released.
package struct Socket: ~Copyable {
  let handle: SocketHandle

  init(_ handle: SocketHandle) {
    self.handle = handle
  }

  /// Sets an option for later binds and connects; throws `EINVAL` if the value is out of range, or
  /// libzmq does not know the option.
  package func set(_ option: SocketOption) throws(ZeroMQError) {
    let (number, name, value) = option.encoded
    try check("zmq_setsockopt", name) { handle.setOption(number, value) }
  }

  /// Accepts connections on an endpoint.
  ///
  /// For `ipc` it replaces an existing file, even one on which another process listens.
  package func bind(_ endpoint: String) throws(ZeroMQError) {
    try check("zmq_bind", endpoint) { unsafe zmq_bind(handle.pointer, endpoint) }
  }

  /// Connects to an endpoint, now or as soon as a socket listens there.
  ///
  /// For `inproc` it can throw `ECONNREFUSED`.
  package func connect(_ endpoint: String) throws(ZeroMQError) {
    try check("zmq_connect", endpoint) { unsafe zmq_connect(handle.pointer, endpoint) }
  }

  /// The endpoint bound last, with the port that the kernel chose; empty if there is none.
  package func lastEndpoint() throws(ZeroMQError) -> String {
    var text = [UInt8](repeating: 0, count: 1024)
    var size = text.count
    try check("zmq_getsockopt", "ZMQ_LAST_ENDPOINT") {
      unsafe zmq_getsockopt(handle.pointer, ZMQ_LAST_ENDPOINT, &text, &size)
    }
    // The size includes the terminator.
    return String(decoding: text.prefix(while: { $0 != 0 }), as: UTF8.self)
  }
}

/// Owns a socket pointer; pollers and monitors refer to it, so that the socket stays open.
@safe
final class SocketHandle {
  let pointer: UnsafeMutableRawPointer
  /// The `zmq_msg_t` that each outgoing frame uses in turn, so that sending allocates none.
  ///
  /// It is empty between messages.
  let scratch: MessageStorage
  let context: Context

  init(_ type: SocketType, in context: Context) throws(ZeroMQError) {
    guard let pointer = unsafe zmq_socket(context.pointer, type.number) else {
      throw ZeroMQError("zmq_socket", code: zmq_errno())
    }
    unsafe self.pointer = pointer
    self.scratch = MessageStorage.empty()
    self.context = context
  }

  deinit {
    scratch.destroy()
    // It fails only for a pointer that is not a socket.
    let closed = unsafe zmq_close(pointer)
    precondition(closed == 0, "zmq_close: errno=\(zmq_errno())")
  }

  func setOption(_ number: Int32, _ value: SocketOption.Value) -> Int32 {
    switch value {
    case .integer(var value):
      unsafe zmq_setsockopt(pointer, number, &value, MemoryLayout<Int32>.size)
    case .integer64(var value):
      unsafe zmq_setsockopt(pointer, number, &value, MemoryLayout<Int64>.size)
    case .bytes(let bytes):
      unsafe zmq_setsockopt(pointer, number, bytes, bytes.count)
    }
  }
}

/// The result of passing a message to a socket.
package enum SendResult: Hashable, Sendable {
  /// libzmq has queued the message; it may still be lost.
  case sent
  /// The queue is full, or there is no connection; the caller still owns the message.
  case wouldBlock
  /// A mandatory ROUTER has no such peer; the caller still owns the message.
  case unreachable
}

extension Socket {
  /// Queues a message of a routing id, a head and a body without blocking: all frames or none.
  ///
  /// With `isEnveloped`, an empty frame precedes the head, as a REQ socket requires.
  package func send(
    to routingID: Span<UInt8>, isEnveloped: Bool, head: Span<UInt8>, body: Span<UInt8>
  ) throws(ZeroMQError) -> SendResult {
    let admitted = try sendThroughHead(to: routingID, isEnveloped, head)
    guard admitted == .sent else { return admitted }
    handle.scratch.fill(copying: body)
    try sendNext(0)
    return .sent
  }

  /// Queues a message with a body that the caller can send to further peers without a copy.
  package func send(
    to routingID: Span<UInt8>, isEnveloped: Bool, head: Span<UInt8>, sharing body: inout Message
  ) throws(ZeroMQError) -> SendResult {
    let admitted = try sendThroughHead(to: routingID, isEnveloped, head)
    guard admitted == .sent else { return admitted }
    handle.scratch.share(body.storage)
    try sendNext(0)
    return .sent
  }

  /// Queues the frames of a message up to the head; after `sent`, the caller must send the body.
  private func sendThroughHead(
    to routingID: Span<UInt8>, _ isEnveloped: Bool, _ head: Span<UInt8>
  ) throws(ZeroMQError) -> SendResult {
    let scratch = handle.scratch
    scratch.fill(copying: routingID)
    let admitted = try send(scratch, flags: ZMQ_DONTWAIT | ZMQ_SNDMORE)
    guard admitted == .sent else {
      scratch.clear()
      return admitted
    }
    if isEnveloped { try sendNext(ZMQ_SNDMORE) }
    scratch.fill(copying: head)
    try sendNext(ZMQ_SNDMORE)
    return .sent
  }

  /// Sends the frame in `scratch`, which is not the first of its message.
  ///
  /// A ROUTER looks up the peer with the first frame. If it refuses a later frame, the connection
  /// broke in between. libzmq then drops the earlier frames, and swallows the later ones. The
  /// caller still passes them, because they would otherwise begin the next message.
  private func sendNext(_ flags: Int32) throws(ZeroMQError) {
    let scratch = handle.scratch
    if try send(scratch, flags: ZMQ_DONTWAIT | flags) != .sent { scratch.clear() }
  }

  /// Queues a whole message of at least one frame without blocking: all frames or none.
  package func send(_ frames: [[UInt8]]) throws(ZeroMQError) -> SendResult {
    precondition(!frames.isEmpty, "a message has at least one frame")
    let scratch = handle.scratch
    var result = SendResult.sent
    for (index, frame) in frames.enumerated() {
      scratch.fill(copying: frame.span)
      let more = index < frames.count - 1
      let queued = try send(scratch, flags: ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0))
      guard queued != .sent else { continue }
      result = queued
      scratch.clear()
      // A refused first frame begins no message. For a later one see `sendNext`.
      if index == 0 { break }
    }
    return result
  }

  private func send(_ storage: MessageStorage, flags: Int32) throws(ZeroMQError) -> SendResult {
    switch attempt("zmq_msg_send", { unsafe zmq_msg_send(storage.pointer, handle.pointer, flags) })
    {
    case .value: return .sent
    case .failure(EAGAIN): return .wouldBlock
    case .failure(EHOSTUNREACH): return .unreachable
    case .failure(let code): throw ZeroMQError("zmq_msg_send", code: code)
    }
  }

  /// Receives the next whole message without blocking; if there is none, `parts` is empty.
  ///
  /// Frames beyond the capacity are read, dropped and counted, so that the next call begins with
  /// the next message.
  package func receive(into parts: inout Multipart) throws(ZeroMQError) -> Bool {
    parts.reset()
    guard var bytes = try receive(into: parts.nextFrame) else { return false }
    while true {
      let more = parts.nextFrame.hasMore
      parts.countFrame(bytes)
      guard more else { return true }
      // libzmq delivers a message only when all of its frames have arrived.
      guard let next = try receive(into: parts.nextFrame) else {
        preconditionFailure("libzmq delivered \(parts.count) frames of a longer message")
      }
      bytes = next
    }
  }

  /// Receives a frame; returns the number of its bytes, or nil if there is none.
  private func receive(into storage: MessageStorage) throws(ZeroMQError) -> Int? {
    let flags = ZMQ_DONTWAIT
    switch attempt("zmq_msg_recv", { unsafe zmq_msg_recv(storage.pointer, handle.pointer, flags) })
    {
    case .value(let bytes): return Int(bytes)
    case .failure(EAGAIN): return nil
    case .failure(let code): throw ZeroMQError("zmq_msg_recv", code: code)
    }
  }
}
