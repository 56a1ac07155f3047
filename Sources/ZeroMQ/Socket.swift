import CZeroMQ

/// A ZeroMQ socket.
///
/// Not `Sendable`: libzmq allows one thread at a time, and the compiler holds us to it. The socket
/// closes when it, its ``Monitor`` and the ``Poller``s it was added to are gone.
package struct Socket: ~Copyable {
  let handle: SocketHandle

  init(_ handle: SocketHandle) {
    self.handle = handle
  }

  /// Sets an option for what is bound or connected afterwards.
  ///
  /// - Throws: `EINVAL` when the value is out of range or the library does not know the option.
  package func set(_ option: SocketOption) throws(ZeroMQError) {
    let (number, name, value) = option.encoded
    try check(.setOption, name) { handle.setOption(number, value) }
  }

  /// Accepts connections on an endpoint.
  ///
  /// On `ipc` this replaces a file that is there, even one another process listens on.
  ///
  /// - Throws: `EINVAL`, `EPROTONOSUPPORT`, `EADDRINUSE`, `EADDRNOTAVAIL`, `ENODEV`, `ENAMETOOLONG`
  ///   or what the file system says.
  package func bind(_ endpoint: String) throws(ZeroMQError) {
    try check(.bind, endpoint) { unsafe zmq_bind(handle.pointer, endpoint) }
  }

  /// Stops accepting connections on an endpoint, spelt as ``lastEndpoint()`` does.
  package func unbind(_ endpoint: String) throws(ZeroMQError) {
    try check(.unbind, endpoint) { unsafe zmq_unbind(handle.pointer, endpoint) }
  }

  /// Connects to an endpoint, now or as soon as something listens there.
  ///
  /// - Throws: `EINVAL`, `EPROTONOSUPPORT`; for `inproc`, `ECONNREFUSED`.
  package func connect(_ endpoint: String) throws(ZeroMQError) {
    try check(.connect, endpoint) { unsafe zmq_connect(handle.pointer, endpoint) }
  }

  /// Drops the connection to an endpoint and what was queued for it.
  ///
  /// Only between messages: libzmq aborts the process when half of one has been read, which
  /// ``receive(into:)-(Multipart)`` never leaves behind.
  package func disconnect(_ endpoint: String) throws(ZeroMQError) {
    try check(.disconnect, endpoint) { unsafe zmq_disconnect(handle.pointer, endpoint) }
  }

  /// The endpoint bound last, with the port the kernel chose; empty when there is none.
  package func lastEndpoint() throws(ZeroMQError) -> String {
    var text = [UInt8](repeating: 0, count: 1024)
    var size = text.count
    try check(.getOption, "ZMQ_LAST_ENDPOINT") {
      unsafe zmq_getsockopt(handle.pointer, ZMQ_LAST_ENDPOINT, &text, &size)
    }
    // The size counts the terminator.
    return String(decoding: text.prefix(while: { $0 != 0 }), as: UTF8.self)
  }
}

/// Owns a socket pointer; pollers and monitors hold it so that what they point at stays open.
@safe
final class SocketHandle {
  let pointer: UnsafeMutableRawPointer
  /// Carries each frame of a message, so that sending allocates nothing; empty between messages.
  let scratch: MessageStorage
  let context: ContextHandle

  private init(_ pointer: UnsafeMutableRawPointer, context: ContextHandle) {
    unsafe self.pointer = pointer
    self.scratch = MessageStorage.empty()
    self.context = context
  }

  static func make(
    _ type: SocketType, in context: ContextHandle
  ) throws(ZeroMQError) -> SocketHandle {
    guard let pointer = unsafe zmq_socket(context.pointer, type.number) else {
      throw ZeroMQError(.socket, code: zmq_errno())
    }
    return unsafe SocketHandle(pointer, context: context)
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
    case .wide(var value):
      unsafe zmq_setsockopt(pointer, number, &value, MemoryLayout<Int64>.size)
    case .bytes(let bytes):
      unsafe zmq_setsockopt(pointer, number, bytes, bytes.count)
    }
  }
}

/// What became of a message handed to a socket.
package enum SendResult: Hashable, Sendable {
  /// It was queued; that is all libzmq ever promises.
  case sent
  /// The queue is full, or nobody is connected yet; the message is still the caller's.
  case wouldBlock
  /// A mandatory ROUTER has no such peer; the message is still the caller's.
  case unreachable
}

