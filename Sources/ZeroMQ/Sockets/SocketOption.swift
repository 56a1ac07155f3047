import CZeroMQ

/// The socket types that this project uses.
package struct SocketType: Sendable {
  let number: Int32

  /// Talks to many peers, each named by the first frame of a message.
  package static let router = SocketType(number: ZMQ_ROUTER)
  /// Talks to one service asynchronously.
  package static let dealer = SocketType(number: ZMQ_DEALER)
  /// Sends a request, then waits for its reply.
  package static let request = SocketType(number: ZMQ_REQ)
  /// One end of an exclusive pair.
  package static let pair = SocketType(number: ZMQ_PAIR)
}

/// A socket option and its value.
///
/// An option applies to later binds and connects. High-water marks count messages, not bytes, and
/// must not change after the first bind or connect. `encoded` has the names of zmq_setsockopt(3).
package enum SocketOption: Hashable, Sendable {
  /// ROUTER: report absent and full peers instead of dropping silently.
  case routerMandatory(Bool)
  /// ROUTER: let a new peer take over a routing id that is in use.
  case routerHandover(Bool)
  /// The maximum of messages queued for one peer; 0 for no limit.
  case sendHighWaterMark(Int32)
  /// The maximum of messages queued from one peer; 0 for no limit.
  case receiveHighWaterMark(Int32)
  /// The maximum size of a frame, −1 for none; a peer that sends more is disconnected.
  case maximumFrameBytes(Int64)
  /// The time for which a closed socket goes on sending; −1 for ever.
  case linger(milliseconds: Int32)
  /// The time that a peer may take for its greeting; 0 for ever.
  case handshakeInterval(milliseconds: Int32)
  /// The domain in ZAP requests; an empty one disables ZAP for NULL.
  case zapDomain(String)
  /// Refuse peers if no ZAP handler answers.
  ///
  /// Setting it throws `EINVAL` if libzmq does not have the option. Such a libzmq must not be used
  /// to serve, because it admits every peer without a handler.
  case zapEnforceDomain(Bool)
  /// The time between heartbeats; 0 for none.
  case heartbeatInterval(milliseconds: Int32)
  /// The time to wait for traffic after a heartbeat.
  case heartbeatTimeout(milliseconds: Int32)
  /// The time after which the peer should close a silent connection; at most 6,553,599.
  case heartbeatTimeToLive(milliseconds: Int32)
  case tcpKeepAlive(Bool)
  /// The idle time before the first keep-alive probe.
  case tcpKeepAliveIdle(seconds: Int32)
  /// Whether this side is the server in CURVE handshakes.
  case curveServer(Bool)
  case curvePublicKey(CurvePublicKey)
  case curveSecretKey(CurveSecretKey)
  /// The public key that the server must prove.
  case curveServerKey(CurvePublicKey)
  /// A bound, listening, non-blocking descriptor for the next bind; −1 for none.
  case useDescriptor(Int32)
  case ipv6(Bool)
  /// The time before reconnecting.
  case reconnectInterval(milliseconds: Int32)
  /// The time for one attempt to connect; 0 for the kernel's default.
  case connectTimeout(milliseconds: Int32)
}

extension SocketOption {
  /// No second connection, to which messages for the first would go.
  ///
  /// It is a day. With −1, as with ZMQ_IMMEDIATE, libzmq (4.3.2 to 4.3.5) drops what has come and was
  /// not read when the connection ends, and aborts a process that has read half of a message.
  package static let neverReconnect = reconnectInterval(milliseconds: 86_400_000)

  /// The value in the form of zmq_setsockopt(3).
  enum Value {
    case integer(Int32)
    case integer64(Int64)
    case bytes([UInt8])

    init(_ flag: Bool) {
      self = .integer(flag ? 1 : 0)
    }
  }

  var encoded: (number: Int32, name: String, value: Value) {
    switch self {
    case .routerMandatory(let on): (ZMQ_ROUTER_MANDATORY, "ZMQ_ROUTER_MANDATORY", Value(on))
    case .routerHandover(let on): (ZMQ_ROUTER_HANDOVER, "ZMQ_ROUTER_HANDOVER", Value(on))
    case .sendHighWaterMark(let count): (ZMQ_SNDHWM, "ZMQ_SNDHWM", .integer(count))
    case .receiveHighWaterMark(let count): (ZMQ_RCVHWM, "ZMQ_RCVHWM", .integer(count))
    case .maximumFrameBytes(let count): (ZMQ_MAXMSGSIZE, "ZMQ_MAXMSGSIZE", .integer64(count))
    case .linger(let time): (ZMQ_LINGER, "ZMQ_LINGER", .integer(time))
    case .zapDomain(let domain): (ZMQ_ZAP_DOMAIN, "ZMQ_ZAP_DOMAIN", .bytes(Array(domain.utf8)))
    case .zapEnforceDomain(let on):
      (Int32(NAVD_ZMQ_ZAP_ENFORCE_DOMAIN), "ZMQ_ZAP_ENFORCE_DOMAIN", Value(on))
    case .curveServer(let on): (ZMQ_CURVE_SERVER, "ZMQ_CURVE_SERVER", Value(on))
    case .curvePublicKey(let key): (ZMQ_CURVE_PUBLICKEY, "ZMQ_CURVE_PUBLICKEY", .bytes(key.bytes))
    case .curveSecretKey(let key): (ZMQ_CURVE_SECRETKEY, "ZMQ_CURVE_SECRETKEY", .bytes(key.bytes))
    case .curveServerKey(let key): (ZMQ_CURVE_SERVERKEY, "ZMQ_CURVE_SERVERKEY", .bytes(key.bytes))
    case .handshakeInterval(let time): (ZMQ_HANDSHAKE_IVL, "ZMQ_HANDSHAKE_IVL", .integer(time))
    case .heartbeatInterval(let time): (ZMQ_HEARTBEAT_IVL, "ZMQ_HEARTBEAT_IVL", .integer(time))
    case .heartbeatTimeout(let time):
      (ZMQ_HEARTBEAT_TIMEOUT, "ZMQ_HEARTBEAT_TIMEOUT", .integer(time))
    case .heartbeatTimeToLive(let time): (ZMQ_HEARTBEAT_TTL, "ZMQ_HEARTBEAT_TTL", .integer(time))
    case .tcpKeepAlive(let on): (ZMQ_TCP_KEEPALIVE, "ZMQ_TCP_KEEPALIVE", Value(on))
    case .tcpKeepAliveIdle(let time):
      (ZMQ_TCP_KEEPALIVE_IDLE, "ZMQ_TCP_KEEPALIVE_IDLE", .integer(time))
    case .useDescriptor(let descriptor): (ZMQ_USE_FD, "ZMQ_USE_FD", .integer(descriptor))
    case .ipv6(let on): (ZMQ_IPV6, "ZMQ_IPV6", Value(on))
    case .reconnectInterval(let time): (ZMQ_RECONNECT_IVL, "ZMQ_RECONNECT_IVL", .integer(time))
    case .connectTimeout(let time): (ZMQ_CONNECT_TIMEOUT, "ZMQ_CONNECT_TIMEOUT", .integer(time))
    }
  }
}
