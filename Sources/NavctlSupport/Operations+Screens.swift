package import CommandLineOptions
import NavigationProtocol

extension Operations {
  /// Makes the operation of `present`, which shows a screen above the visible one.
  package static func present(_ line: ParsedCommandLine, id: String?) throws(UsageError)
    -> OperationText
  {
    var arguments = [("screen", try newScreen(line, id: id, command: "present"))]
    for name in ["from", "style"] {
      if let text = line.value(of: name) { arguments.append((name, OperationText.string(text))) }
    }
    return OperationText(.present, arguments)
  }

  /// Makes the operation of `dismiss`: ends all presentations, or those above the screen `--from`.
  package static func dismiss(_ line: ParsedCommandLine) -> OperationText {
    let from = line.value(of: "from").map { [("from", OperationText.string($0))] }
    return OperationText(.dismiss, from ?? [])
  }

  /// Makes the operation of `segue`, which shows a screen as a segue of an interface file does.
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

  /// Makes the operation of `open`, which replaces the stack by the screens of a route.
  package static func open(route: String) -> OperationText {
    OperationText(.open, [("route", OperationText.string(route))])
  }

  /// Makes the operation of `revert`, which restores the stack of an earlier revision.
  package static func revert(to text: String) throws(UsageError) -> OperationText {
    guard let revision = UInt64(text), revision > 0, revision < 1 << 53 else {
      throw UsageError(
        "revert takes the number of a revision, not '\(TerminalText.visible(text))'",
        remedy: "navctl history NAV, which lists them")
    }
    return OperationText(.revert, [("rev", Array("\(revision)".utf8))])
  }

  /// Makes the operation of `restore` from the contents of a file that `save` wrote.
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

  /// Makes the operation of `screen`: creates a screen without showing it, changes or releases one.
  package static func screen(verb: String, words: [String]) throws(UsageError) -> OperationText {
    let usage = "navctl screen NAV create|set|release [ID] [KEY=VALUE...]"
    let id = words.first.flatMap { Members.isMember($0) ? nil : $0 }
    let members = try Members.parse(Array(words.dropFirst(id == nil ? 0 : 1)), usage: usage)
    if verb == "create" {
      if let id, id.hasPrefix("{") {
        guard members.isEmpty else {
          throw UsageError("a record in JSON excludes KEY=VALUE", remedy: usage)
        }
        return OperationText(
          .screenCreate, json: try Quantities.jsonObject(id, what: "a screen"))
      }
      return OperationText(
        .screenCreate, (id.map { [("id", OperationText.string($0))] } ?? []) + members)
    }
    guard verb == "set" || verb == "release" else {
      throw UsageError(
        "screen takes create, set or release, not '\(TerminalText.visible(verb))'", remedy: usage)
    }
    guard let id else { throw UsageError("screen \(verb) needs the id of a screen", remedy: usage) }
    let name = [("screen", OperationText.string(id))]
    if verb == "release" {
      guard members.isEmpty else { throw UsageError("screen release takes no members") }
      return OperationText(.screenRelease, name)
    }
    guard !members.isEmpty else {
      throw UsageError("screen set needs KEY=VALUE", remedy: "for example title=TEXT")
    }
    return OperationText(.screenSet, name + members)
  }

  /// Makes the operation of `push-item`, which puts an item on a standalone bar.
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
          remedy: "give the id of a known item, or describe a new one with --title TEXT")
      }
      return OperationText(.pushItem, [("item", try screen(id))])
    }
    try refuseRecord(id)
    var record = id.map { [("id", OperationText.string($0))] } ?? []
    if !item.isEmpty { record.append(("item", OperationText.object(item))) }
    return OperationText(.pushItem, [("item", OperationText.object(record))])
  }

  /// Makes the operation of `set-items`, which replaces all items of a standalone bar.
  package static func setItems(_ items: [String]) throws(UsageError) -> OperationText {
    var list: [[UInt8]] = []
    for text in items { list.append(try screen(text)) }
    return OperationText(.setItems, [("items", OperationText.array(list))])
  }

  /// The screen that a command shows.
  ///
  /// An id alone refers to a known screen. A record in JSON, or any option about the screen,
  /// creates one.
  static func newScreen(
    _ line: ParsedCommandLine, id: String?, command: String
  ) throws(UsageError) -> [UInt8] {
    let others = try screenMembers(line, id: nil)
    if let id, others.isEmpty, !line.contains("new") { return try screen(id) }
    guard id != nil || !others.isEmpty || line.contains("new") else {
      throw UsageError(
        "\(command) needs a screen",
        remedy: "give the id of a screen, or describe a new one with --title or --route")
    }
    try refuseRecord(id)
    return OperationText.object(try screenMembers(line, id: id))
  }

  private static func refuseRecord(_ id: String?) throws(UsageError) {
    guard let id, id.hasPrefix("{") else { return }
    throw UsageError("a record in JSON excludes options about the screen")
  }
}
