import Conformance
import NavigationCore
import NavigationClient

/// Runs a vector through the library's own session.
struct VectorRunner {
  /// Why the client does not pass.
  struct Mismatch: Error, CustomStringConvertible {
    var description: String
  }

  private let nav: String
  private var session = SessionReplica(client: ClientID(high: 1, low: 1), name: "1", seed: 1)
  private var now: UInt64 = 1000
  /// What the client sent and no step has asked for.
  private var sent: [(verb: String, body: JSONTree)] = []
  /// The client's own ids, by those of the vector.
  private var ids: [Int: Int] = [:]
  private var shown = JSONTree.null
  private var reader = ServerMessageReader()

  /// Runs a vector.
  ///
  /// - Throws: `Mismatch` with the step that the client does not pass.
  static func run(_ vector: JSONTree) throws {
    guard vector["kind"]?.string != "digest" else { return try checkDigest(vector) }
    var runner = VectorRunner(nav: vector["nav"]?.string ?? "")
    try runner.open()
    for (index, step) in (vector["steps"]?.array ?? []).enumerated() {
      do {
        try runner.take(step)
      } catch let mismatch as Mismatch {
        let id = vector["id"]?.string ?? "?"
        throw Mismatch(
          description: "\(id), step \(index): \(mismatch) in \(step.text.prefix(1000))")
      }
    }
  }

  private static func checkDigest(_ vector: JSONTree) throws {
    func records(_ name: String) throws -> [(String, UInt64)] {
      try (vector[name]?.array ?? []).map {
        guard let id = $0["id"]?.string, let version = $0["ver"]?.integer else {
          throw Mismatch(description: "no record")
        }
        return (id, UInt64(version))
      }
    }
    let checksum = try Digest.checksum(screens: records("screens"), parts: records("parts"))
    let text = String(Digest(checksum: checksum, chain: 0).text.prefix(8))
    guard text == vector["checksum"]?.string else {
      throw Mismatch(description: "\(vector["id"]?.text ?? ""): the checksum is \(text)")
    }
  }

  private init(nav: String) { self.nav = nav }

  private mutating func open() throws {
    sent = []
    try keep(session.connected(at: now))
    guard let hello = sent.first, let nonce = hello.body["nonce"] else {
      throw Mismatch(description: "no hello")
    }
    let welcome =
      #"{"ver":1,"nonce":\#(nonce.text),"boot":"0000000000000001","server":"vectors","hb":5000}"#
    try keep(receive("welcome", JSONTree(welcome).text).filter { $0.event == nil })
  }

  private mutating func keep(_ outputs: [SessionOutput]) throws {
    for case .send(let verb, let body) in outputs {
      sent.append((verb.rawValue, try JSONTree(reading: body)))
    }
  }

  private mutating func receive(_ verb: String, _ text: String) throws -> [SessionOutput] {
    let body = Array(text.utf8)
    let message = try reader.read(verb: Array("nsp1.\(verb)".utf8), body: body)
    return session.receive(
      message, verb: ServerVerb(word: verb), octets: body.count, at: now)
  }

  private mutating func take(_ step: JSONTree) throws {
    if step["watch"] != nil {
      try keep(session.watch(nav))
    } else if step["lost"] != nil {
      _ = session.disconnected()
      try open()
    } else if let to = step["to"]?.array, to.count == 2 {
      try expect(to[0].string ?? "", to[1])
    } else if let request = step["do"]?.array, request.count == 2 {
      try perform(request[0].string ?? "", request[1])
    } else if let from = step["from"]?.array, from.count == 2 {
      try take(from[0].string ?? "", from[1], step)
    } else if let state = step["state"] {
      try compare(state)
    } else {
      throw Mismatch(description: "an unknown step")
    }
  }

  /// The client must have sent this, or send it as soon as it has waited long enough.
  private mutating func expect(_ verb: String, _ body: JSONTree) throws {
    if !sent.contains(where: { $0.verb == verb }), let wake = session.wakeAt {
      now = max(now, wake)
      try keep(session.tick(at: now))
    }
    guard let index = sent.firstIndex(where: { $0.verb == verb }) else {
      throw Mismatch(description: "the client sends no \(verb)")
    }
    let mine = sent.remove(at: index).body
    guard mine["nav"] == body["nav"], mine["view"] == nil || mine["view"]?.string == "full",
      (mine["from"] ?? .null).isSame(as: body["from"] ?? .null),
      body["bad"] == nil || mine.at("bad.rev") != nil && mine.at("bad.dig") != nil
    else { throw Mismatch(description: "the client sends \(mine.text)") }
    if let id = body["id"]?.integer, let own = mine["id"]?.integer { ids[id] = own }
  }

  /// The program makes a request; only ops are requests of the session's own.
  private mutating func perform(_ verb: String, _ body: JSONTree) throws {
    guard verb == "op", let id = body["id"]?.integer else { return }
    let operations = (body["do"]?.array ?? []).map { Array($0.text.utf8) }
    let (own, outputs) = session.perform(
      OpRequest(id: 0, nav: body["nav"]?.string ?? ""), operations: operations)
    ids[id] = Int(own)
    try keep(outputs)
  }

