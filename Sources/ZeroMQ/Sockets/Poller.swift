import CLinux
import CZeroMQ

/// The events of a socket or descriptor that a poller has seen, or for which it waits.
package struct Readiness: OptionSet, Hashable, Sendable {
  package let rawValue: Int16

  /// Makes a set from bits of zmq_poll(3).
  package init(rawValue: Int16) {
    self.rawValue = rawValue
  }

  package static let readable = Readiness(rawValue: Int16(ZMQ_POLLIN))
  /// A message can be sent; for a ROUTER, to at least one peer.
  package static let writable = Readiness(rawValue: Int16(ZMQ_POLLOUT))
  /// A raw descriptor failed or hung up.
  package static let failed = Readiness(rawValue: Int16(ZMQ_POLLERR))
}

/// Waits for ZeroMQ sockets and raw descriptors together.
///
/// A poller keeps its sockets open. The caller owns raw descriptors, and removes them before
/// closing them. A wait for up to 16 slots allocates nothing. Without sockets from ``add(_:for:)``,
/// a wait is one system call.
@safe
package struct Poller: ~Copyable {
  /// Identifies a watched socket or descriptor until it is removed.
  package struct Slot: Hashable, Sendable {
    fileprivate let index: Int
  }

  // Invariant: both arrays have the same length. A free slot has a null socket and the descriptor
  // -1, which poll(2) ignores. `sockets` keeps the pointers in `items` valid.
  private var items: [zmq_pollitem_t] = unsafe []
  private var sockets: [SocketHandle?] = []
  // The slots in the form of poll(2); empty while a socket itself is watched.
  private var descriptors: [pollfd] = []
  /// A number that rises with each added or removed slot.
  package private(set) var generation: UInt64 = 0

  package init() {}

  package mutating func add(
    _ socket: borrowing Socket, for interest: Readiness = .readable
  ) -> Slot {
    unsafe insert(item(socket: socket.handle.pointer, -1, interest), socket.handle)
  }

  /// Watches the descriptor (`ZMQ_FD`) by which libzmq signals that a socket should be read.
  ///
  /// This is far cheaper than watching the socket. Law: after a receive that found nothing, and
  /// without another call on the socket since, an arriving message makes the slot readable. The
  /// slot can also be readable without a message. It does not become readable for messages that
  /// had arrived at the last call on the socket. So the caller reads the socket until it is empty
  /// before each wait.
  package mutating func addSignal(of socket: borrowing Socket) throws(ZeroMQError) -> Slot {
    let descriptor = try unsafe Self.signalDescriptor(of: socket.handle.pointer)
    return unsafe insert(item(socket: nil, descriptor, .readable), socket.handle)
  }

  private static func signalDescriptor(of socket: UnsafeMutableRawPointer) throws(ZeroMQError)
    -> Int32
  {
    var descriptor: Int32 = -1
    var size = MemoryLayout<Int32>.size
    let result = unsafe zmq_getsockopt(socket, ZMQ_FD, &descriptor, &size)
    guard result == 0 else { throw ZeroMQError("zmq_poll", code: zmq_errno()) }
    return descriptor
  }

  /// The descriptors of all slots, for another event loop; of a socket, its signal descriptor.
  ///
  /// The law of ``addSignal(of:)`` holds for each. A wait of 0 ms that finds nothing ready counts
  /// as a receive that found nothing, for all sockets.
  package func signalDescriptors() throws(ZeroMQError) -> [Int32] {
    var found: [Int32] = []
    for index in sockets.indices {
      if let socket = unsafe items[index].socket {
        found.append(try unsafe Self.signalDescriptor(of: socket))
      } else if unsafe items[index].fd >= 0 {
        found.append(unsafe items[index].fd)
      }
    }
    return found
  }

  package mutating func add(descriptor: Int32, for interest: Readiness = .readable) -> Slot {
    precondition(descriptor >= 0, "descriptor=\(descriptor)")
    return unsafe insert(item(socket: nil, descriptor, interest), nil)
  }

  /// Changes the readiness that a slot waits for; an empty set pauses it.
  package mutating func watch(_ slot: Slot, for interest: Readiness) {
    unsafe items[slot.index].events = interest.rawValue
    unsafe items[slot.index].revents = 0
    listDescriptors()
  }

  /// Stops watching a slot; a later `add` may reuse it.
  package mutating func remove(_ slot: Slot) {
    unsafe items[slot.index] = item(socket: nil, -1, [])
    sockets[slot.index] = nil
    generation += 1
    listDescriptors()
  }

  /// Waits until a slot is ready; returns the number of ready slots.
  ///
  /// −1 as timeout waits without a limit, 0 returns at once. The result is 0 after the timeout, and
  /// also after a signal, so a caller with a deadline reads its clock.
  package mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Int {
    let ready = descriptors.isEmpty ? waitForAll(milliseconds) : waitForDescriptors(milliseconds)
    guard ready == -1 else { return Int(ready) }
    let code = zmq_errno()
    for index in sockets.indices { unsafe items[index].revents = 0 }
    guard code != EINTR else { return 0 }
    requireNotOurBug("zmq_poll", code)
    throw ZeroMQError("zmq_poll", code: code)
  }

  private mutating func waitForAll(_ milliseconds: Int) -> Int32 {
    unsafe items.withUnsafeMutableBufferPointer { items in
      unsafe zmq_poll(items.baseAddress, Int32(items.count), milliseconds)
    }
  }

  // zmq_poll polls once before it sleeps, which doubles the cost of a wait.
  private mutating func waitForDescriptors(_ milliseconds: Int) -> Int32 {
    let limit = Int32(clamping: milliseconds)
    let ready = unsafe descriptors.withUnsafeMutableBufferPointer { descriptors in
      unsafe poll(descriptors.baseAddress, nfds_t(descriptors.count), limit)
    }
    guard ready >= 0 else { return ready }
    for index in descriptors.indices {
      unsafe items[index].revents = Readiness(polled: descriptors[index].revents).rawValue
    }
    return ready
  }

  private mutating func listDescriptors() {
    let hasSockets = unsafe items.contains { unsafe $0.socket != nil }
    descriptors =
      hasSockets
      ? []
      : unsafe items.map { item in
        unsafe pollfd(fd: item.fd, events: Readiness(rawValue: item.events).pollEvents, revents: 0)
      }
  }

  /// The readiness of a slot at the end of the last wait.
  package func readiness(of slot: Slot) -> Readiness {
    unsafe Readiness(rawValue: items[slot.index].revents)
  }

  package func isReadable(_ slot: Slot) -> Bool {
    readiness(of: slot).contains(.readable)
  }

  private mutating func insert(_ item: zmq_pollitem_t, _ socket: SocketHandle?) -> Slot {
    generation += 1
    let free = unsafe items.firstIndex { unsafe $0.socket == nil && $0.fd == -1 }
    if let free {
      unsafe items[free] = unsafe item
      sockets[free] = socket
      listDescriptors()
      return Slot(index: free)
    }
    unsafe items.append(item)
    sockets.append(socket)
    listDescriptors()
    return Slot(index: sockets.count - 1)
  }
}

private func item(
  socket: UnsafeMutableRawPointer?, _ descriptor: Int32, _ interest: Readiness
) -> zmq_pollitem_t {
  unsafe zmq_pollitem_t(socket: socket, fd: descriptor, events: interest.rawValue, revents: 0)
}

extension Readiness {
  /// The bits of poll(2), which differ from libzmq's.
  fileprivate var pollEvents: Int16 {
    (contains(.readable) ? Int16(POLLIN) : 0) | (contains(.writable) ? Int16(POLLOUT) : 0)
  }

  fileprivate init(polled: Int16) {
    self = []
    if polled & Int16(POLLIN) != 0 { insert(.readable) }
    if polled & Int16(POLLOUT) != 0 { insert(.writable) }
    if polled & ~Int16(POLLIN | POLLOUT | POLLPRI) != 0 { insert(.failed) }
  }
}