extension Socket {
  /// Queues one frame without waiting.
  ///
  /// - Parameters:
  ///   - message: Empty afterwards when it was sent, unchanged otherwise.
  ///   - more: Whether further frames of the same message follow.
  /// - Returns: What became of it.
  /// - Throws: What libzmq says beyond the results; nothing is known.
  package func send(_ message: inout Message, more: Bool = false) throws(ZeroMQError) -> SendResult
  {
    try send(message.storage, flags: ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0))
  }

  /// Queues one frame, waiting until there is room or `ZMQ_SNDTIMEO` has passed.
  ///
  /// For clients. Not for a ROUTER, where one full peer would stop everything.
  package func sendWaiting(
    _ message: inout Message, more: Bool = false
  ) throws(ZeroMQError) -> SendResult {
    try send(message.storage, flags: more ? ZMQ_SNDMORE : 0)
  }

  /// Queues a message of a routing id, a head and a body, without waiting: every frame or none.
  ///
  /// - Parameters:
  ///   - routingID: The peer.
  ///   - isEnveloped: Whether an empty frame stands before the head, as a REQ wants it.
  ///   - head: The first frame.
  ///   - body: The last frame.
  /// - Returns: What became of it.
  /// - Throws: What libzmq says beyond the results; nothing is known.
  package func send(
    to routingID: Span<UInt8>, isEnveloped: Bool, head: Span<UInt8>, body: Span<UInt8>
  ) throws(ZeroMQError) -> SendResult {
    let admitted = try sendHead(to: routingID, isEnveloped, head)
    guard admitted == .sent else { return admitted }
    handle.scratch.fill(copying: body)
    try sendRest(0)
    return .sent
  }

  /// The same with a body that keeps its bytes, so that it can go to any number of peers.
  package func send(
    to routingID: Span<UInt8>, isEnveloped: Bool, head: Span<UInt8>, sharing body: inout Message
  ) throws(ZeroMQError) -> SendResult {
    let admitted = try sendHead(to: routingID, isEnveloped, head)
    guard admitted == .sent else { return admitted }
    handle.scratch.share(body.storage)
    try sendRest(0)
    return .sent
  }

  private func sendHead(
    to routingID: Span<UInt8>, _ isEnveloped: Bool, _ head: Span<UInt8>
  ) throws(ZeroMQError) -> SendResult {
    let scratch = handle.scratch
    scratch.fill(copying: routingID)
    let admitted = try send(scratch, flags: ZMQ_DONTWAIT | ZMQ_SNDMORE)
    guard admitted == .sent else {
      scratch.clear()
      return admitted
    }
    if isEnveloped { try sendRest(ZMQ_SNDMORE) }
    scratch.fill(copying: head)
    try sendRest(ZMQ_SNDMORE)
    return .sent
  }

  /// Sends a later frame of a message to one peer.
  ///
  /// A ROUTER decides on the routing id; behind it, a refusal says that the connection broke.
  /// libzmq has taken back the frames before and swallows those that follow, so they must be handed
  /// over or they would begin the next message.
  private func sendRest(_ flags: Int32) throws(ZeroMQError) {
    let scratch = handle.scratch
    if try send(scratch, flags: ZMQ_DONTWAIT | flags) != .sent { scratch.clear() }
  }

  /// Queues a whole message without waiting: every frame or none.
  ///
  /// - Parameter frames: At least one.
  /// - Returns: What became of it.
  /// - Throws: What libzmq says beyond the results; nothing is known.
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
      // The first frame refused: nothing has begun. A later one is as in `sendRest`.
      if index == 0 { break }
    }
    return result
  }

  private func send(_ storage: MessageStorage, flags: Int32) throws(ZeroMQError) -> SendResult {
    switch attempt(.send, { unsafe zmq_msg_send(storage.pointer, handle.pointer, flags) }) {
    case .value: return .sent
    case .failure(EAGAIN): return .wouldBlock
    case .failure(EHOSTUNREACH): return .unreachable
    case .failure(let code): throw ZeroMQError(.send, code: code)
    }
  }

  /// Takes the next frame without waiting.
  ///
  /// - Returns: Whether there was one. The message is unchanged otherwise.
  package func receive(into message: inout Message) throws(ZeroMQError) -> Bool {
    try receive(into: message.storage, flags: ZMQ_DONTWAIT) != nil
  }

  /// Takes the next frame, waiting until there is one or `ZMQ_RCVTIMEO` has passed.
  package func receiveWaiting(into message: inout Message) throws(ZeroMQError) -> Bool {
    try receive(into: message.storage, flags: 0) != nil
  }

  /// Takes the next whole message without waiting.
  ///
  /// Frames beyond the capacity are read, thrown away and counted, so that the next call begins
  /// with the next message.
  ///
  /// - Returns: Whether there was one. `parts` is empty otherwise.
  package func receive(into parts: inout Multipart) throws(ZeroMQError) -> Bool {
    parts.begin()
    guard var bytes = try receive(into: parts.next, flags: ZMQ_DONTWAIT) else { return false }
    while true {
      let more = parts.next.more
      parts.advance(bytes)
      guard more else { return true }
      // libzmq shows a message only when all of it is there.
      guard let next = try receive(into: parts.next, flags: ZMQ_DONTWAIT) else {
        preconditionFailure("libzmq delivered \(parts.count) frames of a longer message")
      }
      bytes = next
    }
  }

  /// Takes a frame; returns the number of its bytes, or nil if there is none.
  private func receive(into storage: MessageStorage, flags: Int32) throws(ZeroMQError) -> Int? {
    switch attempt(.receive, { unsafe zmq_msg_recv(storage.pointer, handle.pointer, flags) }) {
    case .value(let bytes): return Int(bytes)
    case .failure(EAGAIN): return nil
    case .failure(let code): throw ZeroMQError(.receive, code: code)
    }
  }
}
