import NavigationCore

/// Runs rows of the table against a driver.
///
/// Every row has a nav and clients of its own, so that many rows may share one daemon. After each
/// step the laws of the state are checked, and a mirror built from the diffs is compared with it.
package struct ConformanceRunner<Driver: ConformanceDriver> {
  /// What a step must be compared with.
  struct Before {
    var state: JSONTree?
    /// How many messages each client had.
    var counts: [String: Int] = [:]
  }

  /// The op whose answer is spoken about.
  struct Subject {
    var client: String
    var id: Int
    var start: Int
  }

  struct Mismatch: Error { var text: String }

  /// What the rows are run against.
  package var driver: Driver
  let row: ConformanceCase
  let nav: String
  var sessions: [String: ClientSession] = [:]
  var records: [String: String] = [:]
  var kept: [String: String] = [:]
  var labels: [String: ClientSession.SentOperation] = [:]
  var answers: [(client: String, question: String, value: String)] = []
  var reactions: [(event: String, operation: ScriptOperation)] = []
  var mirror = NaiveMirror()
  /// How many messages of the observer the mirror has taken.
  var mirrored = 0
  var isWatching = false
  var before = Before()
  var state: JSONTree?
  var subject: Subject?
  /// The state that was last compared with what can be computed from it.
  var proven: String?

  static var observer: String { "observer" }

  private init(_ row: ConformanceCase, attempt: Int, driver: consuming Driver) {
    self.row = row
    self.driver = driver
    nav = row.id.lowercased() + (attempt == 1 ? "" : ".\(attempt)")
  }

  /// Runs one row.
  ///
  /// - Parameters:
  ///   - row: what to run.
  ///   - driver: what to run it against.
  ///   - attempt: which time it is, from 1; each has a nav and clients of its own.
  /// - Throws: `ConformanceFailure` with the line that does not hold.
  package static func run(
    _ row: ConformanceCase, on driver: inout Driver, attempt: Int = 1
  ) throws {
    var runner = ConformanceRunner(row, attempt: attempt, driver: driver)
    defer { driver = runner.driver }
    var line = row.line
    do {
      try runner.greet(Self.observer)
      try runner.greet("1")
      for step in row.lines {
        line = step.number
        try runner.perform(step.command)
      }
    } catch let mismatch as Mismatch {
      throw ConformanceFailure(file: row.file, line: line, id: row.id, text: mismatch.text)
    } catch let broken as NaiveMirror.Broken {
      throw ConformanceFailure(file: row.file, line: line, id: row.id, text: broken.text)
    } catch let unreadable as JSONError {
      let text = "not JSON, or a placeholder without a value: \(unreadable)"
      throw ConformanceFailure(file: row.file, line: line, id: row.id, text: text)
    }
  }

  private mutating func perform(_ command: ScriptCommand) throws {
    switch command {
    case .fact(let fact): try setUp(fact)
    case .step(let step): try take(step)
    case .expectation(let expectation):
      guard let wrong = try expectation.isAboutReply ? checkReply(expectation) : check(expectation)
      else { return }
      throw Mismatch(text: wrong + context)
    }
  }

  /// What came of the last step, for a failure's text.
  private var context: String {
    var text = ""
    if let reply { text += "\n  answer \(reply.json.text)" }
    for diff in diffs { text += "\n  diff \(diff.text)" }
    return text
  }
}