  private mutating func take(_ verb: String, _ body: JSONTree, _ step: JSONTree) throws {
    // A text stands for the octets; otherwise the ids are the client's own.
    var text = body.string ?? body.text
    let id = body["id"]?.integer
    if let id, let own = ids[id] { text = body.setting("id", .int(own)).text }
    let outputs = try receive(verb, text)
    try keep(outputs)
    let reaction = step["is"]?.string.flatMap { Reaction(rawValue: $0) }
    guard let reaction, fits(reaction, outputs, isKnown: id.map { ids[$0] != nil } ?? false) else {
      throw Mismatch(description: "not \(step["is"]?.text ?? "") but \(outputs)")
    }
    if let told = step["refused"] { try compare(refusal: told, text) }
    if step.members.contains(where: { $0.name == "then" }) { shown = step["then"] ?? .null }
    let summary = summary
    guard summary.isSame(as: shown) else {
      throw Mismatch(description: "the mirror shows \(summary.text), not \(shown.text)")
    }
  }

  /// Whether the outputs are those of a reaction.
  private func fits(_ reaction: Reaction, _ outputs: [SessionOutput], isKnown: Bool) -> Bool {
    let events = outputs.compactMap(\.event)
    let isSynced = session.replica(of: nav)?.isSynced == true
    let changes = events.compactMap { event -> MirrorChange? in
      if case .changed(_, let change) = event { change } else { nil }
    }
    switch reaction {
    case .wait: return outputs.isEmpty && !isSynced
    case .ignored:
      // A program hears of its place in a queue, and that a mark proved the mirror.
      return outputs.allSatisfy {
        switch $0 {
        case .event(.queued), .event(.changed(_, .proven)): true
        default: false
        }
      }
    case .resumed:
      guard case .resumed? = changes.first else { return false }
      return isSynced
    case .replaced:
      guard case .replaced? = changes.first else { return false }
      return isSynced
    case .applied:
      let isApplied = changes.allSatisfy { if case .applied = $0 { true } else { false } }
      return isApplied && !changes.isEmpty && isSynced
    case .gap, .diverged: return changes.last == .suspect && !isSynced
    case .ended:
      return events.contains { if case .watchEnded(_, _, .ended) = $0 { true } else { false } }
    case .refused:
      return !isKnown
        || events.contains { event in
          switch event {
          case .answered(_, .failure), .watchEnded(_, _, .refused): true
          default: false
          }
        }
    case .answered:
      return !isKnown
        || events.contains { if case .answered(_, .success) = $0 { true } else { false } }
    case .event: return events.contains { if case .ephemeral = $0 { true } else { false } }
    }
  }

  /// What the client reads in a refusal.
  private mutating func compare(refusal told: JSONTree, _ text: String) throws {
    guard
      case .err(let refusal) = try reader.read(verb: Array("nsp1.err".utf8), body: Array(text.utf8)),
      refusal.code == told["code"]?.string, refusal.retry == told["retry"]?.string,
      refusal.effect == told["effect"]?.string, refusal.reason == told["reason"]?.string,
      refusal.index.map({ Int($0) }) == told["index"]?.integer
    else { throw Mismatch(description: "the client reads another refusal") }
  }

  private var mirror: Mirror? { session.replica(of: nav)?.mirror }

  private var summary: JSONTree {
    guard let mirror else { return .null }
    let chain =
      mirror.parts.first { $0.id == "presented" }
      .flatMap { try? JSONTree(reading: $0.json.bytes) }?["chain"]?.array ?? []
    return .members([
      "epoch": .string(mirror.epoch.text), "rev": .int(Int(mirror.revision.number)),
      "dig": .string(mirror.digest.text),
      "screens": .array(mirror.screens.map { .string($0.id) }),
      "presented": .array(chain.compactMap { $0.at("screen.id") }),
      "top": mirror.top.map { .string($0) } ?? .null,
      "visible": (mirror.outermostPresented ?? mirror.top).map { .string($0) } ?? .null,
    ])
  }

  private func compare(_ state: JSONTree) throws {
    guard let mirror else { throw Mismatch(description: "there is no mirror") }
    var mine = JSONTree.members([
      "kind": .string(mirror.kind), "epoch": .string(mirror.epoch.text),
      "rev": .int(Int(mirror.revision.number)), "dig": .string(mirror.digest.text),
      "screens": .array(try mirror.screens.map { try JSONTree(reading: $0.json.bytes) }),
    ])
    for part in mirror.parts {
      mine = mine.setting(part.id, try JSONTree(reading: part.json.bytes))
    }
    if let resolved = mirror.resolved {
      mine = mine.setting("resolved", try JSONTree(reading: resolved.bytes))
    }
    guard mine.isSame(as: state) else {
      throw Mismatch(description: "the state is \(mine.text)")
    }
  }
}

extension SessionOutput {
  /// The event for the session's user; nil for anything else.
  var event: SessionEvent? { if case .event(let event) = self { event } else { nil } }
}
