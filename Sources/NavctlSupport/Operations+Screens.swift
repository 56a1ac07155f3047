package import CommandLineOptions
import NavigationSync

extension Operations {
  /// `present`: shows a screen above what is visible.
  package static func present(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    var arguments = [("screen", try newScreen(line, id: id, command: "present"))]
    for name in ["from", "style"] {
      if let text = line.value(of: name) { arguments.append((name, OperationText.string(text))) }
    }
    return OperationText(.present, arguments)
  }

  /// `dismiss`: ends what the controller, or the screen named by `--from`, presents.
  package static func dismiss(_ line: ParsedCommandLine) -> OperationText {
    let from = line.value(of: "from").map { [("from", OperationText.string($0))] }
    return OperationText(.dismiss, from ?? [])
  }

  /// `segue`: shows a screen as a transition of an interface file would.
  package static func segue(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    let kind = line.contains("detail") ? "showDetail" : "show"
    return OperationText(
      .segue,
      [
        ("kind", OperationText.string(kind)),
        ("screen", try newScreen(line, id: id, command: "segue")),
      ])
  }

  /// `open`: the screens of a route.
  package static func open(route: String) -> OperationText {
    OperationText(.open, [("route", OperationText.string(route))])
  }

  /// `revert`: the stack of an earlier revision.
  package static func revert(to text: String) throws(UsageError) -> OperationText {
    guard let revision = UInt64(text), revision > 0, revision < 1 << 53 else {
      throw UsageError(
        "revert takes the number of a revision, not '\(TerminalText.visible(text))'",
        remedy: "navctl history NAV tells them")
    }
    return OperationText(.revert, [("rev", Array("\(revision)".utf8))])
  }

  /// `restore`: what `save` wrote.
  package static func restore(payload: [UInt8], root: String?) throws(UsageError)
    -> OperationText
  {
    var arguments = [
      (
        "payload",
        try Quantities.jsonObject(String(decoding: payload, as: UTF8.self), what: "the file")
      )
    ]
    if let root { arguments.append(("root", try screen(root))) }
    return OperationText(.restore, arguments)
  }

  /// `screen`: makes a screen without showing it, changes one or forgets one.
  package static func screen(verb: String, words: [String]) throws(UsageError) -> OperationText {
    let usage = "navctl screen NAV create|set|release [ID] [KEY=VALUE...]"
    let id = words.first.flatMap { Members.isMember($0) ? nil : $0 }
    let members = try Members.parse(Array(words.dropFirst(id == nil ? 0 : 1)), usage: usage)
    if verb == "create" {
      if let id, id.hasPrefix("{") {
        guard members.isEmpty else {
          throw UsageError("a record in JSON takes no members beside it", remedy: usage)
        }
        return OperationText(
          .screenCreate, json: try Quantities.jsonObject(id, what: "a screen"))
      }
      return OperationText(
        .screenCreate, (id.map { [("id", OperationText.string($0))] } ?? []) + members)
    }
    guard verb == "set" || verb == "release" else {
      throw UsageError(
        "screen can create, set or release, not '\(TerminalText.visible(verb))'", remedy: usage)
    }
    guard let id else { throw UsageError("screen \(verb) needs the id of a screen", remedy: usage) }
    let name = [("screen", OperationText.string(id))]
    if verb == "release" {
      guard members.isEmpty else { throw UsageError("screen release takes no members") }
      return OperationText(.screenRelease, name)
    }
    guard !members.isEmpty else {
      throw UsageError("screen set changes nothing", remedy: "say what, as in title=TEXT")
    }
    return OperationText(.screenSet, name + members)
  }

  /// `push-item`: puts an item on a standalone bar.
  package static func pushItem(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    var item: [(String, [UInt8])] = []
    for name in ["title", "prompt"] {
      if let text = line.value(of: name) { item.append((name, OperationText.string(text))) }
    }
    if item.isEmpty, !line.contains("new") {
      guard let id else {
        throw UsageError(
          "push-item needs an item",
          remedy: "name one that is known, or describe it with --title TEXT")
      }
      return OperationText(.pushItem, [("item", try screen(id))])
    }
    try refuseRecord(id)
    var record = id.map { [("id", OperationText.string($0))] } ?? []
    if !item.isEmpty { record.append(("item", OperationText.object(item))) }
    return OperationText(.pushItem, [("item", OperationText.object(record))])
  }

  /// `set-items`: all items of a standalone bar, bottom first.
  package static func setItems(_ items: [String]) throws(UsageError) -> OperationText {
    var list: [[UInt8]] = []
    for text in items { list.append(try screen(text)) }
    return OperationText(.setItems, [("items", OperationText.array(list))])
  }

  /// The screen that a command shows: an id alone names one that is known, a record in JSON or
  /// anything else about it makes one.
  static func newScreen(
    _ line: ParsedCommandLine, id: String?, command: String
  ) throws(UsageError) -> [UInt8] {
    let others = try screenMembers(line, id: nil)
    if let id, others.isEmpty, !line.contains("new") { return try screen(id) }
    guard id != nil || !others.isEmpty || line.contains("new") else {
      throw UsageError(
        "\(command) needs a screen",
        remedy: "name a screen, or describe a new one with --title or --route")
    }
    try refuseRecord(id)
    return OperationText.object(try screenMembers(line, id: id))
  }

  private static func refuseRecord(_ id: String?) throws(UsageError) {
    guard let id, id.hasPrefix("{") else { return }
    throw UsageError("a record in JSON says everything itself; no option may add to it")
  }
}
