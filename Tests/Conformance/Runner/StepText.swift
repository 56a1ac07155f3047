/// What messages say, in the short words of the scripts.
enum StepText {
  /// The diffs in messages of a full watch.
  static func diffs(_ messages: some Sequence<ClientSession.Incoming>) -> [JSONTree] {
    messages.flatMap { message -> [JSONTree] in
      switch message.verb {
      case "diff": [message.json]
      case "diffs": message.json["list"]?.array ?? []
      default: []
      }
    }
  }

  /// The events of a diff or of an `event`, as words like `willShow(B,1)`.
  static func events(_ message: JSONTree) -> [String] {
    (message["ev"]?.array ?? []).compactMap(\.members.first).map { event($0.name, $0.value) }
  }

  private static func event(_ name: String, _ value: JSONTree) -> String {
    func id(_ member: String) -> String { value[member]?.string ?? "nil" }
    func flag(_ member: String) -> String { value[member]?.bool == true ? "1" : "0" }
    switch name {
    case "willShow", "didShow", "willHide", "didHide":
      return "\(name)(\(id("screen")),\(flag("animated")))"
    case "didPush", "didPop", "didPresent", "didDismiss", "popBlocked", "dismissAttempted":
      return "\(name)(\(id("screen")))"
    case "transitionBegan":
      let kind = value["interactive"]?.bool == true ? ",interactive" : ""
      return "\(name)(\(id("op")),\(id("from")),\(id("to"))\(kind))"
    case "transitionEnded": return "\(name)(\(id("outcome")))"
    case "barChange": return "\(name)(\(flag("hidden")),\(flag("animated")),\(flag("jump")))"
    case "buttonActivated":
      let element = value["element"] == nil ? "" : ",\(id("element"))"
      return "\(name)(\(id("button"))\(element),\(id("action")))"
    case "transitionProgress": return "\(name)(\(value["value"]?.text ?? "nil"))"
    default: return name
    }
  }

  /// The revisions that a message of a watch tells of, as `snap(9)` or `diff(9,10)`.
  static func revisions(_ message: ClientSession.Incoming) -> [String] {
    func number(_ json: JSONTree, _ member: String) -> String { json[member]?.text ?? "nil" }
    if message.verb == "snap" { return ["snap(\(number(message.json, "rev")))"] }
    return diffs([message]).map { "diff(\(number($0, "base")),\(number($0, "rev")))" }
  }

  /// The question of an `ask`, as words like `shouldPop(B)`.
  static func question(_ message: JSONTree) -> String {
    guard let question = message["q"]?.members.first else { return "nothing" }
    let members = ["screen", "op", "from", "to", "animator"].compactMap {
      question.value[$0]?.string
    }
    return "\(question.name)(\(members.joined(separator: ",")))"
  }

  /// The records that a diff names, each once: part names, and `stack` for a splice.
  static func touched(_ diff: JSONTree) -> [String] {
    var names: [String] = []
    for change in diff["ch"]?.array ?? [] {
      var name = change["set"]?.string ?? "stack"
      if name == "screen" { name = change.at("to.id")?.string ?? "nil" }
      if !names.contains(name) { names.append(name) }
    }
    return names
  }
}
