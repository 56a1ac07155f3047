package import NavigationCore

/// An input of the hub.
package enum HubEvent: Sendable {
  /// A client's message, as ``ClientMessageReader`` has read it.
  case message(ConnectionID, Peer, ClientMessage)
  /// A client's message that cannot be read, with the error that answers it.
  indirect case unreadable(ConnectionID, Peer, MessageFailure)
  case closed(ConnectionID)
  /// The socket accepts no more messages for this connection; the shell keeps the unsent ones.
  case blocked(ConnectionID)
  /// The socket accepts messages again, and the shell has sent all that it kept.
  case unblocked(ConnectionID)
  case history(HistoryAnswer)
  case backupProgress(BackupProgress)
  case backup(BackupOutcome)
  /// Retention pruned the history of a nav, whose oldest readable revision is `oldestRevision` now.
  case historyPruned(nav: UInt64, oldestRevision: UInt64)
  /// The journal asks for a snapshot of a nav, so that it may prune.
  case snapshotWanted(nav: UInt64)
  case access(Access)
  /// The key of the connection's peer is not authorised any more.
  case revoked(ConnectionID)
  indirect case cluster(ClusterView)
  /// The result of an administrator's request to the cluster; nil if the database has stored it.
  indirect case clusterCommandResult(ConnectionID, id: UInt64, ClusterCommandFailure?)
  indirect case configured(ConnectionID, id: UInt64, ConfigurationAnswer)
  /// The time `wakeAt` has come.
  case wake
  case stop
}

extension HubEvent {
  /// Reads a client's message: the only way from the frames of the wire to the hub.
  ///
  /// `frame` is the ZeroMQ frame with the verb, such as `nsp1.op`; `body` is the next frame, JSON.
  /// `reader` has the hub's limits, see ``Hub/makeReader()``, and keeps its buffers.
  package init(
    frame: Span<UInt8>, body: Span<UInt8>, from connection: ConnectionID, _ peer: Peer,
    reader: inout ClientMessageReader
  ) {
    do {
      self = .message(connection, peer, try reader.read(frame: frame, body: body))
    } catch {
      self = .unreadable(connection, peer, error)
    }
  }

  /// Whether this is a message with an op, which may be decided while a batch is sealed.
  package var isOp: Bool {
    switch self {
    case .message(_, _, .op): true
    case .unreadable(_, _, let failure): failure.verb == .op
    default: false
    }
  }

  /// The connection on which a message arrived, or which has ended.
  package var connection: ConnectionID? {
    switch self {
    case .message(let id, _, _), .unreadable(let id, _, _), .closed(let id): id
    default: nil
    }
  }

  /// Whether this is a request that changes nothing.
  package var isRead: Bool {
    switch self {
    case .message(_, _, .get), .message(_, _, .watch): true
    default: false
    }
  }

  /// Whether this is a `get`, before which the shell must update the gauges of `Measurements`.
  package var isGet: Bool {
    if case .message(_, _, .get) = self { true } else { false }
  }
}

/// A request of an administrator to the cluster; `HubEvent.clusterCommandResult` answers it.
package struct ClusterCommandRequest: Hashable, Sendable {
  package var connection: ConnectionID
  package var id: UInt64
  package var command: ClusterCommand
}

/// A question of an administrator about the configuration; `HubEvent.configured` answers it.
package struct ConfigurationQuestion: Hashable, Sendable {
  /// The subject of the question.
  package enum Subject: Hashable, Sendable {
    /// The values in use, and their origins.
    case values
    /// A request to read the sources of the configuration again, and to use the new values.
    case reload
  }

  package var connection: ConnectionID
  package var id: UInt64
  package var subject: Subject
}

/// The answer to a question about the configuration.
package enum ConfigurationAnswer: Hashable, Sendable {
  /// The value of the answer, JSON.
  case value([UInt8])
  /// The sources cannot be used; the text says where and why.
  case refused(String)
}

/// A message to send.
package struct Outgoing: Sendable {
  package var connection: ConnectionID
  package var verb: ServerVerb
  /// The JSON of the message.
  package var body: [UInt8]
}

/// A request to read the journal's history, outside of the loop's thread.
package struct HistoryRequest: Hashable, Sendable {
  /// The token that the answer repeats.
  package var token: UInt64
  /// The number of the nav.
  package var nav: UInt64
  /// The number of the nav's newest row.
  package var newestRow: UInt64
  package var part: Part

  /// A part of a nav's history.
  package enum Part: Hashable, Sendable {
    /// All rows with these revisions.
    case rows(from: UInt64, through: UInt64)
    /// The newest snapshot that is not newer than the revision, and the rows after it through the
    /// revision.
    case state(at: UInt64)
  }
}

