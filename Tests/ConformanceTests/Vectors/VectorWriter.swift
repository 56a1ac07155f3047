import Conformance

/// Writes the steps of one client's session, and computes what its mirror must show after each.
///
/// The mirror here is the runner's naive one, and every `state` is what the hub answers to `get`.
struct VectorWriter {
  let nav: String
  /// Whether the watch asks for `resolved`.
  let hasResolved: Bool
  private(set) var steps: [JSONTree] = []
  /// The state that the client must have; nil for none.
  private(set) var mirror: NaiveMirror?
  /// What a snapshot in parts has brought so far.
  private var incoming = NaiveMirror()
  /// Whether the program has a watch, which outlives the loss of a connection.
  private(set) var isWatched = false
  private var shown = JSONTree.null
  /// How many steps end in each reaction.
  private var reactions: [Reaction: Int] = [:]

  init(nav: String, hasResolved: Bool = true) {
    self.nav = nav
    self.hasResolved = hasResolved
  }

  /// The position of the mirror, as `from` has it.
  var position: JSONTree? {
    mirror.map {
      .members([
        "epoch": .string($0.epoch), "rev": .int($0.revision), "dig": .string($0.digest),
      ])
    }
  }

  /// Whether there is more to see than the first snapshot.
  var isWorthwhile: Bool {
    [.applied, .refused, .ended, .resumed, .event].contains { reactions[$0] != nil }
      || (reactions[.replaced] ?? 0) > 1
  }

  /// The program asks the client to watch the nav.
  mutating func watches() {
    // What was done and answered before belongs to no watch.
    if steps.allSatisfy({ $0["refused"] == nil && $0["watch"] == nil }) {
      (steps, reactions) = ([], [:])
    }
    steps.append(.members(["watch": .bool(true)]))
    isWatched = true
  }

  /// The client must send this of its own accord.
  mutating func sends(_ verb: String, _ body: JSONTree) {
    steps.append(.members(["to": .array([.string(verb), body])]))
  }

  /// The program makes a request.
  mutating func does(_ verb: String, _ body: JSONTree) {
    steps.append(.members(["do": .array([.string(verb), body])]))
  }

  /// The connection is lost, and a new session is open.
  mutating func loses() { steps.append(.members(["lost": .bool(true)])) }

  /// The client gets a message.
  ///
  /// - Parameters:
  ///   - message: the message, as the hub sent it or as a fault left it.
  ///   - isExact: whether the octets matter; they then stand in the file as a text.
  ///   - given: the reaction, where it is not that of an intact stream.
  /// - Throws: an error if an intact message does not fit the mirror.
  mutating func gets(
    _ message: ReceivedMessage, isExact: Bool = false, is given: Reaction? = nil
  ) throws {
    let json = try JSONTree(reading: message.body)
    let reaction = try given ?? follow(message.verb, json)
    reactions[reaction, default: 0] += 1
    let body = isExact ? .string(String(decoding: message.body, as: UTF8.self)) : json
    var step = JSONTree.members([
      "from": .array([.string(message.verb), body]), "is": .string(reaction.rawValue),
    ])
    if reaction == .refused {
      let names = ["id", "code", "effect", "retry", "reason", "index"]
      let told = names.compactMap { name in
        json[name].map { JSONTree.Member(name: name, value: $0) }
      }
      step = step.setting("refused", .object(told))
    }
    let now = summary
    if !now.isSame(as: shown) { step = step.setting("then", now) }
    shown = now
    steps.append(step)
  }

  /// The client applies a diff of the next message, whose reaction the caller gives.
  mutating func expect(diff: JSONTree) throws { try mirror?.receive("diff", diff) }

  /// The whole state that the client must have now, as the hub tells it.
  mutating func shows(_ value: JSONTree) throws {
    var names = ["kind", "epoch", "rev", "dig", "screens"] + Self.parts
    if hasResolved { names.append("resolved") }
    let state = names.compactMap { name in
      value[name].map { JSONTree.Member(name: name, value: $0) }
    }
    let compared = hasResolved ? value : value.removing("resolved")
    if let wrong = mirror?.difference(from: compared) ?? (mirror == nil ? "no mirror" : nil) {
      throw ConformanceFailure(file: #fileID, line: #line, id: nav, text: wrong)
    }
    steps.append(.members(["state": .object(state)]))
  }

  static let parts = ["bar", "toolbar", "presented", "transition", "environment", "settings"]

  /// Follows an intact message; says what a client must do.
  private mutating func follow(_ verb: String, _ json: JSONTree) throws -> Reaction {
    switch verb {
    case "snap":
      try incoming.receive(verb, json)
      guard json["last"]?.bool == true else { return .wait }
      mirror = incoming
      return .replaced
    case "diff", "diffs":
      try mirror?.receive(verb, json)
      return .applied
    case "ok":
      guard let mode = json["mode"]?.string else { return .answered }
      return mode == "resume" ? .resumed : .wait
    case "err":
      return .refused
    case "end":
      drops()
      return .ended
    case "event": return .event
    default: return .ignored
    }
  }

  /// The watch is over, and with it the mirror.
  mutating func drops() { (mirror, isWatched) = (nil, false) }

  /// What is compared after each step.
  private var summary: JSONTree {
    guard let mirror else { return .null }
    let ids = mirror.screens.compactMap { $0["id"] }
    let presented = (mirror.parts["presented"]?["chain"]?.array ?? []).compactMap {
      $0.at("screen.id")
    }
    return .members([
      "epoch": .string(mirror.epoch), "rev": .int(mirror.revision), "dig": .string(mirror.digest),
      "screens": .array(ids), "presented": .array(presented), "top": ids.last ?? .null,
      "visible": presented.last ?? ids.last ?? .null,
    ])
  }

  /// The vector with all steps.
  func vector(_ id: String, _ kind: Vector.Kind, _ claim: String) -> Vector {
    Vector(
      id: id, kind: kind, claim: claim,
      members: [
        JSONTree.Member(name: "nav", value: .string(nav)),
        JSONTree.Member(name: "resolved", value: .bool(hasResolved)),
        JSONTree.Member(name: "steps", value: .array(steps)),
      ])
  }
}
