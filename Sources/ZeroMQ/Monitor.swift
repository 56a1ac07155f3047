import CZeroMQ
import Synchronization

/// How many monitors this process has started.
private let started = Atomic(0)

/// Something that happened to the connections of a socket.
package struct MonitorEvent: Hashable, Sendable {
  /// What happened; says what ``MonitorEvent/value`` means.
  package enum Kind: Hashable, Sendable {
    /// A peer connected; the value is its descriptor.
    case accepted
    /// A peer could not be accepted; the value is an `errno`.
    case acceptFailed
    /// A connection of ours was made; the value is its descriptor.
    case connected
    /// A connection ended; the value is the descriptor it had. A ROUTER may accept messages for
    /// the peer a moment longer, and does until it has been read empty.
    case disconnected
    /// The handshake failed; the value is an `errno`.
    case handshakeFailed
    /// The peer or the ZAP handler broke a protocol; the value is libzmq's number for the reason.
    case handshakeBroken
    /// The ZAP handler refused the peer; the value is the status it gave.
    case refused
  }

  /// What sort of thing it is.
  package let kind: Kind
  /// The value, as JSON.
  package let value: Int32
  /// The endpoint of this side.
  package let endpoint: String
}

/// Reports the connections of a socket, from its start until it is destroyed.
///
/// Start it before the socket binds or connects, and keep reading: events queue without a limit,
/// because a full queue would stop the socket itself. It keeps the socket open.
package struct Monitor: ~Copyable {
  /// Which events to report; each costs a message.
  package enum Events: Sendable {
    /// Accepted, not accepted, disconnected, and failed handshakes.
    case server
    /// Connected, disconnected, and failed handshakes.
    case client

    fileprivate var mask: Int32 {
      let failures =
        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
        | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH | ZMQ_EVENT_DISCONNECTED
      return switch self {
      case .server: failures | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_ACCEPT_FAILED
      case .client: failures | ZMQ_EVENT_CONNECTED
      }
    }
  }

  let reader: Socket
  private let monitored: SocketHandle
  private var parts = Multipart(capacity: 2)

  private init(reader: consuming Socket, monitored: SocketHandle) {
    self.reader = reader
    self.monitored = monitored
  }

  deinit {
    // Before the reader closes. It fails only when monitoring has ended already.
    _ = unsafe zmq_socket_monitor(monitored.pointer, nil, 0)
  }

  /// Starts to report on a socket, which can have one monitor at a time.
  package static func start(
    on socket: borrowing Socket, _ events: Events
  ) throws(ZeroMQError) -> Monitor {
    let handle = socket.handle
    // Never used twice: libzmq frees the endpoint of an ended monitor in its own time.
    let number = started.wrappingAdd(1, ordering: .relaxed).newValue
    let endpoint = "inproc://monitor-\(number)"
    let reader = Socket(try SocketHandle.make(.pair, in: handle.context))
    // Unlimited, or an unread event would block the monitored socket.
    try reader.set(.receiveHighWaterMark(0))
    try check(.monitor, endpoint) {
      unsafe zmq_socket_monitor(handle.pointer, endpoint, events.mask)
    }
    // From here on `deinit` ends the monitoring, also when connecting fails.
    let monitor = Monitor(reader: reader, monitored: handle)
    try monitor.reader.connect(endpoint)
    return monitor
  }

  /// The next event that has been reported, without waiting.
  package mutating func next() throws(ZeroMQError) -> MonitorEvent? {
    while try reader.receive(into: &parts) {
      if let event = MonitorEvent(parts) { return event }
    }
    return nil
  }
}

extension MonitorEvent {
  /// Reads a 16-bit event and a 32-bit value in this machine's order, then the endpoint; `nil` for
  /// an event nobody asked for.
  fileprivate init?(_ parts: borrowing Multipart) {
    guard parts.count == 2, parts[0].count == 6 else { return nil }
    let head = parts[0].copyBytes()
    let (number, value) = unsafe head.withUnsafeBytes { bytes in
      unsafe (
        bytes.loadUnaligned(as: UInt16.self),
        bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self)
      )
    }
    guard let kind = Kind(number: Int32(number)) else { return nil }
    self.kind = kind
    self.value = value
    self.endpoint = String(decoding: parts[1].copyBytes(), as: UTF8.self)
  }
}

extension MonitorEvent.Kind {
  fileprivate init?(number: Int32) {
    switch number {
    case ZMQ_EVENT_ACCEPTED: self = .accepted
    case ZMQ_EVENT_ACCEPT_FAILED: self = .acceptFailed
    case ZMQ_EVENT_CONNECTED: self = .connected
    case ZMQ_EVENT_DISCONNECTED: self = .disconnected
    case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL: self = .handshakeFailed
    case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL: self = .handshakeBroken
    case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH: self = .refused
    default: return nil
    }
  }
}
