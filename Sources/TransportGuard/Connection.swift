import NavigationCore
import ZeroMQ

/// An accepted connection, as the kernel describes it.
struct Acceptance: Hashable, Sendable {
  /// The descriptor.
  ///
  /// The kernel gives the number to another connection after close(2).
  var descriptor: Int32
  /// The kernel's number of the socket (SO_COOKIE), unique since the machine started.
  var cookie: UInt64
  /// The peer's process, or the network.
  var origin: Connection.Origin
  /// The number of admissions answered before the acceptance, which belong to other connections.
  var admissions: UInt64
}

/// One connection, from its acceptance until its last message is read.
struct Connection: Sendable {
  /// The origin of a connection, as far as the kernel knows it.
  enum Origin: Hashable, Sendable {
    case process(user: UInt32, number: Int32)
    case network

    /// The origin that a connection of this peer must have.
    init(_ peer: Peer) {
      switch peer {
      case .local(let user, _, let process): self = .process(user: user, number: process)
      case .key: self = .network
      }
    }
  }

  let acceptance: Acceptance
  /// Whether the descriptor is open.
  ///
  /// Messages of a closed connection can wait in the socket until the loop has read all messages.
  var isOpen = true
  /// The number of the connection's admission; 0 before it is admitted.
  ///
  /// Until the first message, the number may belong to another connection of the same origin.
  var admission: UInt64 = 0
  /// The admitted peer, which sends all messages of the connection.
  var peer: Peer
  /// The number by which the hub knows the connection; nil before its first message.
  var id: ConnectionID?
  /// The routing id that libzmq assigned: a zero byte and a 32-bit counter.
  ///
  /// ``InboundGate`` rejects peers that choose their own.
  var routingID: [UInt8] = []
  /// The key that the peer proved; nil for a peer on this machine.
  var key: CurvePublicKey?
  /// Whether the peer puts an empty frame before its messages, as REQ does.
  var isEnveloped = false
  /// The deadline of the first message, in milliseconds; nil if there is none.
  var firstMessageDue: UInt64?
  /// How often that deadline was postponed.
  var postponements = 0
  /// The time at which the table removes the closed connection even if the socket never was empty,
  /// in milliseconds; nil while it is open.
  var removalDue: UInt64?
  /// The messages and bytes that the peer has not read.
  var outbox = Outbox()
  /// Whether navd has evicted the peer: it sends the peer nothing more, and the hub has ended its session.
  var isAbandoned = false
  /// Whether the peer's key is no longer authorised: navd ignores everything that it sends.
  var isRevoked = false

  init(_ acceptance: Acceptance) {
    self.acceptance = acceptance
    // A placeholder until the admission: no key has an empty name.
    peer = .key(name: "", address: "")
  }

  /// Whether navd reads what the peer sends.
  var isHeard: Bool { !isAbandoned && !isRevoked }

  static let vacant = Connection(
    Acceptance(descriptor: -1, cookie: 0, origin: .network, admissions: 0))
}

extension Peer {
  /// Whether both peers are the same user or key, so that rights and limits are common to them.
  func isOfSamePrincipal(as other: Peer) -> Bool {
    switch (self, other) {
    case (.local(let user, _, _), .local(let another, _, _)): user == another
    case (.key(let name, _), .key(let another, _)): name == another
    case (.local, .key), (.key, .local): false
    }
  }
}
