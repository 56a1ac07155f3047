import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync

/// `show`: draws a nav, and remembers what was shown.
enum ShowCommand: Command {
  static let declaration = CommandSet.Command(
    "show", "Draw a nav: bars, stack, what is presented", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    epilogue: """
      What is shown is remembered for this terminal: commands that remove are then refused if
      something else is there.

      Example: navctl show kiosk
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let nav = try invocation.navArguments().nav
    guard !nav.hasPrefix("$") else {
      throw UsageError(
        "\(nav) is a directory and shows nothing",
        remedy: nav == Directory.clients ? "navctl list --clients" : "navctl list")
    }
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
    let state = try Reading.value(answer.reply)
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      let elapsed = Reading.elapsed(invocation, &connection, nav: nav, state: state)
      try invocation.write(
        StateDrawing(columns: invocation.columns).lines(state, elapsed: elapsed))
    }
    Memory(invocation.environment, endpoint: connection.endpoint)
      .remember(Seen(state: state), of: nav)
    return 0
  }
}
