import CommandLineOptions
import NavigationClient
import NavigationCore

extension Operations {
  static func present(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["screen": try newScreen(line, id: id, command: "present")]
    for name in ["from", "style"] { arguments.add(name, line.value(of: name)) }
    return NavigationOperation(.present, arguments)
  }

  static func dismiss(_ line: Line) throws(UsageError) -> NavigationOperation {
    let result = try result(line)
    guard line.contains("swipe") else {
      return .dismiss(from: line.value(of: "from"), result: result)
    }
    try require(
      !line.contains("from"), "--swipe is about the outermost screen, so it takes no --from")
    return .swipeDown(result: result)
  }

  /// Makes the operation of `back`; nil if it only prints the menu.
  ///
  /// `--menu` takes none of the options of a change.
  static func back(
    _ line: Line, changeOptions: [OptionDeclaration]
  ) throws(UsageError) -> NavigationOperation? {
    guard line.contains("menu") else {
      guard line.contains("key") else {
        return line.value(of: "to").map { .backMenu($0) } ?? .backTap()
      }
      try require(!line.contains("to"), "--key presses a key, so it takes no --to")
      return .backKey()
    }
    let others = ["to", "key"] + changeOptions.map(\.name)
    if let other = others.first(where: line.contains) {
      throw UsageError("--menu changes nothing, so it takes no --\(other)")
    }
    return nil
  }

  static let resultOption = OptionDeclaration(
    "result", argument: "JSON", "Result of the lowest removed screen, for the client that waits")

  static func pop(_ line: Line) throws(UsageError) -> NavigationOperation {
    .pop(result: try result(line))
  }

  static func result(_ line: Line) throws(UsageError) -> NavigationValue? {
    guard let text = line.value(of: "result") else { return nil }
    do {
      return try NavigationValue(json: text)
    } catch {
      throw UsageError("--result is not JSON: \(error.message)")
    }
  }

  static func segue(_ line: Line, id: String?) throws(UsageError) -> NavigationOperation {
    let kind: OpaqueJSON = .string(line.contains("detail") ? "showDetail" : "show")
    return NavigationOperation(
      .segue, ["kind": kind, "screen": try newScreen(line, id: id, command: "segue")])
  }

  static func revert(to text: String) throws(UsageError) -> NavigationOperation {
    guard let revision = Quantities.integer(text), revision > 0 else {
      throw UsageError(
        "revert takes the number of a revision, not '\(TerminalText.visible(text))'",
        remedy: "navctl history NAV, which lists them")
    }
    return .revert(to: revision)
  }

  /// Makes the operation of `restore` from the contents of a file that `save` wrote.
  static func restore(_ text: String, root: String?) throws(UsageError) -> NavigationOperation {
    var arguments: JSONObject = ["payload": try Quantities.jsonObject(text, what: "the file")]
    if let root { arguments.add("root", try screen(root)) }
    return NavigationOperation(.restore, arguments)
  }

  /// The screen that a command shows.
  ///
  /// An id alone refers to a known screen. A record in JSON, or any option about the screen,
  /// creates one.
  static func newScreen(
    _ line: Line, id: String?, command: String
  ) throws(UsageError) -> OpaqueJSON {
    let others = try screenMembers(line, id: nil)
    if let id, others.isEmpty, !line.contains("new") { return try screen(id) }
    try require(
      id != nil || !others.isEmpty || line.contains("new"), "\(command) needs a screen",
      remedy: "give the id of a screen, or describe a new one with --title or --route")
    try refuseRecord(id)
    return .object(try screenMembers(line, id: id))
  }

  private static func refuseRecord(_ id: String?) throws(UsageError) {
    guard let id, id.hasPrefix("{") else { return }
    throw UsageError("a record in JSON excludes options about the screen")
  }
}
