@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The members that messages themselves have, by protocol.md §3, §4, §6, §9.1, §11 and §12.
@Suite struct EnvelopeTests {
  private static let (zeros, hex) = (String(repeating: "0", count: 16), "0123456789abcdef")
  private static let most = "9007199254740991"

  /// The members that each message requires, with a value.
  private static let required: [String: [(name: String, json: String)]] = [
    "hello": [("ver", "[1,1]"), ("client", "\"\(hex)\(hex)\""), ("nonce", #""n""#)],
    "watch": [("id", "7"), ("nav", #""kiosk""#)], "unwatch": [("id", "7"), ("nav", #""kiosk""#)],
    "op": [("id", "7"), ("nav", #""kiosk""#), ("do", #"[{"pop":{}}]"#)], "get": [("id", "7")],
    "delegate": [("id", "7"), ("nav", #""kiosk""#), ("roles", "[]")], "answer": [("ask", "7")],
    "lease": [("id", "7"), ("nav", #""kiosk""#), ("take", "true")], "credit": [("upto", "7")],
    "cluster": [("id", "7"), ("move", "17"), ("to", #""b""#)],
    "ping": [("id", "7")], "bye": [("id", "7")],
  ]

  private static func word(_ count: Int) -> String {
    "\"" + String(repeating: "a", count: count) + "\""
  }

  private static func ops(_ count: Int) -> String {
    "[" + Array(repeating: #"{"pop":{}}"#, count: count).joined(separator: ",") + "]"
  }

  private static func number(_ verb: String, _ name: String) -> ArgumentRow {
    ArgumentRow(
      verb, name, [.integer], good: ["0", most], bad: ["9007199254740992", "-1", "7.0", "7e0"])
  }

  private static func nav(_ verb: String) -> ArgumentRow {
    ArgumentRow(
      verb, "nav", [.text], good: [word(128), #""0""#, #""a.b/c_d-e""#, #""$navs""#],
      bad: [word(129), "\"\"", #""-a""#, #""Kiosk""#, #""$other""#, #""a b""#, #""é""#])
  }

  private static func view(_ verb: String) -> ArgumentRow {
    ArgumentRow(
      verb, "view", [], good: [#""full""#, #""bar""#, #""top""#], bad: [#""Full""#, "\"\""])
  }

  private static func client(_ verb: String) -> ArgumentRow {
    ArgumentRow(
      verb, "client", [], good: ["\"\(zeros)\(hex)\""],
      bad: ["\"\(zeros)\(zeros)0\"", word(31), "\"\(zeros)ABCDEF0123456789\"", word(33)])
  }

  private static func name(_ verb: String) -> ArgumentRow {
    let wide = String(repeating: "é", count: 64)
    return ArgumentRow(
      verb, "name", [.text], good: [word(128), "\"\(wide)\"", "\"\""],
      bad: [word(129), "\"\(wide)x\""])
  }

  private static let sessions = [
    ArgumentRow(
      "hello", "ver", [], good: ["[0,\(most)]", "[2,3]"],
      bad: ["[1]", "[2,1]", "[1,1,1]", #"["1","1"]"#, "[-1,1]"]),
    client("hello"), name("hello"), number("hello", "window"), number("hello", "hb"),
    ArgumentRow(
      "hello", "nonce", [.text], good: [word(64), "\"\""],
      bad: [word(65), "\"\(String(repeating: "é", count: 33))\""]),
    ArgumentRow("hello", "flow", [], good: [#""none""#, #""credit""#], bad: [#""Credit""#]),
    number("credit", "upto"), number("ping", "id"), number("bye", "id"), number("answer", "ask"),
    ArgumentRow("answer", "value", ArgumentRow.anything),
    nav("delegate"), nav("lease"), number("delegate", "id"), number("lease", "id"),
    ArgumentRow(
      "delegate", "roles", [.list], good: [#"["veto","animator","interaction","veto"]"#],
      bad: [#"["Veto"]"#, "[1]", "[null]"]),
    ArgumentRow("lease", "take", [.bool]), ArgumentRow("lease", "force", [.bool]),
    number("cluster", "id"), ArgumentRow("cluster", "to", [.text]),
  ]

  private static let reads = [
    number("watch", "id"), nav("watch"), view("watch"), number("unwatch", "id"), nav("unwatch"),
    view("unwatch"), ArgumentRow("watch", "resolved", [.bool]),
    ArgumentRow(
      "watch", "from", [],
      good: [#"{"epoch":"\#(hex)","rev":\#(most),"dig":"0000000f0000000000000000"}"#],
      bad: [
        #"{"rev":1,"dig":"000000000000000000000000"}"#, #"{"epoch":"\#(hex)","rev":1}"#,
        #"{"epoch":"\#(hex)0","rev":1,"dig":"000000000000000000000000"}"#,
        #"{"epoch":"\#(hex)","rev":1,"dig":"0000000F0000000000000000"}"#,
      ]),
    ArgumentRow(
      "watch", "bad", [], good: [#"{"rev":0,"dig":"000000000000000000000000"}"#],
      bad: [#"{"rev":0}"#, #"{"dig":"000000000000000000000000"}"#, #"{"rev":0,"dig":"000000000"}"#]),
    number("get", "id"), nav("get"), number("get", "at"), number("get", "from"),
    number("get", "limit"), ArgumentRow("get", "screen", [.text]),
    ArgumentRow(
      "get", "what", [], good: GetRequest.What.allCases.map { "\"\($0.word)\"" },
      bad: [#""State""#, "\"\""]),
  ]

  private static let ops = [
    number("op", "id"), nav("op"), client("op"), name("op"), number("op", "due"),
    ArgumentRow("op", "clock", [.text]),
    ArgumentRow("op", "do", [], good: [ops(1), ops(16)], bad: [ops(0), ops(17)]),
    ArgumentRow("op", "if", [.object]), ArgumentRow("op", "animated", [.bool]),
    ArgumentRow("op", "onBusy", [], good: [#""reject""#, #""queue""#], bad: [#""wait""#]),
  ]

  static let rows = sessions + reads + ops

  /// The octets of a message whose required members, but this one, are in place.
  private func body(_ row: ArgumentRow, _ json: String?, isReversed: Bool = false) -> [UInt8] {
    var members = (Self.required[row.operation] ?? []).filter { $0.name != row.name }
    if let json { members.append((row.name, json)) }
    let texts = members.map { #""\#($0.name)":\#($0.json)"# }
    return Array("{\((isReversed ? texts.reversed() : texts).joined(separator: ","))}".utf8)
  }

  private func isRequired(_ row: ArgumentRow) -> Bool {
    Self.required[row.operation]?.contains { $0.name == row.name } ?? false
  }

  @Test(arguments: rows)
  func `a member takes values of its type, and the error for others names it`(
    row: ArgumentRow
  ) {
    var reader = ClientMessageReader()
    for (kind, json) in ArgumentRow.values {
      switch reader.told(row.operation, body(row, json)) {
      case .success: #expect(row.kinds.contains(kind), "\(row.name) \(json)")
      case .failure(let failure):
        #expect(!row.kinds.contains(kind), "\(row.name) \(json)")
        #expect(failure.code == .invalidArgument && failure.text.contains(row.name))
      }
    }
  }

  @Test(arguments: rows)
  func `a member ends exactly at its limits`(row: ArgumentRow) {
    var reader = ClientMessageReader()
    for json in row.good {
      guard case .failure(let failure) = reader.told(row.operation, body(row, json)) else {
        continue
      }
      Issue.record("\(row.name) \(json): \(failure.text)")
    }
    for json in row.bad {
      guard case .failure(let failure) = reader.told(row.operation, body(row, json)) else {
        Issue.record("\(row.name) \(json) is read")
        continue
      }
      #expect(failure.code == .invalidArgument)
    }
  }

  @Test(arguments: rows)
  func `null counts as absent, and only what is required must be there`(row: ArgumentRow) {
    var reader = ClientMessageReader()
    let absent = reader.told(row.operation, body(row, nil))
    #expect(reader.told(row.operation, body(row, "null")) == absent)
    guard case .failure(let failure) = absent else {
      #expect(!isRequired(row), "\(row.name) may be left out")
      return
    }
    #expect(isRequired(row) && failure.code == .invalidArgument)
    #expect(failure.text.contains(row.name))
  }

  @Test func `what a message must have is missed before its other members are judged`() {
    var reader = ClientMessageReader()
    let body = #"{"ver":[1,1],"client":"\#(Self.hex)\#(Self.hex)","name":5}"#
    guard case .failure(let failure) = reader.told("hello", Array(body.utf8)) else {
      Issue.record("a hello without nonce is read")
      return
    }
    #expect(failure.text.contains("nonce"))
  }

  @Test(arguments: rows)
  func `order does not matter, nor do members that nobody knows`(row: ArgumentRow) throws {
    var reader = ClientMessageReader()
    let json = try #require(
      ArgumentRow.values.first { row.kinds.contains($0.kind) }?.json ?? row.good.first)
    let plain = reader.told(row.operation, body(row, json))
    #expect((try? plain.get()) != nil)
    #expect(reader.told(row.operation, body(row, json, isReversed: true)) == plain)
    let text = String(decoding: body(row, json).dropLast(), as: UTF8.self)
    let longer = text + #","zz":{"id":9,"nav":["x"]},"Id":8,"nav ":1}"#
    #expect(reader.told(row.operation, Array(longer.utf8)) == plain)
  }

  @Test(arguments: rows)
  func `an error repeats the id of its message, and its verb`(row: ArgumentRow) {
    var reader = ClientMessageReader()
    let faults = row.bad + ArgumentRow.values.filter { !row.kinds.contains($0.kind) }.map(\.json)
    for json in faults {
      guard case .failure(let failure) = reader.told(row.operation, body(row, json)) else {
        continue
      }
      #expect(failure.verb?.rawValue == row.operation)
      let hasID = Self.required[row.operation]?.contains { $0.name == "id" } ?? false
      #expect(failure.id == (hasID && row.name != "id" ? 7 : nil), "\(row.name) \(json)")
    }
  }

  /// The guards of protocol.md §9.2.
  static let guards = [
    ArgumentRow("if", "any", [.bool]),
    ArgumentRow(
      "if", "epoch", [], good: ["\"\(hex)\""], bad: ["\"\(hex)0\"", "\"\(hex.uppercased())\""]),
    ArgumentRow("if", "rev", [.integer], good: ["0", most], bad: ["-1", "1.0"]),
    ArgumentRow(
      "if", "dig", [], good: [#""00c0ffee0000000000000000""#],
      bad: [#""00C0FFEE0000000000000000""#, #""00c0ffee""#]),
    ArgumentRow("if", "top", [.text], good: ["null", "\"\""]),
    ArgumentRow("if", "depth", [.integer], good: ["0"], bad: ["-1"]),
    ArgumentRow(
      "if", "stack", [.list], good: [#"["a","a"]"#], bad: ["[1]", "[null]", #"[["a"]]"#]),
    ArgumentRow("if", "has", [.list], good: [#"["a"]"#], bad: ["[1]", #"["a",null]"#]),
    ArgumentRow("if", "tops", []), ArgumentRow("if", "Top", []), ArgumentRow("if", "revision", []),
  ]

  @Test(arguments: guards)
  func `a guard that is misspelt, null or of another type does not count as none`(
    row: ArgumentRow
  ) {
    var reader = ClientMessageReader()
    var values = ArgumentRow.values.map { ($0.json, row.kinds.contains($0.kind)) }
    values += row.good.map { ($0, true) } + row.bad.map { ($0, false) }
    if row.name != "top" { values.append(("null", false)) }
    for (json, isRight) in values {
      let member = #"{"any":true,"\#(row.name)":\#(json)}"#
      let whole = row.name == "any" ? #"{"any":\#(json)}"# : member
      let body = #"{"id":7,"nav":"n","if":\#(whole),"do":[{"pop":{}}]}"#
      switch reader.told("op", Array(body.utf8)) {
      case .success: #expect(isRight, "\(row.name) \(json)")
      case .failure(let failure):
        #expect(!isRight, "\(row.name) \(json)")
        #expect(failure.code == .invalidArgument && failure.id == 7)
        #expect(failure.text.contains("if.\(row.name)"), "\(failure.text)")
      }
    }
  }

  @Test func `a watch resumes or reports, and leaves out resolved in the full view only`() throws {
    var reader = ClientMessageReader()
    let from = #""from":{"epoch":"\#(Self.hex)","rev":1,"dig":"000000010000000000000000"}"#
    let bad = #""bad":{"rev":1,"dig":"000000010000000000000000"}"#
    for (more, isRight) in [
      (from, true), (bad, true), ("\(from),\(bad)", false), (#""resolved":false"#, true),
      (#""view":"full","resolved":false"#, true), (#""view":"bar","resolved":true"#, false),
      (#""view":"top","resolved":false"#, false), (#""view":"bar","resolved":null"#, true),
    ] {
      let result = reader.told("watch", Array(#"{"id":7,"nav":"n",\#(more)}"#.utf8))
      if case .failure(let failure) = result {
        #expect(!isRight && failure.code == .invalidArgument && failure.id == 7, "\(more)")
      } else {
        #expect(isRight, "\(more)")
      }
    }
  }

  @Test(arguments: [
    ("true", DelegateAnswer.verdict(true)), ("false", .verdict(false)), ("null", .malformed),
    (#""yes""#, .malformed), ("1", .malformed), ("[]", .malformed), ("{}", .malformed),
    (#"{"animator":1}"#, .malformed),
    (#"{"animator":"a"}"#, .animator("a", duration: nil)),
    (#"{"animator":"a","duration":5}"#, .animator("a", duration: 5)),
    (#"{"animator":"a","duration":-5}"#, .animator("a", duration: nil)),
    (#"{"driver":"d"}"#, .driver("d")), (#"{"driver":null}"#, .malformed),
    (#"{"driver":"d","animator":"a"}"#, .animator("a", duration: nil)),
  ])
  func `an answer of another form is malformed`(value: String, answer: DelegateAnswer) {
    var reader = ClientMessageReader()
    let body = Array(#"{"ask":3,"value":\#(value)}"#.utf8)
    #expect(reader.told("answer", body) == .success(.answer(3, answer)))
  }

  @Test(arguments: [
    (#"{"supported":["portrait"]}"#, true), (#"{"supported":[]}"#, false), ("[]", false),
    (#"{"supported":["portrait"],"preferred":"portrait"}"#, true),
    (#"{"supported":["portrait"],"preferred":"landscapeLeft"}"#, false),
    (#"{"supported":["portrait",null]}"#, false), (#"{"supported":["sideways"]}"#, false),
    (#"{"supported":"portrait"}"#, false), ("null", false),
    (#"{"supported":["portrait","portrait"],"preferred":null}"#, true),
  ])
  func `the role orientation needs orientations, the preferred one among them`(
    orientations: String, isRight: Bool
  ) throws {
    var reader = ClientMessageReader()
    for roles in [#"["orientation"]"#, #"["veto"]"#] {
      let body = #"{"id":7,"nav":"n","roles":\#(roles),"orientations":\#(orientations)}"#
      switch reader.told("delegate", Array(body.utf8)) {
      case .success(.delegate(let request)):
        // Without the role they are not read.
        #expect(isRight || roles == #"["veto"]"#, "\(orientations)")
        #expect((request.orientations != nil) == (roles == #"["orientation"]"#))
        if let read = request.orientations { #expect(read.supported == [.portrait]) }
      case .success(let other): Issue.record("\(other)")
      case .failure(let failure):
        #expect(!isRight && roles == #"["orientation"]"#, "\(orientations)")
        #expect(failure.code == .invalidArgument && failure.id == 7)
      }
    }
  }
}
