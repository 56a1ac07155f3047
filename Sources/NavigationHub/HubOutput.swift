package import NavigationProtocol

/// A message to send.
package struct Outgoing: Sendable {
  /// The connection it goes to.
  package var connection: ConnectionID
  /// The verb of the message.
  package var verb: ServerVerb
  /// The JSON of the message.
  package var body: [UInt8]
}

/// A wish to read the journal's history, off the loop.
package struct HistoryRequest: Hashable, Sendable {
  /// What the answer is matched by.
  package var token: UInt64
  /// The name of the nav.
  package var nav: UInt64
  /// The nav's newest row.
  package var head: UInt64
  /// What to read.
  package var what: What

  /// What to read.
  package enum What: Hashable, Sendable {
    /// Rows with these revisions, the newest first: their chain from the head downwards.
    case rows(from: UInt64, through: UInt64)
    /// The newest snapshot that is not newer than the revision, and the rows after it up to it.
    case state(at: UInt64)
  }
}

/// What the journal's history says; rows are oldest first.
package struct HistoryAnswer: Sendable {
  /// What the answer is matched by.
  package var token: UInt64
  /// The snapshot to begin with.
  package var snapshot: SnapshotRow?
  /// The rows, oldest first.
  package var rows: [JournalRow]
  /// Why it could not be read.
  package var failure: String?

  /// Makes a value from its members.
  package init(
    token: UInt64, snapshot: SnapshotRow? = nil, rows: [JournalRow] = [], failure: String? = nil
  ) {
    self.token = token
    self.snapshot = snapshot
    self.rows = rows
    self.failure = failure
  }
}

/// What a shell must do once the records are durable, in this order.
package struct HubOutput: Sendable {
  /// A message to one connection; what goes to many has its body once.
  package struct Delivery: Sendable {
    /// The connection it goes to.
    package var connection: ConnectionID
    /// The verb of the message.
    package var verb: ServerVerb
    /// The place of its JSON in `bodies`.
    package var body: Int
  }

  /// Send these, in order.
  package internal(set) var deliveries: [Delivery] = []
  /// The JSON of what is to be sent.
  package internal(set) var bodies: [[UInt8]] = []
  /// Read these and come back with the answers.
  package var requests: [HistoryRequest] = []
  /// Whether to copy the journal and come back with what became of it.
  package var startsBackup = false
  /// Connections that are of no use any more, with nothing further to send.
  package var dropped: [ConnectionID] = []
  /// Log these.
  package var notices: [Notice] = []

  /// What is to be sent, in order, each with its own body.
  package var messages: [Outgoing] { deliveries.map(message) }

  /// A delivery with its body.
  package func message(_ delivery: Delivery) -> Outgoing {
    Outgoing(connection: delivery.connection, verb: delivery.verb, body: bodies[delivery.body])
  }

  /// Adds the JSON of a message to one or many; returns its place.
  mutating func add(_ body: [UInt8]) -> Int {
    bodies.append(body)
    return bodies.count - 1
  }

  /// Appends a message to one connection, whose body was added before.
  mutating func append(_ verb: ServerVerb, at body: Int, to connection: ConnectionID) {
    deliveries.append(Delivery(connection: connection, verb: verb, body: body))
  }
}

/// Something an operator should know.
package struct Notice: Hashable, Sendable {
  /// What sort of thing it is.
  package enum Kind: Hashable, Sendable {
    /// A client reports that its mirror differs.
    case diverged
    /// A nav, or the history of one, cannot be used.
    case faulty
    /// Somebody was refused what he has no right to, or his rights ended.
    case refused
    /// Guards or delegates were passed over, as the client asked.
    case overridden
  }

  /// How important a notice is.
  package enum Level: Sendable { case info, warning }

  /// What sort of thing it is.
  package var kind: Kind
  /// How important it is.
  package var level: Level
  /// What happened, for people; it may quote what a client sent.
  package var text: String
  /// The name of the nav.
  package var nav: String?
  /// The revision of the nav.
  package var revision: UInt64?
  /// What the client calls itself.
  package var client: String?
  /// Who the transport says it is.
  package var principal: String?
  /// The error's code, or a word for what was done.
  package var code: String?

  /// Makes a notice about nobody in particular.
  package init(_ kind: Kind, _ level: Level, _ text: String) {
    self.kind = kind
    self.level = level
    self.text = text
  }
}
