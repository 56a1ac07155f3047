// What must follow. A check returns what is wrong, or nil.
extension ConformanceRunner {
  /// The messages that a client got in this step.
  func arrived(_ name: String) -> ArraySlice<ClientSession.Incoming> {
    (sessions[name]?.messages ?? []).dropFirst(before.counts[name] ?? 0)
  }

  /// The diffs of this step.
  var diffs: [JSONTree] { StepText.diffs(arrived(Self.observer)) }

  /// The answer that is spoken about.
  var reply: ClientSession.Incoming? {
    subject.flatMap { sessions[$0.client]?.answer(to: $0.id, from: $0.start) }
  }

  /// A check about the answer to an op or a request.
  func checkReply(_ expectation: ScriptExpectation) -> String? {
    switch expectation {
    case .changed:
      guard let reply, reply.verb == "ok" else { return "not ok" }
      guard reply.json["changed"]?.bool == true else { return "nothing changed" }
      return checkRevision(reply.json)
    case .unchanged:
      guard let reply, reply.verb == "ok" else { return "not ok" }
      guard reply.json["changed"]?.bool == false else { return "something changed" }
      return checkSame()
    case .ok: return reply?.verb == "ok" ? nil : "not ok"
    case .pending: return reply == nil ? checkSame() : "answered already"
    case .refused(let code, let fields): return checkRefusal(code, fields)
    case .queued(let position):
      let queued = subject.flatMap { subject in
        sessions[subject.client]?.messages.dropFirst(subject.start).last {
          $0.verb == "queued" && $0.json["id"]?.integer == subject.id
        }
      }
      guard queued?.json["pos"]?.integer == position else { return "not queued at \(position)" }
      return reply == nil ? checkSame() : "answered already"
    case .recorded(let label):
      guard let sent = labels[label],
        let first = sessions[sent.client]?.messages.dropFirst(sent.start).first(where: {
          $0.answers(sent.id)
        })
      else { return "no answer to \(label) is known" }
      guard reply?.body == first.body else { return "not the answer \(first.json.text)" }
      return checkSame()
    default: return "not about an answer"
    }
  }

  /// Exactly one revision and one diff, and the answer tells of them.
  private func checkRevision(_ json: JSONTree) -> String? {
    guard let state, json["rev"] == state["rev"], json["dig"] == state["dig"] else {
      return "the answer does not tell the new state's revision and digest"
    }
    guard let old = before.state else {
      return state["rev"]?.integer == 1 ? nil : "a new nav is not at revision 1"
    }
    guard let was = old["rev"]?.integer, state["rev"]?.integer == was + 1 else {
      return "not one revision above \(old["rev"]?.text ?? "none")"
    }
    return diffs.count == 1 ? nil : "\(diffs.count) diffs"
  }

  private func checkRefusal(_ code: String, _ fields: String) -> String? {
    guard let reply, reply.verb == "err" else { return "not refused" }
    guard reply.json["code"]?.string == code else { return "not \(code)" }
    guard let pattern = try? JSONTree(filled(fields)) else { return "\(fields) cannot be read" }
    guard reply.json.has(pattern) else { return "the error does not say \(pattern.text)" }
    if let consequence = Refusals.consequence(of: code), reply.json["effect"]?.string != nil {
      guard reply.json["effect"]?.string == consequence.effect,
        reply.json["retry"]?.string == consequence.retry
      else { return "not \(consequence.effect) and \(consequence.retry)" }
    }
    if let state, code != "no-session", (reply.json["nav"]?.string ?? nav) == nav {
      for name in ["epoch", "rev", "dig"] where reply.json[name] != state[name] {
        return "the error tells another \(name)"
      }
    }
    return checkSame()
  }

  /// Nothing changed and nothing was told.
  func checkSame() -> String? {
    guard state?.text == before.state?.text else {
      return "the state was changed:\n  \(before.state?.text ?? "none")\n  \(state?.text ?? "none")"
    }
    let told = arrived(Self.observer).filter {
      ["snap", "diff", "diffs", "latest"].contains($0.verb)
    }
    return told.isEmpty ? nil : "the watch got \(told.map(\.json.text))"
  }

