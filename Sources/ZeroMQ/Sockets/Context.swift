import CZeroMQ

/// A libzmq context: its I/O threads, and the namespace of `inproc` endpoints.
///
/// A process needs one. Each socket refers to its context, which terminates when nothing refers to
/// it, so termination never waits for a forgotten socket. A closed socket drops its unsent messages,
/// unless ``SocketOption/linger(milliseconds:)`` is set.
///
/// `@unchecked Sendable`: libzmq contexts are thread-safe, and the pointer never changes.
@safe
package final class Context: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  /// Makes a context, where one I/O thread carries about 1 GB/s.
  ///
  /// `EMFILE` means that the process has no descriptor left.
  package init(inputOutputThreads: Int32 = 1) throws(ZeroMQError) {
    // libzmq uses `rand` and never seeds it. Unseeded, all processes, or all children of one, would
    // reconnect at the same times. And the first routing id of a ROUTER would be known, with which a
    // hostile peer can make libzmq abort.
    precondition(navd_seed_rand() != 0, "getrandom: errno=\(zmq_errno())")
    guard let pointer = unsafe zmq_ctx_new() else {
      throw ZeroMQError("zmq_ctx_new", code: zmq_errno())
    }
    unsafe self.pointer = pointer
    // By default, a socket lingers for ever, and termination would wait for it.
    try set(ZMQ_BLOCKY, 0, name: "ZMQ_BLOCKY")
    try set(ZMQ_IO_THREADS, inputOutputThreads, name: "ZMQ_IO_THREADS")
  }

  deinit {
    // Only a signal can make this fail: the pointer is a context, and it has no sockets left.
    while unsafe zmq_ctx_term(pointer) == -1 {
      guard zmq_errno() == EINTR else { preconditionFailure("zmq_ctx_term: errno=\(zmq_errno())") }
    }
  }

  /// Makes libzmq copy each received frame into memory of its own; false if it cannot.
  ///
  /// Otherwise a waiting frame may keep the whole 8 KiB buffer that it arrived in. The caller calls
  /// this before it makes the first socket.
  package func copyReceivedFrames() -> Bool {
    do throws(ZeroMQError) {
      // ZMQ_ZERO_COPY_RECV: the header declares it as a draft, but libzmq 4.3 accepts it.
      try set(10, 0, name: "ZMQ_ZERO_COPY_RECV")
      return true
    } catch {
      return false
    }
  }

  /// Makes a socket that is neither bound nor connected; `EMFILE` can also mean that the context
  /// has its maximum of sockets.
  package func socket(_ type: SocketType) throws(ZeroMQError) -> Socket {
    Socket(try SocketHandle(type, in: self))
  }

  private func set(_ option: Int32, _ value: Int32, name: String) throws(ZeroMQError) {
    try check("zmq_ctx_set", name) { unsafe zmq_ctx_set(pointer, option, value) }
  }
}

/// The version of the loaded libzmq, which can differ from the one compiled against.
package func libraryVersion() -> (major: Int32, minor: Int32, patch: Int32) {
  var version: (major: Int32, minor: Int32, patch: Int32) = (0, 0, 0)
  unsafe zmq_version(&version.major, &version.minor, &version.patch)
  return version
}
