import NavigationHub
import ZeroMQ

/// A connection that was accepted, as the kernel describes it.
struct Acceptance: Hashable, Sendable {
  /// The descriptor.
  ///
  /// The kernel reuses its number after close(2).
  var descriptor: Int32
  /// The kernel's number of the socket, which no other socket has had since the machine started.
  var cookie: UInt64
  /// Where it came from.
  var origin: Connection.Origin
  /// The number of admissions answered before the acceptance, which belong to other connections.
  var admissions: UInt64
}

/// What is known of one connection.
struct Connection: Sendable {
  /// Where a connection came from, as far as the kernel knows.
  enum Origin: Hashable, Sendable {
    case process(user: UInt32, number: Int32)
    case network

    /// The origin of a peer that asks for admission.
    init(_ peer: Peer) {
      switch peer {
      case .local(let user, _, let process): self = .process(user: user, number: process)
      case .key: self = .network
      }
    }
  }

  let acceptance: Acceptance
  /// Whether its descriptor is open.
  ///
  /// If not, messages of it may wait in the socket until that has been read empty.
  var isOpen = true
  /// The number of its admission; 0 while it has none.
  ///
  /// Until the first message, the number may belong to another connection of the same origin.
  var admission: UInt64 = 0
  /// The admitted peer, and the peer of all messages.
  var peer: Peer
  /// The hub's number for it; nil before its first message.
  var id: ConnectionID?
  /// libzmq's routing id: a zero octet and a 32-bit counter.
  ///
  /// Peers choose none, see ``InboundGate``.
  var routingID: [UInt8] = []
  /// The key that it proved, over a network.
  var key: CurvePublicKey?
  /// Whether the peer puts an empty frame before its messages, as REQ does.
  var isEnveloped = false
  /// Until when its first message has to come, in milliseconds, if it has to.
  var firstMessageDue: UInt64?
  /// How often that was postponed.
  var postponements = 0
  /// When it is removed though the socket was not found empty, in milliseconds, once it is closed.
  var removalDue: UInt64?
  /// What the peer has not read.
  var outbox = Outbox()
  /// Whether navd has evicted the peer: it sends the peer nothing more, and the hub has ended its session.
  var isAbandoned = false
  /// Whether its key is not authorised any more: nothing is taken from it.
  var isRevoked = false

  init(_ acceptance: Acceptance) {
    self.acceptance = acceptance
    // A placeholder until the admission: no key has an empty name.
    peer = .key(name: "", address: "")
  }

  /// Whether what it sends is taken.
  var isHeard: Bool { !isAbandoned && !isRevoked }

  static let vacant = Connection(
    Acceptance(descriptor: -1, cookie: 0, origin: .network, admissions: 0))
}

extension Peer {
  /// Whether rights and limits are the same for both.
  func isOfSamePrincipal(as other: Peer) -> Bool {
    switch (self, other) {
    case (.local(let user, _, _), .local(let another, _, _)): user == another
    case (.key(let name, _), .key(let another, _)): name == another
    case (.local, .key), (.key, .local): false
    }
  }
}
