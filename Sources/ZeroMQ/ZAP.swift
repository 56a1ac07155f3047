/// The question of ZAP 1.0 (RFC 27) whether a peer may connect.
package struct ZAPRequest: Hashable, Sendable {
  /// How the peer proved who it is.
  package enum Mechanism: Hashable, Sendable {
    /// It proved nothing; on `ipc` the kernel vouches for ``ZAPRequest/address``.
    case null
    /// It has the secret key of this public one.
    case curve(CurvePublicKey)
    /// A mechanism that is not supported and has to be refused: its name.
    case unsupported(String)
  }

  /// Why frames are not a request; libzmq itself never sends such.
  package enum Malformed: Error, Hashable, Sendable {
    /// The number of frames is not that of the mechanism.
    case frameCount(Int)
    /// The version is another.
    case version([UInt8])
    /// A text is not UTF-8.
    case text([UInt8])
    /// A CURVE key is not 32 bytes long.
    case key(byteCount: Int)
  }

  /// The version of the protocol.
  package static let version = "1.0"

  /// What leads the reply back: every frame before the version.
  package let envelope: [[UInt8]]
  /// Names the request; echoed in the reply.
  package let requestID: [UInt8]
  /// What ``SocketOption/zapDomain(_:)`` the connection came to.
  package let domain: String
  /// Where the peer is.
  package let address: PeerAddress
  /// The routing id of the *server's* socket, in libzmq 4.3.4; it says nothing of the peer.
  package let identity: [UInt8]
  /// How the peer proved who it is.
  package let mechanism: Mechanism

  /// Reads the frames as a ROUTER receives them: routing id, empty frame, request.
  package init(frames: [[UInt8]]) throws(Malformed) {
    guard frames.count >= 8 else { throw .frameCount(frames.count) }
    guard frames[2] == Array(Self.version.utf8) else { throw .version(frames[2]) }
    envelope = [frames[0], frames[1]]
    requestID = frames[3]
    domain = try Self.text(frames[4])
    address = PeerAddress(parsing: try Self.text(frames[5]))
    identity = frames[6]
    mechanism = try Self.mechanism(try Self.text(frames[7]), credentials: frames[8...])
  }

  private static func mechanism(
    _ name: String, credentials: ArraySlice<[UInt8]>
  ) throws(Malformed) -> Mechanism {
    switch name {
    case "NULL":
      guard credentials.isEmpty else { throw .frameCount(8 + credentials.count) }
      return .null
    case "CURVE":
      guard credentials.count == 1, let bytes = credentials.first else {
        throw .frameCount(8 + credentials.count)
      }
      guard let key = CurvePublicKey(bytes: bytes) else { throw .key(byteCount: bytes.count) }
      return .curve(key)
    default:
      return .unsupported(name)
    }
  }

  private static func text(_ bytes: [UInt8]) throws(Malformed) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .text(bytes) }
    return text
  }

  /// The frames of a reply, as a ROUTER sends them.
  package func reply(_ answer: ZAPAnswer) -> [[UInt8]] {
    let (status, text, userID) = answer.fields
    return envelope + [
      Array(Self.version.utf8), requestID, Array(status.utf8), Array(text.utf8),
      Array(userID.utf8), [],
    ]
  }
}

/// An answer to a ``ZAPRequest``.
///
/// Status 300, "temporary failure", is left out: libzmq leaves such a peer half connected for ever.
package enum ZAPAnswer: Hashable, Sendable {
  /// Let it in. Its messages carry the user id.
  case allow(userID: String)
  /// Refuse it, with a reason for logs; status 400.
  case refuse(reason: String)
  /// Refuse it because the answer could not be found out; status 500.
  case fail(reason: String)

  fileprivate var fields: (status: String, text: String, userID: String) {
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

/// The socket that decides who may connect to the sockets of a context.
///
/// Start it before any other socket of the context binds. libzmq asks only for endpoints with a
/// ``SocketOption/zapDomain(_:)`` or CURVE, and does not ask again for as long as a
/// connection lasts. While a request waits here, so does that peer's handshake.
package struct ZAPHandler: ~Copyable {
  /// The endpoint libzmq looks for.
  package static let endpoint = "inproc://zeromq.zap.01"

  /// Requests that could not be read; their peers are refused when their handshake times out.
  package private(set) var malformedRequests = 0

  let socket: Socket
  // A CURVE request has nine frames.
  private var parts = Multipart(capacity: 16)

  private init(socket: consuming Socket) {
    self.socket = socket
  }

  /// Starts to take the requests of a context, which can have one handler.
  package static func start(in context: borrowing Context) throws(ZeroMQError) -> ZAPHandler {
    let socket = try context.socket(.router)
    try socket.bind(endpoint)
    return ZAPHandler(socket: socket)
  }

  /// The next request, without waiting.
  package mutating func next() throws(ZeroMQError) -> ZAPRequest? {
    while try socket.receive(into: &parts) {
      guard parts.droppedFrames == 0 else {
        malformedRequests += 1
        continue
      }
      do {
        return try ZAPRequest(frames: parts.copyFrames())
      } catch {
        malformedRequests += 1
      }
    }
    return nil
  }

  /// Answers a request; a peer that has gone meanwhile does not mind.
  package func answer(_ request: ZAPRequest, _ answer: ZAPAnswer) throws(ZeroMQError) {
    _ = try socket.send(request.reply(answer))
  }
}

/// Where the other end of a connection is, as libzmq reports it.
package enum PeerAddress: Hashable, Sendable {
  /// A process on this machine, known to the kernel when it connected.
  ///
  /// The group is the primary one; the process may be gone and its number in use again.
  case process(user: UInt32, group: UInt32, process: Int32)
  /// The numeric address of a peer on the network.
  case network(String)

  /// Reads libzmq's text: `localhost:UID:GID:PID` for `ipc`, an address otherwise.
  ///
  /// The host must be spelt `localhost`. On a network libzmq gives numbers only, so that an IPv6
  /// address such as `fe80::0:0:1` cannot pass for user 0 of this machine.
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
