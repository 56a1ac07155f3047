import CLinux
import CZeroMQ

/// What a descriptor or socket is ready for, or is watched for.
package struct Readiness: OptionSet, Hashable, Sendable {
  /// The bits.
  package let rawValue: Int16

  /// Makes a set from poll bits.
  package init(rawValue: Int16) {
    self.rawValue = rawValue
  }

  /// Something can be received.
  package static let readable = Readiness(rawValue: Int16(ZMQ_POLLIN))
  /// Something can be sent; on a ROUTER this says that some peer has room, not which.
  package static let writable = Readiness(rawValue: Int16(ZMQ_POLLOUT))
  /// A raw descriptor failed or hung up.
  package static let failed = Readiness(rawValue: Int16(ZMQ_POLLERR))
}

/// Waits for ZeroMQ sockets and raw descriptors together.
///
/// A poller keeps the sockets it watches open. Raw descriptors belong to the caller, who removes
/// them before closing them. Waiting allocates nothing for up to 16 slots. While no socket itself is
/// watched, only descriptors and signs of sockets, a wait is one call of the kernel.
@safe
package struct Poller: ~Copyable {
  /// Names something that is watched; valid until it is removed.
  package struct Slot: Hashable, Sendable {
    fileprivate let index: Int
  }

  // Invariant: equally long; a slot without watch has a null socket and descriptor -1, which
  // poll(2) skips. `sockets` keeps the pointers in `items` valid.
  private var items: [zmq_pollitem_t] = unsafe []
  private var sockets: [SocketHandle?] = []
  // The same for poll(2); empty while a socket itself is watched.
  private var descriptors: [pollfd] = []

  /// Makes a poller that watches nothing.
  package init() {}

  /// Watches a socket.
  package mutating func add(
    _ socket: borrowing Socket, for interest: Readiness = .readable
  ) -> Slot {
    unsafe insert(item(socket: socket.handle.pointer, -1, interest), socket.handle)
  }

  /// Watches for events of a monitor.
  package mutating func add(_ monitor: borrowing Monitor) -> Slot {
    add(monitor.reader)
  }

  /// Watches for requests to a ZAP handler.
  package mutating func add(_ handler: borrowing ZAPHandler) -> Slot {
    add(handler.socket)
  }

  /// Watches for signs that a socket should be read, far cheaper than the socket itself.
  ///
  /// Law: after a receive that found nothing, with no other call on the socket since, a message that
  /// arrives makes the slot readable. It may also be readable without a message, and it does not
  /// become readable for messages that were there when the socket was last called: read it empty
  /// before each wait.
  package mutating func addSigns(of socket: borrowing Socket) throws(ZeroMQError) -> Slot {
    var descriptor: Int32 = -1
    var size = MemoryLayout<Int32>.size
    let result = unsafe zmq_getsockopt(socket.handle.pointer, ZMQ_FD, &descriptor, &size)
    guard result == 0 else { throw ZeroMQError(.poll, code: zmq_errno()) }
    return unsafe insert(item(socket: nil, descriptor, .readable), socket.handle)
  }

  /// Watches for signs of requests to a ZAP handler; see ``addSigns(of:)-(Socket)``.
  package mutating func addSigns(of handler: borrowing ZAPHandler) throws(ZeroMQError) -> Slot {
    try addSigns(of: handler.socket)
  }

  /// Watches a raw descriptor.
  package mutating func add(descriptor: Int32, for interest: Readiness = .readable) -> Slot {
    precondition(descriptor >= 0, "descriptor=\(descriptor)")
    return unsafe insert(item(socket: nil, descriptor, interest), nil)
  }

  /// Changes what a slot is watched for; an empty set pauses it.
  package mutating func watch(_ slot: Slot, for interest: Readiness) {
    unsafe items[slot.index].events = interest.rawValue
    unsafe items[slot.index].revents = 0
    listDescriptors()
  }

  /// Stops watching; the slot may name something else afterwards.
  package mutating func remove(_ slot: Slot) {
    unsafe items[slot.index] = item(socket: nil, -1, [])
    sockets[slot.index] = nil
    listDescriptors()
  }

  /// Waits until something is ready.
  ///
  /// - Parameter milliseconds: How long at most; −1 for ever, 0 to look only.
  /// - Returns: How many slots are ready; 0 when time is up and also when a signal arrived, so a
  ///   caller with a deadline looks at its clock.
  /// - Throws: What poll(2) says about the descriptors, such as `ENOMEM`.
  package mutating func wait(milliseconds: Int) throws(ZeroMQError) -> Int {
    let ready = descriptors.isEmpty ? waitForAll(milliseconds) : waitForDescriptors(milliseconds)
    guard ready == -1 else { return Int(ready) }
    let code = zmq_errno()
    for index in sockets.indices { unsafe items[index].revents = 0 }
    guard code != EINTR else { return 0 }
    requireNotOurBug(.poll, code)
    throw ZeroMQError(.poll, code: code)
  }

  private mutating func waitForAll(_ milliseconds: Int) -> Int32 {
    unsafe items.withUnsafeMutableBufferPointer { items in
      unsafe zmq_poll(items.baseAddress, Int32(items.count), milliseconds)
    }
  }

  // zmq_poll looks once before it sleeps, which doubles what a wait costs.
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
        unsafe pollfd(fd: item.fd, events: Readiness(rawValue: item.events).polled, revents: 0)
      }
  }

  /// What a slot was ready for when the last wait returned.
  package func readiness(of slot: Slot) -> Readiness {
    unsafe Readiness(rawValue: items[slot.index].revents)
  }

  /// Whether something could be received when the last wait returned.
  package func isReadable(_ slot: Slot) -> Bool {
    readiness(of: slot).contains(.readable)
  }

  private mutating func insert(_ item: zmq_pollitem_t, _ socket: SocketHandle?) -> Slot {
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
  /// The bits of poll(2), of which libzmq's are a selection.
  fileprivate var polled: Int16 {
    (contains(.readable) ? Int16(POLLIN) : 0) | (contains(.writable) ? Int16(POLLOUT) : 0)
  }

  fileprivate init(polled: Int16) {
    self = []
    if polled & Int16(POLLIN) != 0 { insert(.readable) }
    if polled & Int16(POLLOUT) != 0 { insert(.writable) }
    if polled & ~Int16(POLLIN | POLLOUT | POLLPRI) != 0 { insert(.failed) }
  }
}
