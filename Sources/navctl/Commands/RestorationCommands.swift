import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

/// `save`: writes what `restore` reads.
enum SaveCommand: Command {
  static let declaration = CommandSet.Command(
    "save", "Write what restore reads, to a file or stdout", group: Subject.stack,
    arguments: PositionalArguments("NAV [FILE]", count: 0...2),
    epilogue: """
      Only screens with a restoration id are written, and only if the nav has one too; see
      configure. The others are named on stderr. An existing FILE is replaced as a whole or not at
      all.

      Example: navctl save kiosk kiosk.json
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...1)
    var connection = try invocation.connect()
    let answer = try Reading.get(
      invocation, &connection, GetRequest(id: 0, nav: arguments.nav, what: .restoration))
    let payload = try Reading.value(answer.reply)
    let entries = payload["entries"]?.elements ?? []
    guard !entries.isEmpty else {
      // Nothing could be restored from it, and it might replace a file from which something can.
      throw PlainFailure(lines: nothing(arguments.nav), status: 1)
    }
    try tellLeftOut(invocation, &connection, arguments.nav, entries, answer.reply.revision)
    guard let path = arguments.rest.first, path != "-" else {
      try Output.line(payload.bytes)
      return 0
    }
    do throws(SystemError) {
      try writeFileAtomically(path, payload.bytes + [0x0A], mode: 0o644)
    } catch {
      throw PlainFailure(lines: ["file: \(error)"], status: 1)
    }
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      let revision = answer.reply.revision.map { "  rev \($0.number)" } ?? ""
      try Output.line(TerminalText.visible("\(arguments.nav)\(revision)  saved to \(path)"))
    }
    return 0
  }

  /// Names the screens of the stack that are not saved, if it is still the one that was saved.
  private static func tellLeftOut(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String,
    _ entries: [JSONValue], _ revision: Revision?
  ) throws {
    let state = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
    guard state.reply.revision == revision else { return }
    let saved = Set(entries.compactMap { $0["screen"]?["id"]?.string })
    let leftOut = (try Reading.value(state.reply)["screens"]?.elements ?? [])
      .compactMap { $0["id"]?.string }.filter { !saved.contains($0) }
    guard !leftOut.isEmpty else { return }
    Output.error(
      TerminalText.visible(
        "navctl: not saved, for they have no restoration id: \(leftOut.joined(separator: ", "))"))
    Output.error("  try: navctl screen \(nav) set \(leftOut[0]) restorationID=\(leftOut[0])")
  }

  private static func nothing(_ nav: String) -> [String] {
    [
      "nothing: \(nav) or its screens have no restoration id, so nothing would be saved",
      "try: navctl configure \(nav) restorationID=\(nav); "
        + "navctl screen \(nav) set ID restorationID=ID",
    ]
  }
}

/// `restore`: sets the stack to what `save` wrote.
enum RestoreCommand: Command {
  static let declaration = CommandSet.Command(
    "restore", "Replace the stack you last saw by a saved one", group: Subject.stack,
    arguments: PositionalArguments("NAV FILE", count: 1...2),
    options: [
      OptionDeclaration("root", argument: "SCREEN", "The root, an id or a record in JSON")
    ] + Changes.animatedOptions,
    epilogue: """
      FILE is what save wrote, or - for stdin.

      Example: navctl restore kiosk kiosk.json
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 1...1)
    let path = arguments.rest[0] == "-" ? "/dev/stdin" : arguments.rest[0]
    let payload: [UInt8]
    do throws(SystemError) {
      payload = try readSmallFile(path)
    } catch {
      throw UsageError("\(error)", remedy: "navctl restore NAV FILE, where save wrote FILE")
    }
    return try Changes.perform(
      invocation, nav: arguments.nav,
      [try Operations.restore(payload: payload, root: invocation.line.value(of: "root"))])
  }
}

/// `open`: shows the screens of a route.
enum OpenCommand: Command {
  static let declaration = CommandSet.Command(
    "open", "Replace the stack you last saw by a route's", group: Subject.stack,
    arguments: PositionalArguments("NAV ROUTE", count: 1...2), options: Changes.animatedOptions,
    epilogue: """
      The routes are a setting; see configure. Screens that agree stay.

      Example: navctl open kiosk settings/wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 1...1)
    return try Changes.perform(
      invocation, nav: arguments.nav, [Operations.open(route: arguments.rest[0])])
  }
}

/// `revert`: brings back the stack of an earlier revision.
enum RevertCommand: Command {
  static let declaration = CommandSet.Command(
    "revert", "Replace the stack you last saw by an earlier one", group: Subject.stack,
    arguments: PositionalArguments("NAV REV", count: 1...2), options: Changes.animatedOptions,
    epilogue: """
      REV is a revision of this epoch; history tells them, and draws the state with --at. The
      screens come back as they are today.

      Example: navctl revert kiosk 2
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 1...1)
    return try Changes.perform(
      invocation, nav: arguments.nav, [try Operations.revert(to: arguments.rest[0])])
  }
}
