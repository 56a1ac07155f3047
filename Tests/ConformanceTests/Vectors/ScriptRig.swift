import Conformance
import ConformanceSupport

/// A client that watches a nav of a hub, another one that changes it, and a network in between
/// that can lose, change and hold up what the first one gets.
struct ScriptRig {
  var writer: VectorWriter
  private(set) var hub = HubDriver()
  private let client = "client"
  private let other = "other"
  private let window: Int
  private var greetings = 0
  private var nextID = 0
  private var otherID = 0

  /// Opens both sessions; nobody watches yet.
  init(nav: String, hasResolved: Bool = false, window: Int = 1_048_576) throws {
    writer = VectorWriter(nav: nav, hasResolved: hasResolved)
    self.window = window
    try connect()
    try hub.connect(other)
    let digits = String(repeating: "b", count: 32)
    _ = try hub.request(
      other, "hello", #"{"ver":[1,1],"client":"\#(digits)","name":"other","nonce":"n"}"#)
  }

  /// Makes the nav with screens, and lets the client join.
  init(nav: String, screens: [String], hasResolved: Bool = false) throws {
    try self.init(nav: nav, hasResolved: hasResolved)
    try create(screens)
    try join()
  }

  private mutating func connect() throws {
    greetings += 1
    try hub.connect(client)
    let digits = String(repeating: "a", count: 32)
    _ = try hub.request(
      client, "hello",
      #"{"ver":[1,1],"client":"\#(digits)","name":"client","nonce":"n\#(greetings)","#
        + #""window":\#(window)}"#)
  }

  /// Makes the nav; the screens are records or ids.
  mutating func create(_ screens: [String]) throws {
    let records = screens.map { $0.hasPrefix("{") ? $0 : #"{"id":"\#($0)"}"# }
    try op(#"{"nav.create":{"root":\#(records[0])}},{"attach":{}}"#)
    for record in records.dropFirst() { try op(#"{"push":{"screen":\#(record)}}"#) }
  }

  /// The other client changes the nav, or one of another name.
  mutating func op(_ operations: String, nav: String? = nil) throws {
    otherID += 1
    let answer = try hub.request(
      other, "op",
      #"{"id":\#(otherID),"nav":"\#(nav ?? writer.nav)","if":{"any":true},"do":[\#(operations)]}"#)
    guard answer.last?.verb == "ok" else { throw failure(answer) }
  }

  /// The other client closes the nav.
  mutating func close() throws {
    let revision = try need(get()["rev"]?.text)
    otherID += 1
    let answer = try hub.request(
      other, "op",
      #"{"id":\#(otherID),"nav":"\#(writer.nav)","if":{"rev":\#(revision)},"do":[{"nav.close":{}}]}"#
    )
    guard answer.last?.verb == "ok" else { throw failure(answer) }
  }

  private func failure(_ messages: [ReceivedMessage]) -> ConformanceFailure {
    let text = messages.map { String(decoding: $0.body, as: UTF8.self) }.joined(separator: "\n")
    return ConformanceFailure(file: #fileID, line: #line, id: writer.nav, text: text)
  }

  func need<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw failure([]) }
    return value
  }

  /// The whole state, as the hub tells it now.
  mutating func get() throws -> JSONTree {
    otherID += 1
    let body = #"{"id":\#(otherID),"nav":"\#(writer.nav)","what":"state"}"#
    let answer = try hub.request(other, "get", body)
    guard let last = answer.last, let value = try JSONTree(reading: last.body)["value"] else {
      throw failure(answer)
    }
    return value
  }

  /// The program watches, and everything arrives.
  mutating func join() throws {
    writer.watches()
    try watch()
    try deliver()
  }

  /// What a client must send to watch.
  enum Position { case none, mirror, bad }

  /// The client watches; the answer is on its way then.
  mutating func watch(_ position: Position = .none, bad: JSONTree? = nil) throws {
    nextID += 1
    var body = JSONTree.members(["id": .int(nextID), "nav": .string(writer.nav)])
    switch position {
    case .none: break
    case .mirror: body = body.setting("from", try need(writer.position))
    case .bad:
      let from = try need(writer.position)
      body = body.setting("bad", bad ?? from.removing("epoch"))
    }
    if !writer.hasResolved { body = body.setting("resolved", .bool(false)) }
    writer.sends("watch", body)
    try hub.send(client, verb: "watch", body: Array(body.text.utf8))
  }

  /// Raises the credit as far as the client may ever need it.
  mutating func credit() throws {
    try hub.send(client, verb: "credit", body: Array(#"{"upto":1000000000}"#.utf8))
  }

  /// Everything that is on its way to the client.
  mutating func inFlight() throws -> [ReceivedMessage] { try hub.drain(client) }

  /// Everything arrives; with `isExact`, the octets of snapshots and diffs stand in the file.
  mutating func deliver(isExact: Bool = false) throws {
    for message in try inFlight() {
      try writer.gets(message, isExact: isExact && message.verb != "ok")
    }
  }

  /// The connection is lost; a new session is open.
  mutating func lose() throws {
    try hub.disconnect(client)
    writer.loses()
    try connect()
  }

  /// Goes on with another hub, which knows the nav otherwise.
  mutating func move(to other: ScriptRig) throws {
    writer.loses()
    hub = other.hub
    try hub.disconnect(client)
    try connect()
  }

  /// Time passes.
  mutating func advance(_ milliseconds: UInt64) throws {
    try hub.advance(milliseconds: milliseconds)
  }

  /// The state that the client must have is the hub's.
  mutating func compare() throws { try writer.shows(get()) }

  /// Compares the state, and ends the vector.
  mutating func end(_ id: String, _ kind: Vector.Kind, _ claim: String) throws -> Vector {
    try compare()
    return writer.vector(id, kind, claim)
  }
}

extension ReceivedMessage {
  /// The message after a change of its body.
  func changed(_ change: (JSONTree) throws -> JSONTree) throws -> ReceivedMessage {
    let json = try change(JSONTree(reading: body))
    return ReceivedMessage(verb: verb, body: Array(json.text.utf8))
  }
}