// The wire.
extension ConformanceRunner {
  /// Opens a session.
  mutating func greet(_ name: String, role: String? = nil) throws {
    var session = sessions[name] ?? ClientSession(connection: "\(nav)/\(name)")
    session.role = role ?? session.role
    let actor =
      session.role.map { #","actor":{"name":"\#(name)","role":"\#($0)","navs":["*"]}"# } ?? ""
    session.greetings += 1
    session.isConnected = true
    try driver.connect(session.connection)
    let start = session.messages.count
    let body =
      #"{"ver":[1,1],"client":"\#(session.identity)","name":"\#(name)","#
      + #""nonce":"n\#(session.greetings)","window":1048576\#(actor)}"#
    sessions[name] = session
    try send(name, "hello", body)
    try fence(name)
    let arrived = sessions[name]?.messages.dropFirst(start) ?? []
    guard arrived.contains(where: { $0.verb == "welcome" }) else {
      throw Mismatch(text: "no welcome for \(name) but \(arrived.map(\.json.text))")
    }
  }

  mutating func send(_ name: String, _ verb: String, _ body: String) throws {
    guard let session = sessions[name] else { throw Mismatch(text: "there is no client \(name)") }
    try driver.send(session.connection, verb: verb, body: Array(body.utf8))
  }

  mutating func takeID(_ name: String) throws -> Int {
    guard let id = sessions[name]?.takeID() else {
      throw Mismatch(text: "there is no client \(name)")
    }
    return id
  }

  /// Takes all that was sent to a client up to now.
  mutating func fence(_ name: String) throws {
    let id = try takeID(name)
    try send(name, "ping", #"{"id":\#(id)}"#)
    while let incoming = try receive(name) {
      guard incoming.verb != "pong" || !incoming.answers(id) else { return }
      sessions[name]?.messages.append(incoming)
    }
    throw Mismatch(text: "no pong for \(name)")
  }

  private mutating func receive(_ name: String) throws -> ClientSession.Incoming? {
    guard let message = try driver.receive(sessions[name]?.connection ?? "") else { return nil }
    let json = try JSONTree(reading: message.body)
    return ClientSession.Incoming(verb: message.verb, body: message.body, json: json)
  }

  /// Sends a request that is answered by itself; `members` are those beside `id` and `nav`, or name
  /// another nav.
  mutating func request(
    _ name: String, _ verb: String, _ members: String
  ) throws -> ClientSession.Incoming {
    let id = try takeID(name)
    let start = sessions[name]?.messages.count ?? 0
    let more = filled(members).dropFirst().dropLast()
    let own = more.contains(#""nav":"#) ? "" : #","nav":"\#(nav)""#
    try send(name, verb, #"{"id":\#(id)\#(own)\#(more.isEmpty ? "" : ",")\#(more)}"#)
    try fence(name)
    subject = Subject(client: name, id: id, start: start)
    while true {
      if let answer = sessions[name]?.answer(to: id, from: start) { return answer }
      // A daemon reads its history on another thread, and answers other requests meanwhile.
      guard let incoming = try receive(name) else {
        throw Mismatch(text: "\(verb) is not answered")
      }
      sessions[name]?.messages.append(incoming)
    }
  }

  /// Takes what was sent to all clients, answers questions and reacts, until nothing follows.
  mutating func settle() throws {
    var acts = true
    while acts {
      acts = false
      for name in sessions.keys.sorted() where sessions[name]?.isConnected == true {
        try fence(name)
        if try respond(name) { acts = true }
      }
    }
    try follow()
  }

  /// Sends the answers and reactions of a client to what it has got; whether there were any.
  private mutating func respond(_ name: String) throws -> Bool {
    guard let session = sessions[name] else { return false }
    sessions[name]?.handled = session.messages.count
    var acts = false
    for message in session.messages.dropFirst(session.handled) {
      if message.verb == "ask", let number = message.json["ask"]?.integer,
        let question = message.json["q"]?.members.first?.name,
        let answer = answers.last(where: { $0.client == name && $0.question == question })
      {
        try send(name, "answer", #"{"ask":\#(number),"value":\#(answer.value)}"#)
        // What it leads to has been sent when the others are looked at again.
        try fence(name)
        acts = true
      }
      let events = StepText.diffs([message]).flatMap(StepText.events)
      for reaction in reactions
      where reaction.operation.client == name && events.contains(reaction.event) {
        _ = try send(reaction.operation)
        acts = true
      }
    }
    return acts
  }

  /// Lets the mirror take what the observer got.
  private mutating func follow() throws {
    let messages = sessions[Self.observer]?.messages ?? []
    for message in messages.dropFirst(mirrored) {
      try mirror.receive(message.verb, message.json)
      for diff in StepText.diffs([message]) {
        if let wrong = StateLaws.violation(ofDiff: diff) { throw Mismatch(text: wrong) }
      }
    }
    mirrored = messages.count
  }

  /// Fills in the placeholders.
  func filled(_ text: String) -> String {
    Placeholders.fill(text) { name in
      switch name {
      case "rev": String(mirror.revision)
      case "epoch": JSONTree.quoted(mirror.epoch)
      case "dig": JSONTree.quoted(mirror.digest)
      default: kept[name]
      }
    } record: { id in
      let members = records[id]?.dropFirst().dropLast() ?? ""
      return #"{"id":"\#(id)"\#(members.isEmpty ? "" : ",")\#(members)}"#
    }
  }
}
