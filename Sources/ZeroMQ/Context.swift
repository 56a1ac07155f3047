import CZeroMQ

/// The libzmq context: its I/O threads and the namespace of `inproc` endpoints.
///
/// A process needs one. It terminates when it and every socket made from it are gone, in whatever
/// order that happens, so termination cannot wait for a forgotten socket. Messages a closed
/// socket still had to send are dropped unless ``SocketOption/linger(milliseconds:)`` says otherwise.
///
/// A context may be used from any thread.
package struct Context: ~Copyable, Sendable {
  private let handle: ContextHandle

  private init(handle: ContextHandle) {
    self.handle = handle
  }

  /// Makes a context.
  ///
  /// The first call in a process seeds `rand`, see ``seedReconnectJitter()``.
  ///
  /// - Parameter inputOutputThreads: How many threads move bytes; one carries about a gigabyte a second.
  /// - Returns: The context.
  /// - Throws: `EMFILE` when the process has no descriptors left.
  package static func make(inputOutputThreads: Int32 = 1) throws(ZeroMQError) -> Context {
    seedReconnectJitter()
    guard let pointer = unsafe zmq_ctx_new() else {
      throw ZeroMQError(.contextNew, code: zmq_errno())
    }
    let handle = unsafe ContextHandle(pointer)
    // With the default of 1 a socket lingers for ever, and so would termination.
    try handle.set(ZMQ_BLOCKY, 0, name: "ZMQ_BLOCKY")
    try handle.set(ZMQ_IO_THREADS, inputOutputThreads, name: "ZMQ_IO_THREADS")
    return Context(handle: handle)
  }

  /// Has each frame received into memory of its own; otherwise one that waits may keep the whole 8 KiB
  /// that it came in.
  ///
  /// Before the first socket is made.
  /// - Returns: Whether this libzmq can do so.
  package func copyReceived() -> Bool {
    do throws(ZeroMQError) {
      // ZMQ_ZERO_COPY_RECV, which the header calls a draft and 4.3 takes.
      try handle.set(10, 0, name: "ZMQ_ZERO_COPY_RECV")
      return true
    } catch {
      return false
    }
  }

  /// Makes a socket of a type, neither bound nor connected.
  ///
  /// - Throws: `EMFILE` when the process or the context has no room for another socket.
  package func socket(_ type: SocketType) throws(ZeroMQError) -> Socket {
    Socket(try SocketHandle.make(type, in: handle))
  }
}

/// Owns a context pointer; sockets hold it so that it outlives them.
///
/// `@unchecked Sendable`: libzmq contexts are thread safe and the pointer never changes.
@safe
final class ContextHandle: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer

  init(_ pointer: UnsafeMutableRawPointer) {
    unsafe self.pointer = pointer
  }

  deinit {
    // Only a signal can fail this: the pointer is ours and no socket is left to wait for.
    while unsafe zmq_ctx_term(pointer) == -1 {
      guard zmq_errno() == EINTR else { preconditionFailure("zmq_ctx_term: errno=\(zmq_errno())") }
    }
  }

  func set(_ option: Int32, _ value: Int32, name: String) throws(ZeroMQError) {
    try check(.contextSet, name) { unsafe zmq_ctx_set(pointer, option, value) }
  }
}

/// Seeds `rand`, which libzmq uses and never seeds, once in the life of the process.
///
/// Without it every process waits the same "random" times between attempts to reconnect, so that
/// all clients come back at the same instants, and the first routing id a ROUTER gives out is the
/// same in every process, which a hostile peer can use to make libzmq abort.
package func seedReconnectJitter() {
  // A global is initialised by the first access to it, once, whatever the thread.
  seeded
}

private let seeded: Void = {
  precondition(navd_seed_rand() != 0, "getrandom: errno=\(zmq_errno())")
}()

/// Facts about the libzmq this process runs with.
package enum Library {
  /// A version of libzmq.
  package struct Version: Hashable, Sendable, CustomStringConvertible {
    /// The major number.
    package let major: Int32
    /// The minor number.
    package let minor: Int32
    /// The patch number.
    package let patch: Int32

    /// The version as `4.3.4`.
    package var description: String { "\(major).\(minor).\(patch)" }
  }

  /// The version of the library that was loaded, not the one compiled against.
  package static func version() -> Version {
    var major: Int32 = 0
    var minor: Int32 = 0
    var patch: Int32 = 0
    unsafe zmq_version(&major, &minor, &patch)
    return Version(major: major, minor: minor, patch: patch)
  }

  /// Whether the library was built with a capability, such as `ipc` or `curve`.
  package static func has(_ capability: String) -> Bool {
    unsafe zmq_has(capability) == 1
  }
}
