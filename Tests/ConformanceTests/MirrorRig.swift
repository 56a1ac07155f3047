import Conformance
import NavigationSync
import Testing

/// A client's session in front of a hub, with a network that a test can hold up.
struct MirrorRig {
  static let nav = "mirrored"
  private static let name = "mirror"

  var driver = HubDriver()
  var session = SessionReplica(client: ClientID(high: 1, low: 2), name: name, seed: 7)
  private var writerID = 0

  init() throws {
    try driver.connect("writer")
    try tell(
      "hello", #"{"ver":[1,1],"client":"\#(String(repeating: "a", count: 32))","nonce":"w"}"#)
    try op(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#)
    try driver.connect(Self.name)
    _ = session.watch(Self.nav)
    try carry(session.connected(at: 1000))
    try deliver()
  }

  /// The mirror, even while it is suspect.
  var mirror: Mirror? { session.mirror(of: Self.nav) }
  var isSynced: Bool { session.replica(of: Self.nav)?.isSynced == true }

  @discardableResult
  private mutating func tell(_ verb: String, _ body: String) throws -> ReceivedMessage {
    try driver.send("writer", verb: verb, body: Array(body.utf8))
    var last: ReceivedMessage?
    while let message = try driver.receive("writer") { last = message }
    return try #require(last)
  }

  /// Another client changes the nav.
  mutating func op(_ ops: String) throws {
    writerID += 1
    let answer = try tell(
      "op", #"{"id":\#(writerID),"nav":"\#(Self.nav)","if":{"any":true},"do":[\#(ops)]}"#)
    #expect(answer.verb == "ok", "\(String(decoding: answer.body, as: UTF8.self))")
  }

  /// What another client reads.
  mutating func get(_ what: String) throws -> JSONTree {
    writerID += 1
    let answer = try tell("get", #"{"id":\#(writerID),"nav":"\#(Self.nav)","what":"\#(what)"}"#)
    return try #require(try JSONTree(reading: answer.body)["value"])
  }

  /// Everything that is on its way to the client.
  mutating func inFlight() throws -> [ReceivedMessage] {
    var messages: [ReceivedMessage] = []
    while let message = try driver.receive(Self.name) { messages.append(message) }
    return messages
  }

  /// Hands a message to the client; says what it sends.
  mutating func receive(_ message: ReceivedMessage) throws -> [SessionOutput] {
    var reader = ServerMessageReader()
    let read = try reader.read(verb: Array("nsp1.\(message.verb)".utf8), body: message.body)
    return session.receive(
      read, verb: ServerVerb(rawValue: message.verb), octets: message.body.count, at: 1000)
  }

  /// Sends what the client wants to send.
  mutating func carry(_ outputs: [SessionOutput]) throws {
    for case .send(let verb, let body) in outputs {
      try driver.send(Self.name, verb: verb.rawValue, body: body)
    }
  }

  /// Lets the network go on until nothing is on its way.
  mutating func deliver() throws {
    var messages = try inFlight()
    while !messages.isEmpty {
      for message in messages { try carry(receive(message)) }
      messages = try inFlight()
    }
  }
}

extension [SessionOutput] {
  /// The requests to watch, as JSON.
  func watches() throws -> [JSONTree] {
    try compactMap { output in
      guard case .send(.watch, let body) = output else { return nil }
      return try JSONTree(reading: body)
    }
  }

  /// How many messages are to be sent.
  var sendCount: Int {
    count { if case .send = $0 { true } else { false } }
  }
}