/// The answer to a `HistoryRequest`.
package struct HistoryAnswer: Sendable {
  package var token: UInt64
  /// The snapshot to begin with; nil if the rows begin with the creation, or none was asked for.
  package var snapshot: SnapshotRow?
  /// The rows, oldest first.
  package var rows: [JournalRow]
  /// The error, in words, if the history could not be read; else nil.
  package var failure: String?

  package init(
    token: UInt64, snapshot: SnapshotRow? = nil, rows: [JournalRow] = [], failure: String? = nil
  ) {
    self.token = token
    self.snapshot = snapshot
    self.rows = rows
    self.failure = failure
  }
}

/// The work of the shell after a commit, in the order of the members.
package struct HubOutput: Sendable {
  /// A message to one connection; equal messages to several connections share one body.
  package struct Delivery: Sendable {
    package var connection: ConnectionID
    package var verb: ServerVerb
    /// The index of its JSON in `bodies`.
    package var bodyIndex: Int
  }

  /// The messages to send, in order.
  package internal(set) var deliveries: [Delivery] = []
  package internal(set) var bodies: [[UInt8]] = []
  /// The bytes of `bodies`.
  var bodyOctets = 0
  /// The requests for the history; the shell returns each answer as an event.
  package var requests: [HistoryRequest] = []
  package var clusterCommands: [ClusterCommandRequest] = []
  package var questions: [ConfigurationQuestion] = []
  /// Whether to begin a backup; the shell returns its result as an event.
  package var startsBackup = false
  /// How many navs have left memory in a sweep that has ended.
  package var unloadedNavs = 0
  /// Connections whose sessions ended; the shell discards its unsent messages for these
  /// connections.
  package var endedConnections: [ConnectionID] = []
  package var notices: [Notice] = []

  /// The messages to send, in order, each with its own body.
  package var messages: [Outgoing] { deliveries.map(message) }

  package func message(_ delivery: Delivery) -> Outgoing {
    precondition(delivery.bodyIndex < bodies.count, "body=\(delivery.bodyIndex)")
    return Outgoing(
      connection: delivery.connection, verb: delivery.verb, body: bodies[delivery.bodyIndex])
  }

  mutating func reserve(_ count: Int) {
    deliveries.reserveCapacity(deliveries.count + count)
    bodies.reserveCapacity(bodies.count + count)
  }

  /// Adds the body of a message to one or several connections; returns its index.
  mutating func add(_ body: [UInt8]) -> Int {
    bodies.append(body)
    bodyOctets += body.count
    return bodies.count - 1
  }

  /// Adds a message to one connection; its body was added before.
  mutating func append(_ verb: ServerVerb, at body: Int, to connection: ConnectionID) {
    assert(body >= 0 && body < bodies.count, "body=\(body)")
    deliveries.append(Delivery(connection: connection, verb: verb, bodyIndex: body))
  }
}

/// A log entry for the operator.
package struct Notice: Hashable, Sendable {
  /// The kinds of notices.
  package enum Kind: Hashable, Sendable {
    /// A client reports that its mirror differs from the nav.
    case diverged
    /// navd found a fault in a nav or in its history.
    case faulty
    /// navd refused a message as `forbidden` or `fenced`, or ended the session of a revoked key.
    case refused
    /// A client forced an op past its guard, ran it without a delegate's answer, or took the
    /// display.
    case overridden
    /// A peer exceeded a limit.
    case limitExceeded
    /// The count of connections was wrong.
    case connectionsMiscounted
  }

  /// How important a notice is.
  package enum Level: Sendable { case info, notice, warning, error }

  package var kind: Kind
  package var level: Level
  /// The text, for people; it can quote a client's message.
  package var text: String
  package var nav: String?
  package var revision: UInt64?
  /// The name that the client gave itself.
  package var client: String?
  /// The client's principal, as the transport proved it.
  package var principal: String?
  /// The code of the error, or a word for the action.
  package var code: String?

  package init(
    _ kind: Kind, _ level: Level, _ text: String, nav: String? = nil, revision: Revision? = nil,
    client: String? = nil, principal: String? = nil, code: String? = nil
  ) {
    (self.kind, self.level, self.text) = (kind, level, text)
    (self.nav, self.revision, self.client) = (nav, revision?.number, client)
    (self.principal, self.code) = (principal, code)
  }
}

/// A point in time on both clocks, in milliseconds.
package struct Instant: Hashable, Sendable {
  /// CLOCK_BOOTTIME, which all deadlines use.
  package var boot: UInt64
  /// The time since 1970, for rows and the log; it can jump.
  package var wall: UInt64

  package init(boot: UInt64, wall: UInt64) {
    self.boot = boot
    self.wall = wall
  }
}

/// The number that the shell assigns to a connection of the daemon's socket.
package struct ConnectionID: Hashable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) { self.number = number }
}
