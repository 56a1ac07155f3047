import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// `save`: writes the restorable screens of the stack to a file for `restore`.
enum SaveCommand: Command {
  static let declaration = CommandSet.Command(
    "save", "Save the stack for restore, to a file or stdout", Subject.stack, .init("NAV [FILE]"),
    note: """
      navctl saves only screens with a restoration id, and only if the nav has one too; see
      set. It names the others on stderr. It replaces an existing FILE as a whole or not at
      all.
      """, example: "save kiosk kiosk.json")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments()
    var connection = try invocation.connect()
    let answer = try Reading.get(
      invocation, &connection, GetRequest(id: 0, nav: arguments.nav, what: .restoration))
    let payload = try Reading.value(answer.reply)
    let entries = payload["entries"]?.elements ?? []
    guard !entries.isEmpty else {
      // An empty payload is useless, and could replace a file that still has screens.
      throw PlainFailure(lines: nothing(arguments.nav), status: 1)
    }
    try reportOmitted(invocation, &connection, arguments.nav, entries, answer.reply.revision)
    guard let path = arguments.rest.first, path != "-" else {
      try Output.json(payload.bytes)
      return 0
    }
    do throws(SystemError) {
      try writeFileAtomically(path, payload.bytes + [0x0A], mode: 0o644)
    } catch {
      throw PlainFailure(lines: ["file: \(error)"], status: 1)
    }
    if invocation.isJSON {
      try Output.record(.saved, answer.body)
    } else {
      let revision = answer.reply.revision.map { "  rev \($0.number)" } ?? ""
      try Output.line(TerminalText.visible("\(arguments.nav)\(revision)  saved to \(path)"))
    }
    return 0
  }

  /// Names the screens that were not saved, unless the nav has changed since the save.
  private static func reportOmitted(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String,
    _ entries: [JSONValue], _ revision: Revision?
  ) throws {
    let state = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
    guard state.reply.revision == revision else { return }
    let saved = Set(entries.compactMap { $0["screen"]?["id"]?.string })
    let omitted = (try Reading.value(state.reply)["screens"]?.elements ?? [])
      .compactMap { $0["id"]?.string }.filter { !saved.contains($0) }
    guard !omitted.isEmpty else { return }
    Output.error(
      TerminalText.visible(
        "navctl: not saved, because they have no restoration id: \(omitted.joined(separator: ", "))"
      ))
    Output.error("  try: navctl set \(nav) screen \(omitted[0]) restorationID=\(omitted[0])")
  }

  private static func nothing(_ nav: String) -> [String] {
    [
      "nothing: \(nav) or its screens have no restoration id, so there is nothing to save",
      "try: navctl set \(nav) settings restorationID=\(nav); "
        + "navctl set \(nav) screen ID restorationID=ID",
    ]
  }
}

/// `restore`: replaces the stack by one that `save` wrote.
enum RestoreCommand: Command {
  static let declaration = CommandSet.Command(
    "restore", "Replace the stack by a saved one", Subject.stack, .init("NAV FILE"),
    options: [
      .init("root", argument: "SCREEN", "The root if no saved screen can be restored")
    ] + Change.options,
    note: """
      FILE is the output of save, or - for stdin.
      """, example: "restore kiosk kiosk.json")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments()
    let text = try InputLines.text(
      of: arguments.rest[0], remedy: "navctl restore NAV FILE, where save wrote FILE")
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.restore(text, root: invocation.line.value(of: "root"))])
  }
}

/// `open`: replaces the stack by the screens of a route.
enum OpenCommand: Command {
  static let declaration = CommandSet.Command(
    "open", "Replace the stack by the screens of a route", Subject.stack, .init("NAV ROUTE"),
    options: [
      .init("expect", argument: "SCREEN", "Then wait until the top has this id or route"),
      .init("within", argument: "TIME", "How long to wait for --expect, such as 500ms; default 2s"),
    ] + Change.options,
    note: """
      The setting routes defines them; see set and routes. Screens that agree with the route
      stay. With --expect, the status is 4 if something else is on top when the time is up.
      """, example: "open kiosk settings/wifi --expect settings/wifi")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let within = try line.value(of: "within").map {
      try Quantities.milliseconds($0, option: "within")
    }
    try require(
      within == nil || line.contains("expect"), "--within goes with --expect",
      remedy: "--expect SCREEN --within 2s")
    let status = try Change.perform(invocation) { [.open($0[0])] }
    guard let expected = line.value(of: "expect"), !line.contains("dry-run"),
      invocation.plan == nil
    else { return status }
    let nav = try invocation.navArguments().nav
    var connection = try invocation.connect()
    _ = try WaitCommand.mirror(
      of: nav, meeting: .shows(expected), invocation, &connection, Countdown(within ?? 2000))
    return status
  }
}
