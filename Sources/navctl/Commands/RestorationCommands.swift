import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum SaveCommand: Command {
  static let declaration = CommandSet.Command(
    "save", "Save the stack for restore, to a file or stdout", Subject.stack, .init("NAV [FILE]"),
    note: """
      navctl saves only screens with a restoration id, and only if the nav has one too; see
      set. It names the others on stderr. It replaces an existing FILE as a whole or not at
      all.
      """, example: "save kiosk kiosk.json")

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments()
    let daemon = try invocation.connect()
    let answer = try daemon.get(.restoration, arguments.nav)
    let payload = try answer.reply.json()
    let entries = payload["entries"]?.elements ?? []
    guard !entries.isEmpty else {
      // An empty payload is useless, and could replace a file that still has screens.
      throw PlainFailure(lines: nothing(arguments.nav), status: 1)
    }
    try reportOmitted(daemon, arguments.nav, entries, answer.reply.revision)
    guard let path = arguments.rest.first, path != "-" else {
      return try Output.json(payload.bytes)
    }
    do throws(SystemError) {
      try writeFileAtomically(path, payload.bytes + [0x0A], mode: 0o644)
    } catch {
      throw PlainFailure(lines: ["file: \(error)"], status: 1)
    }
    if invocation.isJSON { return try Output.record(.saved, answer.body) }
    let revision = answer.reply.revision.map { "  rev \($0.number)" } ?? ""
    try Output.line(TerminalText.visible("\(arguments.nav)\(revision)  saved to \(path)"))
  }

  /// Names the screens that were not saved, unless the nav has changed since the save.
  private static func reportOmitted(
    _ daemon: Daemon, _ nav: String, _ entries: [JSONValue], _ revision: Revision?
  ) throws {
    let state = try daemon.get(.state, nav)
    guard state.reply.revision == revision else { return }
    let saved = Set(entries.compactMap { $0["screen"]?["id"]?.string })
    let omitted = (try state.reply.json()["screens"]?.elements ?? [])
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

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let within = try line.milliseconds(of: "within")
    try require(
      within == nil || line.contains("expect"), "--within goes with --expect",
      remedy: "--expect SCREEN --within 2s")
    try Change.perform(invocation) { [.open($0[0])] }
    guard let expected = line.value(of: "expect"), !line.contains("dry-run"), invocation.plan == nil
    else { return }
    _ = try WaitCommand.mirror(
      of: invocation.navArguments().nav, meeting: .shows(expected), invocation.connect(),
      Countdown(within ?? 2000))
  }
}
