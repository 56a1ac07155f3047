/// A request of libzmq by ZAP 1.0 (RFC 27) to decide whether a peer may connect.
package struct ZAPRequest: Hashable, Sendable {
  /// The mechanism of the handshake, with what the peer gave as proof of its identity.
  package enum Mechanism: Hashable, Sendable {
    /// The peer proves nothing; on `ipc` the kernel guarantees ``ZAPRequest/address``.
    case null
    /// The peer has proved that it has the secret key of this public key.
    case curve(CurvePublicKey)
    /// The name of another mechanism, which the handler must refuse.
    case unsupported(String)
  }

  package static let version = "1.0"

  /// The frames before the version, which lead the reply back.
  package let envelope: [[UInt8]]
  /// The id of the request, which the reply repeats.
  package let requestID: [UInt8]
  /// The ``SocketOption/zapDomain(_:)`` of the endpoint that the peer connected to.
  package let domain: String
  package let address: PeerAddress
  package let mechanism: Mechanism

  /// Reads the frames in the form that a ROUTER receives: routing id, empty frame, request.
  ///
  /// It is nil for other frames, which libzmq itself never sends.
  package init?(frames: [[UInt8]]) {
    // The frame before the mechanism has the routing id of the *server's* socket.
    guard frames.count >= 8, frames[2] == Array(Self.version.utf8),
      let domain = String(validating: frames[4], as: UTF8.self),
      let address = String(validating: frames[5], as: UTF8.self),
      let name = String(validating: frames[7], as: UTF8.self)
    else { return nil }
    envelope = [frames[0], frames[1]]
    requestID = frames[3]
    self.domain = domain
    self.address = PeerAddress(parsing: address)
    switch name {
    case "NULL" where frames.count == 8: mechanism = .null
    case "CURVE" where frames.count == 9:
      guard let key = CurvePublicKey(bytes: frames[8]) else { return nil }
      mechanism = .curve(key)
    case "NULL", "CURVE": return nil
    default: mechanism = .unsupported(name)
    }
  }

  /// The frames of a reply, in the form that a ROUTER sends.
  package func reply(_ answer: ZAPAnswer) -> [[UInt8]] {
    let (status, text, userID) = answer.reply
    return envelope + [
      Array(Self.version.utf8), requestID, Array(status.utf8), Array(text.utf8),
      Array(userID.utf8), [],
    ]
  }
}

/// An answer to a ``ZAPRequest``.
///
/// ZAP's status 300, "temporary failure", has no case, because libzmq leaves such a peer half
/// connected for ever.
package enum ZAPAnswer: Hashable, Sendable {
  /// Admit the peer; its messages then have this user id.
  case allow(userID: String)
  /// Refuse the peer, with a reason for logs (status 400).
  case refuse(reason: String)
  /// Refuse the peer because the decision failed, or no room is left (status 500).
  case fail(reason: String)

  fileprivate var reply: (status: String, text: String, userID: String) {
    switch self {
    case .allow(let userID): ("200", "OK", userID)
    // The protocol limits the text to 255 bytes.
    case .refuse(let reason): ("400", Self.limited(reason), "")
    case .fail(let reason): ("500", Self.limited(reason), "")
    }
  }

  private static func limited(_ reason: String) -> String {
    String(decoding: reason.utf8.prefix(252), as: UTF8.self)
  }
}

/// The socket that decides which peers may connect to the sockets of a context.
///
/// Start it before any other socket of the context binds. libzmq sends a request only for endpoints
/// with CURVE or a ``SocketOption/zapDomain(_:)``, once for each connection. While a request waits,
/// the handshake of its peer waits.
package struct ZAPHandler: ~Copyable {
  /// The endpoint to which libzmq sends its requests.
  package static let endpoint = "inproc://zeromq.zap.01"

  /// The socket that receives the requests, which the caller adds to a ``Poller``.
  package let socket: Socket
  // A CURVE request has nine frames.
  private var parts = Multipart(capacity: 16)

  private init(socket: consuming Socket) {
    self.socket = socket
  }

  /// Starts the handler of a context, which can have only one.
  package static func start(in context: borrowing Context) throws(ZeroMQError) -> ZAPHandler {
    let socket = try context.socket(.router)
    try socket.bind(endpoint)
    return ZAPHandler(socket: socket)
  }

  /// Returns the next request without blocking; nil if there is none.
  ///
  /// An unreadable request gets no answer, so that the handshake of its peer times out.
  package mutating func next() throws(ZeroMQError) -> ZAPRequest? {
    while try socket.receive(into: &parts) {
      if parts.droppedFrames == 0, let request = ZAPRequest(frames: parts.copyFrames()) {
        return request
      }
    }
    return nil
  }

  /// Answers a request; does nothing if the peer has gone.
  package func answer(_ request: ZAPRequest, _ answer: ZAPAnswer) throws(ZeroMQError) {
    _ = try socket.send(request.reply(answer))
  }
}

/// The address of a connection's peer, as libzmq reports it.
package enum PeerAddress: Hashable, Sendable {
  /// A process on this machine, by its credentials at the time of connecting.
  ///
  /// The group is its primary group. The process may have ended, and the kernel may have reused its
  /// id.
  case process(user: UInt32, group: UInt32, process: Int32)
  /// The numeric address of a peer on the network.
  case network(String)

  /// Reads libzmq's text: `localhost:UID:GID:PID` for `ipc`, otherwise an address.
  ///
  /// The host must be the word `localhost`. For a network, libzmq reports numeric addresses only.
  /// So an IPv6 address such as `fe80::0:0:1` cannot pass for user 0 of this machine.
  package init(parsing text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[0] == "localhost",
      let user = UInt32(parts[1]), let group = UInt32(parts[2]), let process = Int32(parts[3])
    else {
      self = .network(text)
      return
    }
    self = .process(user: user, group: group, process: process)
  }
}
