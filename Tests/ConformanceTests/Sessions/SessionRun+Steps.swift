import Conformance
import NavigationCore
import NavigationClient

extension SessionRun {
  /// A line of a script: the daemon behind its sign, its words, and the value at its end.
  struct Line {
    var sign: String
    var daemon = "A"
    var words: [String]
    var value = JSONTree.object([])

    init(_ text: String) throws {
      let start = text.indices.first { index in
        text[index...].hasPrefix(" {") || text[index...].hasPrefix(" [")
      }
      let head = text[..<(start ?? text.endIndex)]
      var words = head.split(separator: " ").map(String.init)
      let word = words.removeFirst()
      sign = word
      if let first = word.first, "<>".contains(first) {
        sign = String(first)
        if word.count > 1 { daemon = String(word.dropFirst()) }
      } else if let first = words.first {
        daemon = first
      }
      self.words = words
      if let start { value = try JSONTree(String(text[start...].dropFirst())) }
    }
  }

  mutating func take(_ text: String) throws {
    let line = try Line(text)
    let words = line.words
    if !["!", ">", "after"].contains(line.sign) { try expectNothing() }
    switch line.sign {
    case "<":
      let (body, octets) = try message(words[0], Array(words.dropFirst()), line.value)
      try hand(line.daemon, words[0], body, octets: octets)
    case ">": try expectSent(line)
    case "!": try expectEvent(words.joined(separator: " "), line.value)
    case "is": try expectMirror(words)
    case "open":
      try connect(line.daemon)
      guard !sent.isEmpty, sent[0].verb == "hello", let nonce = sent[0].body["nonce"] else {
        throw Mismatch("the client does not begin with hello")
      }
      self.nonce = nonce
      sent.removeFirst()
      try welcome(line.daemon, line.value)
    case "follow":
      for step in [
        "watch", "> watch w", #"< ok w {"mode":"snap"}"#,
        "< snap \(words.joined(separator: " ")) \(line.value.text)",
        "! state \(words[0]) replaced",
      ] { try take(step) }
    case "connect": try connect(line.daemon)
    case "welcome": try welcome(line.daemon, line.value)
    case "lose": try lose(line.daemon)
    case "wait": _ = try pass(until: now + (UInt64(words[0]) ?? 0))
    case "after": try expect(words) { !$0.sent.isEmpty || !$0.events.isEmpty }
    case "reconnects":
      let daemon = words.count > 2 ? words[2] : "A"
      try expect(words) { $0.isWanted(daemon) }
    case "closes":
      try expect(words) { $0.up[words[2]] == nil }
      sent.removeAll { $0.verb == "bye" }
    default: try call(line)
    }
  }

  /// A call of the program.
  private mutating func call(_ line: Line) throws {
    let (words, value) = (line.words, line.value)
    let nav = value["nav"]?.string ?? "kiosk"
    switch line.sign {
    case "watch", "unwatch":
      let view = words.count > 1 ? View(word: words[1]) ?? .full : .full
      let name = words.first ?? "kiosk"
      try perform(
        line.sign == "watch"
          ? client.watch(name, view: view, waits: words.contains("wait"))
          : client.unwatch(name, view: view))
    case "op": try perform(words[0], value)
    case "get":
      let what = GetRequest.What(word: value["what"]?.string ?? "top") ?? .top
      let isOfDaemon = value.members.contains { $0.name == "nav" && $0.value == .null }
      let request = GetRequest(id: 0, nav: isOfDaemon ? nil : nav, what: what)
      let (id, outputs) = client.get(request)
      named[words[0]] = Named(id: id, nav: isOfDaemon ? nil : nav, isRequest: true)
      try perform(outputs)
    case "forget":
      let (wasSent, outputs) = client.forget(named[words[0]]?.id ?? 0)
      try require((wasSent ? "sent" : "unsent") == words[1], "it was sent: \(wasSent)")
      try perform(outputs)
    case "delegate":
      let roles = Set(words.compactMap { DelegateRole(rawValue: $0) })
      try perform(client.delegate(nav, DelegateRegistration(roles: roles)))
    case "lease":
      let wishes = ["take": LeaseAction.take, "force": .force, "release": .release]
      try perform(client.lease(nav, wishes[words[0]] ?? .take, isKept: true))
    case "answer":
      guard let ask = asks[UInt64(words[0]) ?? 0] else { throw Mismatch("no such question") }
      try perform(client.answer(ask, value: Array(words[1].utf8)))
    case "leave": try perform(client.leave())
    default: throw Mismatch("no such step")
    }
  }

