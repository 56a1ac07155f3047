import NavigationCore

/// Reads one line of a script.
enum ScriptReader {
  typealias Unreadable = ScriptCursor.Unreadable

  static func command(_ line: Substring) throws(Unreadable) -> ScriptCommand {
    var cursor = ScriptCursor(line)
    var word = try cursor.word()
    var client = "1"
    if word.hasSuffix(":") {
      client = String(word.dropLast())
      word = try cursor.word()
    }
    let command: ScriptCommand
    if let fact = try fact(word, client, &cursor) {
      command = .fact(fact)
    } else if let step = try step(word, client, &cursor) {
      command = .step(step)
    } else if client == "1", let expectation = try expectation(word, &cursor) {
      command = .expectation(expectation)
    } else {
      throw Unreadable(text: "unknown word \(word)")
    }
    guard cursor.isAtEnd else {
      throw Unreadable(text: "\"\(cursor.rest())\" is too much behind \(word)")
    }
    return command
  }

  private static func fact(
    _ word: String, _ client: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptFact? {
    switch word {
    case "screen":
      // `screen B item.title = "x"` is an expectation, `screen B {…}` a fact.
      var copy = cursor
      let id = try copy.word()
      guard copy.next == "{" else { return nil }
      cursor = copy
      return .screen(id, try template(&cursor))
    case "nav":
      let names = try cursor.list()
      return .nav(names, isAttached: !cursor.take("detached"))
    case "standalone": return .standalone(try cursor.list())
    case "client":
      return .client(try cursor.word(), role: cursor.take("role") ? try cursor.word() : nil)
    case "do": return .perform(try operation(client, &cursor))
    case "need": return try request(client, &cursor, ScriptFact.request)
    case "answers":
      return .answer(
        client: try cursor.word(), question: try cursor.word(), value: try template(&cursor))
    case "on":
      let event = try cursor.word()
      let by = try cursor.word()
      guard by.hasSuffix(":"), cursor.take("op") else {
        throw Unreadable(text: "a client with its op is missing")
      }
      return .reaction(event: event, try operation(String(by.dropLast()), &cursor))
    case "storage":
      if cursor.take("fails") { return .storage(isFailing: true) }
      guard cursor.take("works") else { throw Unreadable(text: "fails or works is missing") }
      return .storage(isFailing: false)
    case "keep":
      let name = try cursor.word()
      let (source, path) = try place(&cursor)
      return .keep(name, source, path: path)
    default: return nil
    }
  }

  private static func step(
    _ word: String, _ client: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptStep? {
    switch word {
    case "op": .operation(try operation(client, &cursor))
    case "again": .again(client: client, label: try cursor.word())
    case "request": try request(client, &cursor, ScriptStep.request)
    case "advance": .advance(UInt64(try integer(&cursor)))
    case "restart": .restart
    case "lose": .lose(try cursor.word())
    case "hello": .hello(try cursor.word())
    case "await": .reply(try cursor.word())
    default: nil
    }
  }

  private static func request<Result>(
    _ client: String, _ cursor: inout ScriptCursor, _ make: (String, String, String) -> Result
  ) throws(Unreadable) -> Result {
    let verb = try cursor.word()
    return make(client, verb, cursor.isAtEnd ? "{}" : try template(&cursor))
  }

  /// `[as NAME] [like NAME] [animated] [still] [queue|interrupt|reject] [bare] [if {…}] NAME [ARGUMENTS]`, or a list of ops.
  static func operation(
    _ client: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptOperation {
    var operation = ScriptOperation(client: client)
    while true {
      if cursor.take("as") {
        operation.label = try cursor.word()
      } else if cursor.take("like") {
        operation.reused = try cursor.word()
      } else if cursor.take("animated") {
        operation.isAnimated = true
      } else if cursor.take("still") {
        operation.isAnimated = false
      } else if let policy = ["queue", "interrupt", "reject"].first(where: { cursor.take($0) }) {
        operation.onBusy = policy
      } else if cursor.take("bare") {
        operation.isBare = true
      } else if cursor.take("if") {
        operation.guards = try template(&cursor)
      } else {
        break
      }
    }
    guard cursor.next != "[" else {
      operation.operations = try template(&cursor)
      operation.names = try names(operation.operations)
      return operation
    }
    let name = try cursor.word()
    var arguments = "{}"
    switch cursor.next {
    case nil: break
    case "{": arguments = try template(&cursor)
    case "@": arguments = "{\"screen\":\(try cursor.word())}"
    default: arguments = "{\"screen\":\"\(try cursor.word())\"}"
    }
    operation.operations = "[{\"\(name)\":\(arguments)}]"
    operation.names = [name]
    return operation
  }

  private static func names(_ list: String) throws(Unreadable) -> [String] {
    guard let elements = try JSONTree(script: list).array else {
      throw Unreadable(text: "a list of ops is missing")
    }
    return try elements.map { element throws(Unreadable) in
      guard let name = element.members.first?.name else {
        throw Unreadable(text: "an op has no name")
      }
      return name
    }
  }

  /// A JSON text that is well formed once its placeholders are filled in.
  static func template(_ cursor: inout ScriptCursor) throws(Unreadable) -> String {
    let text = try cursor.json()
    _ = try JSONTree(script: text)
    return text
  }

  static func integer(_ cursor: inout ScriptCursor) throws(Unreadable) -> Int {
    let word = try cursor.word()
    guard let value = Int(word), value >= 0 else {
      throw Unreadable(text: "\(word) is not a number")
    }
    return value
  }

  /// A source and a path, like `resolved left.0.back`; `whole` is the empty path.
  static func place(
    _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> (ScriptSource, path: String) {
    let word = try cursor.word()
    guard let source = try source(word, &cursor) else {
      throw Unreadable(text: "\(word) is nothing to read from")
    }
    let path = try cursor.word()
    return (source, path == "whole" ? "" : path)
  }

  static func source(
    _ word: String, _ cursor: inout ScriptCursor
  ) throws(Unreadable) -> ScriptSource? {
    switch word {
    case "state": .state
    case "screen": .screen(try cursor.word())
    case "resolved": .resolved
    case "diff": .diff
    case "reply": .reply
    case "out": .out
    case "log": .log
    default: nil
    }
  }
}

extension JSONTree {
  /// Reads a text of a script with any placeholders.
  init(script text: String) throws(ScriptCursor.Unreadable) {
    let filled = Placeholders.fill(text, kept: { _ in "0" }, record: { _ in "{}" })
    do { try self.init(filled) } catch {
      throw ScriptCursor.Unreadable(text: "\(error.reason.rawValue) in \(text)")
    }
  }
}

/// `$name` and `@X` in the JSON of a script.
enum Placeholders {
  /// Replaces every placeholder outside of strings; nil leaves it as it is.
  static func fill(
    _ text: String, kept: (String) -> String?, record: (String) -> String?
  ) -> String {
    var result = ""
    var isQuoted = false
    var at = text.startIndex
    while at < text.endIndex {
      let character = text[at]
      at = text.index(after: at)
      if character == "\"" { isQuoted.toggle() }
      guard !isQuoted, character == "$" || character == "@" else {
        result.append(character)
        continue
      }
      let name = String(text[at...].prefix { $0.isLetter || $0.isNumber || $0 == "_" })
      at = text.index(at, offsetBy: name.count)
      result += (character == "$" ? kept(name) : record(name)) ?? "\(character)\(name)"
    }
    return result
  }
}