  /// A check about anything else.
  mutating func check(_ expectation: ScriptExpectation) throws -> String? {
    switch expectation {
    case .same: return checkSame()
    case .missingNav: return state == nil ? nil : "the nav exists"
    case .revisions(let count): return diffs.count == count ? nil : "\(diffs.count) revisions"
    case .events(let wanted): return differs(diffs.flatMap(StepText.events), wanted)
    case .event(let name, let fields):
      let values = diffs.flatMap { $0["ev"]?.array ?? [] }.compactMap { $0[name] }
      let pattern = try JSONTree(filled(fields))
      return values.contains { $0.has(pattern) } ? nil : "no \(name) with \(pattern.text)"
    case .ephemeral(let wanted):
      let events = arrived(Self.observer).filter { $0.verb == "event" }
      return differs(events.flatMap { StepText.events($0.json) }, wanted)
    case .touches(let wanted):
      guard diffs.count == 1 else { return "\(diffs.count) diffs" }
      return differs(StepText.touched(diffs[0]), wanted)
    case .stack(let wanted):
      return differs((state?["screens"]?.array ?? []).map { $0["id"]?.string ?? "" }, wanted)
    case .slots(let side, let wanted):
      let slots = state?.at("resolved.\(side == .left ? "left" : "right")")?.array ?? []
      return differs(slots.map { $0["back"] != nil ? "back" : $0["button"]?.string ?? "?" }, wanted)
    case .shown(let name, let wanted):
      let id = state?.at("resolved.\(name)")?.string
      return id == wanted ? nil : "\(name) is \(id ?? "nil")"
    case .value(let source, let path, let relation): return try compare(source, path, relation)
    case .kept(let name, let source, let path):
      let value = try read(source, path)?.text ?? "null"
      return value == kept[name] ? nil : "\(path) is \(value), was \(kept[name] ?? "nothing")"
    case .asked(let name, let wanted):
      let asks = arrived(name).filter { $0.verb == "ask" }
      return differs(asks.map { StepText.question($0.json) }, wanted)
    case .settled(let name, let wanted):
      let ends = arrived(name).filter { $0.verb == "settled" }
      return differs(ends.map { $0.json["outcome"]?.string ?? "nil" }, wanted)
    case .got(let name, let wanted):
      return differs(arrived(name).flatMap(StepText.revisions), wanted)
    default: return "not understood"
    }
  }

  private func differs(_ found: [String], _ wanted: [String]) -> String? {
    found == wanted ? nil : "[\(found.joined(separator: ","))] instead"
  }

  private mutating func compare(
    _ source: ScriptSource, _ path: String, _ relation: ScriptRelation
  ) throws -> String? {
    let value = try read(source, path)
    let told = "\(path.isEmpty ? "it" : path) is \(value?.text ?? "absent")"
    switch relation {
    case .isAbsent: return value == nil ? nil : told
    case .equals(let text):
      let wanted = try JSONTree(filled(text))
      guard let value else { return wanted.isNothing ? nil : told }
      return value == wanted ? nil : told
    case .differs(let text): return (value ?? .null) == (try JSONTree(filled(text))) ? told : nil
    case .has(let text):
      let wanted = try JSONTree(filled(text))
      return (value ?? .null).has(wanted) ? nil : told
    }
  }

  /// The value at a place; a member of the state that is left out has its default.
  mutating func read(_ source: ScriptSource, _ path: String) throws -> JSONTree? {
    switch source {
    case .state:
      if path == "rev", state == nil { return nil }
      return try state?.at(path) ?? StateDefaults.value(path).map { try JSONTree($0) }
    case .resolved: return state?["resolved"]?.at(path)
    case .screen(let id):
      guard let screen = try record(id) else { return nil }
      return try screen.at(path) ?? StateDefaults.value(path).map { try JSONTree($0) }
    case .diff: return diffs.count == 1 ? diffs[0].at(path) : nil
    case .reply: return reply?.json.at(path)
    case .out:
      let out = reply?.json["out"]
      // A path that begins with an index is of that op, any other of the only one.
      guard path.first?.isNumber != true else { return out?.at(path) }
      return out?.array?.first?.at(path)
    case .log:
      let spoken = subject
      let answer = try request(Self.observer, "get", #"{"what":"log"}"#)
      subject = spoken
      return answer.json["value"]?.array?.last?.at(path)
    }
  }

  /// The record of a screen that is shown, presented or detached.
  private mutating func record(_ id: String) throws -> JSONTree? {
    let presented = (state?.at("presented.chain")?.array ?? []).compactMap { $0["screen"] }
    let shown = (state?["screens"]?.array ?? []) + presented
    if let screen = shown.first(where: { $0["id"]?.string == id }) { return screen }
    let spoken = subject
    let answer = try request(
      Self.observer, "get", #"{"what":"screen","screen":"\#(id)"}"#)
    subject = spoken
    return answer.verb == "ok" ? answer.json["value"] : nil
  }
}