  private mutating func perform(_ name: String, _ value: JSONTree) throws {
    var request = OpRequest(id: 0, nav: value["nav"]?.string ?? "kiosk")
    request.isDry = value["dry"]?.bool ?? false
    request.guards.any = value.at("if.any")?.bool ?? false
    if let top = value.at("if.top")?.string { request.guards.top = .some(top) }
    let operations = value["do"]?.array?.map { Array($0.text.utf8) } ?? [Array(#"{"pop":{}}"#.utf8)]
    let until = value["within"]?.integer.map { now + UInt64($0) }
    let (id, outputs) = client.perform(request, operations: operations, until: until)
    named[name] = Named(id: id, nav: request.nav, isRequest: true)
    try perform(outputs)
  }

  // Expectations.

  func require(_ condition: Bool, _ text: @autoclosure () -> String) throws {
    if !condition { throw Mismatch(text()) }
  }

  func expectNothing() throws {
    let texts = sent.map { "\($0.daemon) \($0.verb) \($0.octets)" } + events.map(\.text)
    try require(texts.isEmpty, "unexpected: \(texts)")
  }

  private mutating func expectSent(_ line: Line) throws {
    try require(!sent.isEmpty, "nothing was sent")
    let found = sent.removeFirst()
    let verb = line.words[0]
    let name = line.words.count > 1 ? line.words[1] : nil
    try require(
      found.daemon == line.daemon && found.verb == verb, "sent to \(found.daemon): \(found.verb)")
    var members = found.body.members
    let id = UInt64(found.body["id"]?.integer ?? 0)
    members.removeAll { $0.name == "id" && line.value["id"] == nil }
    if verb == "hello" {
      nonce = found.body["nonce"] ?? .null
      members.removeAll { line.value[$0.name] == nil }
    }
    if verb == "op" || verb == "get" {
      try require(self.name(of: id) == name, "it is \(self.name(of: id) ?? "another")")
      let text = found.octets.split(separator: #","again":"#)[0]
      let first = text.hasSuffix("}") ? String(text) : text + "}"
      try require(octets[id, default: first] == first, "other octets: \(found.octets)")
      octets[id] = first
      members.removeAll { ["do", "what"].contains($0.name) && line.value[$0.name] == nil }
    } else if let name {
      named[name] = Named(id: id, nav: found.body["nav"]?.string, isRequest: false)
    }
    members.removeAll { member in
      member.name == "nav" && member.value == .string("kiosk") && line.value["nav"] == nil
        || member.name == "view" && member.value == .string("full")
    }
    for index in members.indices where ["from", "bad"].contains(members[index].name) {
      members[index].value = revision(of: found.body["nav"]?.string, members[index].value)
    }
    try require(.object(members) == line.value, "sent: \(JSONTree.object(members).text)")
  }

  /// A position of a nav as its revision alone, if it is one that the nav had.
  private func revision(of nav: String?, _ position: JSONTree) -> JSONTree {
    guard let revision = position["rev"], let digest = position["dig"]?.string,
      let epoch = positions["\(nav ?? "") \(revision.text) \(digest)"],
      position["epoch"] == nil || position["epoch"]?.string == epoch
    else { return position }
    return revision
  }

  private mutating func expectEvent(_ text: String, _ wanted: JSONTree) throws {
    try require(!events.isEmpty, "nothing is reported")
    let found = events.removeFirst()
    try require(found.text == text, "reported: \(found.text)")
    for member in wanted.members {
      try require(found.body[member.name] == member.value, "reported: \(found.body.text)")
    }
  }

  private func expectMirror(_ words: [String]) throws {
    let replica = client.replica(of: words.count > 2 ? words[2] : "kiosk")
    var found = ["nothing"]
    if let replica, let mirror = replica.mirror {
      found = [replica.isSynced ? "synced" : "suspect", "\(mirror.revision.number)"]
    }
    try require(found.starts(with: words.prefix(2)), "it is \(found)")
  }

  private mutating func expect(_ words: [String], _ isThere: (SessionRun) -> Bool) throws {
    let (start, least, most) = (now, UInt64(words[0]) ?? 0, UInt64(words[1]) ?? 0)
    try require(try pass(until: start + most, isThere), "nothing happens within \(most) ms")
    try require(now >= start + least, "it happens after \(now - start) ms")
  }
}
