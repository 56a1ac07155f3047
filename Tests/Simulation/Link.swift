import NavigationCore
import NavigationHub

/// A message on its way to the daemon.
struct Request: Sendable {
  var verb: [UInt8]
  var body: [UInt8]
  /// The nav that an op is about.
  var changes: String?

  init(_ verb: ClientVerb, _ body: [UInt8], changes: String? = nil) {
    self.verb = Array("nsp1.\(verb.rawValue)".utf8)
    self.body = body
    self.changes = changes
  }
}

/// A message on its way to a client.
struct Delivery: Sendable {
  var verb: ServerVerb
  var body: [UInt8]
  /// The daemon's turn that sent it.
  var turn: Int
  var boot: UInt64
  /// Whether the session had credit and an open socket when it was sent, and its watches had been
  /// served since it last lacked them.
  var wasServed: Bool
}

/// One connection: first in, first out each way, of any delay, and lost whole.
struct Link: Sendable {
  let id: ConnectionID
  let client: Int
  let peer: Peer
  var requests: [Request] = []
  var deliveries: [Delivery] = []
  /// What the socket did not take.
  var kept: [Delivery] = []
  /// Whether the client's end is there.
  var isOpen = true
  /// Whether the hub was told that the socket is full.
  var isBlocked = false

  /// The ops that have arrived, by id, with their number in that order; nil for an id that came twice.
  var arrivals: [UInt64: Int?] = [:]
  /// The number of the last op that was taken, and is durable.
  var lastTaken = -1

  // Flow control as the hub must see it.
  var sent: UInt64 = 0
  var upTo: UInt64 = 0

  /// When the daemon last took a message of the client, on its boot clock.
  var heardAt: UInt64 = 0
  // Flow control as the client must see it: what the session has received, and what it has granted.
  var received: UInt64 = 0
  var granted: UInt64 = 0

  var hasCredit: Bool { sent < upTo && !isBlocked }
  /// Whether answers have overtaken the watches for want of credit or room, and no watch has been
  /// served since: a watch that needs a snapshot gets it when everything is durable.
  var isBehind = false
  /// Whether its session has ended, and its watches with that, before answers of the same turn leave.
  var isDismissed = false
}
