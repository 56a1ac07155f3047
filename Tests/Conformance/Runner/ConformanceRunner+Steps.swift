// What is set up, and what happens.
extension ConformanceRunner {
  mutating func setUp(_ fact: ScriptFact) throws {
    switch fact {
    case .screen(let id, let members): records[id] = members
    case .nav(let ids, let isAttached):
      var ops =
        ids.isEmpty
        ? #"{"nav.create":{"classes":{}}}"# : #"{"nav.create":{"root":@\#(ids[0])}}"#
      if ids.count > 1 {
        let above = ids.dropFirst().map { "@\($0)" }.joined(separator: ",")
        ops += #",{"setStack":{"screens":["\#(ids[0])",\#(above)]}}"#
      }
      if isAttached { ops += #",{"attach":{}}"# }
      try must(ScriptOperation(operations: "[\(ops)]", names: ["nav.create"]))
    case .standalone(let ids):
      let items = ids.map { "@\($0)" }.joined(separator: ",")
      var ops = #"{"nav.create":{"kind":"bar"}}"#
      if !ids.isEmpty { ops += #",{"setItems":{"items":[\#(items)]}}"# }
      try must(ScriptOperation(operations: "[\(ops)]", names: ["nav.create"]))
    case .client(let name, let role): try greet(name, role: role)
    case .perform(let operation): try must(operation)
    case .request(let client, let verb, let members):
      let answer = try request(client, verb, members)
      guard answer.verb == "ok" else {
        throw Mismatch(text: "\(verb) must be possible: \(answer.json.text)")
      }
      try advanceState()
    case .answer(let client, let question, let value):
      answers.append((client, question, filled(value)))
    case .reaction(let event, let operation): reactions.append((event, operation))
    case .storage(let isFailing): try driver.setStorage(failing: isFailing)
    case .keep(let name, let source, let path):
      guard let value = try read(source, path) else {
        throw Mismatch(text: "there is nothing to keep at \(path)")
      }
      kept[name] = value.text
    }
  }

  /// Performs an op of the set-up.
  private mutating func must(_ operation: ScriptOperation) throws {
    subject = try send(operation)
    try advanceState()
    guard let answer = reply, answer.verb == "ok" else {
      throw Mismatch(
        text: "the set-up must be possible: \(operation.operations)\n  "
          + "answer \(reply?.json.text ?? "none")")
    }
  }

  mutating func take(_ step: ScriptStep) throws {
    if case .reply(let label) = step {
      guard let sent = labels[label] else { throw Mismatch(text: "no op is labelled \(label)") }
      subject = Subject(client: sent.client, id: sent.id, start: sent.start)
      return
    }
    begin()
    switch step {
    case .operation(let operation): subject = try send(operation)
    case .again(let client, let label):
      guard let sent = labels[label], let start = sessions[client]?.messages.count else {
        throw Mismatch(text: "no op is labelled \(label)")
      }
      try send(client, "op", String(decoding: sent.body, as: UTF8.self))
      subject = Subject(client: client, id: sent.id, start: start)
      try fence(client)
    case .request(let client, let verb, let members): _ = try request(client, verb, members)
    case .advance(let milliseconds): try driver.advance(milliseconds: milliseconds)
    case .restart:
      try driver.restart()
      for name in sessions.keys { sessions[name]?.isConnected = false }
      try greet(Self.observer)
      isWatching = false
    case .lose(let name):
      guard let session = sessions[name] else {
        throw Mismatch(text: "there is no client \(name)")
      }
      try driver.disconnect(session.connection)
      sessions[name]?.isConnected = false
    case .hello(let name): try greet(name)
    case .reply: break
    }
    try advanceState()
  }

  /// Remembers what the step will be compared with.
  private mutating func begin() {
    subject = nil
    before.state = state
    before.counts = sessions.mapValues(\.messages.count)
  }

  /// Takes all that follows, reads the state and checks its laws.
  mutating func advanceState() throws {
    try settle()
    let spoken = subject
    let answer = try request(Self.observer, "get", #"{"what":"state"}"#)
    subject = spoken
    guard answer.verb == "ok", let value = answer.json["value"] else {
      guard answer.json["code"]?.string == "no-nav" else {
        throw Mismatch(text: "the state cannot be read: \(answer.json.text)")
      }
      // Closed, or never made: a nav that is made later has a life of its own.
      state = nil
      isWatching = false
      mirror = NaiveMirror()
      return
    }
    if !isWatching {
      _ = try request(Self.observer, "watch", Self.resumption(mirror))
      subject = spoken
      isWatching = true
      try settle()
    }
    state = value
    if let tid = value.at("transition.tid") { kept["tid"] = tid.text }
    if let wrong = StateLaws.violation(of: value) ?? mirror.difference(from: value) {
      throw Mismatch(text: wrong)
    }
    guard value.text != proven else { return }
    if let wrong = FreshResolution.difference(in: value) { throw Mismatch(text: wrong) }
    try verify()
    proven = value.text
    subject = spoken
  }

  private static func resumption(_ mirror: NaiveMirror) -> String {
    guard mirror.isComplete else { return "{}" }
    return #"{"from":{"epoch":"\#(mirror.epoch)","rev":\#(mirror.revision),"#
      + #""dig":"\#(mirror.digest)"}}"#
  }

  /// The daemon must find no fault with itself.
  private mutating func verify() throws {
    let answer = try request(Self.observer, "get", #"{"what":"verify"}"#)
    guard answer.verb == "ok", answer.json.at("value.ok")?.bool == true else {
      throw Mismatch(text: "verify says \(answer.json.text)")
    }
  }

  private static var byPosition: Set<String> {
    ["pop", "popItem", "ui.backTap", "gesture.begin", "replace", "insert", "ui.dismiss", "ui.back"]
  }
  private static var replacing: Set<String> {
    ["setStack", "setItems", "open", "restore", "revert", "nav.close"]
  }

  /// Sends an op with the guard it needs.
  mutating func send(_ operation: ScriptOperation) throws -> Subject {
    let fresh = try takeID(operation.client)
    let id = operation.reused.flatMap { labels[$0]?.id } ?? fresh
    var body = #"{"id":\#(id),"nav":"\#(nav)""#
    if let guards = operation.guards {
      body += #","if":\#(filled(guards))"#
    } else if !operation.isBare, operation.names.first != "nav.create" {
      if operation.names.contains(where: Self.replacing.contains) {
        body += #","if":{"rev":\#(mirror.revision)}"#
      } else if operation.names.contains(where: Self.byPosition.contains) {
        body += #","if":{"any":true}"#
      }
    }
    if let isAnimated = operation.isAnimated { body += #","animated":\#(isAnimated)"# }
    if let policy = operation.onBusy { body += #","onBusy":"\#(policy)""# }
    body += #","do":\#(filled(operation.operations))}"#
    let start = sessions[operation.client]?.messages.count ?? 0
    try send(operation.client, "op", body)
    try fence(operation.client)
    if let label = operation.label {
      labels[label] = ClientSession.SentOperation(
        client: operation.client, id: id, body: Array(body.utf8), start: start)
    }
    return Subject(client: operation.client, id: id, start: start)
  }
}
