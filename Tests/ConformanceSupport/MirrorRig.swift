import Conformance
import NavigationCore
import NavigationClient

/// A client's session in front of a daemon, with a network that a test can hold up.
struct MirrorRig<Driver: ConformanceDriver> {
  let nav: String
  private let name: String
  private let writer: String
  private var driver: Driver
  var session: SessionReplica
  private var writerID = 0

  /// Joins a nav that is made under a name that nobody else uses.
  init(_ row: CodeRow, _ driver: Driver) throws {
    nav = row.rawValue.lowercased()
    name = nav + "/mirror"
    writer = nav + "/writer"
    self.driver = driver
    let number = nav.dropFirst(2)
    session = SessionReplica(
      client: ClientID(high: 1, low: UInt64(number) ?? 0), name: name, seed: 7)
    let client = String(repeating: "a", count: 29) + number
    try self.driver.connect(writer)
    try tell(
      "hello", #"{"ver":[1,1],"client":"\#(client)","nonce":"w"}"#)
    try op(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#)
    try self.driver.connect(name)
    _ = session.watch(nav)
    try carry(session.connected(at: 1000))
    try deliver()
  }

  /// The mirror, even while it is suspect.
  var mirror: Mirror? { session.replica(of: nav)?.mirror }
  var isSynced: Bool { session.replica(of: nav)?.isSynced == true }

  @discardableResult
  private mutating func tell(_ verb: String, _ body: String) throws -> ReceivedMessage {
    let messages = try driver.request(writer, verb, body)
    return try need(messages.last)
  }

  /// Another client changes the nav.
  mutating func op(_ ops: String) throws {
    writerID += 1
    let answer = try tell(
      "op", #"{"id":\#(writerID),"nav":"\#(nav)","if":{"any":true},"do":[\#(ops)]}"#)
    try claim(answer.verb == "ok", "\(String(decoding: answer.body, as: UTF8.self))")
  }

  /// What another client reads.
  mutating func get(_ what: String) throws -> JSONTree {
    writerID += 1
    let answer = try tell("get", #"{"id":\#(writerID),"nav":"\#(nav)","what":"\#(what)"}"#)
    return try need(JSONTree(reading: answer.body)["value"])
  }

  /// Everything that is on its way to the client.
  mutating func inFlight() throws -> [ReceivedMessage] {
    try driver.drain(name)
  }

  /// Hands a message to the client; says what it sends.
  mutating func receive(_ message: ReceivedMessage) throws -> [SessionOutput] {
    var reader = ServerMessageReader()
    let read = try reader.read(verb: Array("nsp1.\(message.verb)".utf8), body: message.body)
    return session.receive(
      read, verb: ServerVerb(word: message.verb), octets: message.body.count, at: 1000)
  }

  /// Sends what the client wants to send.
  mutating func carry(_ outputs: [SessionOutput]) throws {
    for case .send(let verb, let body) in outputs {
      try driver.send(name, verb: verb.rawValue, body: body)
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
