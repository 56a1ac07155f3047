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
