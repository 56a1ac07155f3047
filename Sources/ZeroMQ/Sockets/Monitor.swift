import CZeroMQ
import Synchronization

private let monitorCount = Atomic(0)

/// An event of a socket's connections.
package struct MonitorEvent: Hashable, Sendable {
  /// The kind of an event, by libzmq's number; it defines the meaning of ``MonitorEvent/value``.
  package enum Kind: Int32, CaseIterable, Sendable {
    /// A peer connected; the value is its descriptor.
    case accepted = 0x0020
    /// This side connected to a peer; the value is the descriptor.
    case connected = 0x0001
    /// The handshake with a peer is complete; the value is the descriptor.
    case handshakeSucceeded = 0x1000
    /// An attempt to connect failed; the value is the pause before the next one, in milliseconds.
    case connectRetried = 0x0004
    /// A connection ended; the value is its former descriptor.
    ///
    /// A ROUTER may accept messages for the peer until the caller has read all messages of the peer.
    case disconnected = 0x0200
    /// A connection ended during the handshake; the value is an `errno`.
    case handshakeFailed = 0x0800
    /// The peer or the ZAP handler violated a protocol; the value is libzmq's number for the
    /// violation.
    case handshakeBroken = 0x2000
    /// The ZAP handler refused the peer; the value is the status code of its answer.
    case refused = 0x4000
  }

  package let kind: Kind
  package let value: Int32
}

/// Reports the events of a socket's connections, until it is destroyed.
///
/// Start it before the socket binds or connects, and read all events: they queue without a limit,
/// because a full queue would block the socket. The monitor keeps its socket open.
package struct Monitor: ~Copyable {
  /// The events that libzmq reports, each by a message.
  private static let events = MonitorEvent.Kind.allCases.reduce(0) { $0 | $1.rawValue }

  /// The socket that receives the events, which the caller adds to a ``Poller``.
  package let reader: Socket
  private let monitored: SocketHandle
  private var parts = Multipart(capacity: 2)

  private init(reader: consuming Socket, monitored: SocketHandle) {
    self.reader = reader
    self.monitored = monitored
  }

  deinit {
    // Before the reader closes. It fails only if monitoring has ended already.
    _ = unsafe zmq_socket_monitor(monitored.pointer, nil, 0)
  }

  /// Starts monitoring a socket, which can have one monitor at a time.
  package static func start(on socket: borrowing Socket) throws(ZeroMQError) -> Monitor {
    let handle = socket.handle
    // A new name each time, because libzmq frees the endpoint of an ended monitor with a delay.
    let number = monitorCount.wrappingAdd(1, ordering: .relaxed).newValue
    let endpoint = "inproc://monitor-\(number)"
    let reader = Socket(try SocketHandle(.pair, in: handle.context))
    // Without a limit, because an unread event would otherwise block the monitored socket.
    try reader.set(.receiveHighWaterMark(0))
    try check("zmq_socket_monitor", endpoint) {
      unsafe zmq_socket_monitor(handle.pointer, endpoint, events)
    }
    // From here on, `deinit` ends the monitoring, even if connecting fails.
    let monitor = Monitor(reader: reader, monitored: handle)
    try monitor.reader.connect(endpoint)
    return monitor
  }

  /// Returns the next event without blocking; nil if there is none.
  package mutating func next() throws(ZeroMQError) -> MonitorEvent? {
    while try reader.receive(into: &parts) {
      if let event = MonitorEvent(parts) { return event }
    }
    return nil
  }
}

extension MonitorEvent {
  /// Reads libzmq's number of the event (16 bits) and its value (32 bits), in native byte order.
  ///
  /// It is nil for an event without a ``Kind``.
  fileprivate init?(_ parts: borrowing Multipart) {
    guard parts.count == 2, parts[0].count == 6 else { return nil }
    let head = parts[0].copyBytes()
    let (number, value) = unsafe head.withUnsafeBytes { bytes in
      unsafe (
        bytes.loadUnaligned(as: UInt16.self),
        bytes.loadUnaligned(fromByteOffset: 2, as: Int32.self)
      )
    }
    guard let kind = Kind(rawValue: Int32(number)) else { return nil }
    self.kind = kind
    self.value = value
  }
}
