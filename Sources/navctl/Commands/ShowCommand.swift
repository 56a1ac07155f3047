import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync

/// `show`: draws a nav, and remembers what was shown.
enum ShowCommand: Command {
  static let declaration = CommandSet.Command(
    "show", "Draw the bar and the stack of a nav",
    arguments: PositionalArguments("NAV", count: 0...1),
    epilogue: """
      What is shown is remembered for this terminal: pop, set and close are then refused if
      something else is there.

      Example: navctl show kiosk
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let nav = try invocation.navArguments().nav
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
    let state = try Reading.value(answer.reply)
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      try invocation.write(StateDrawing(columns: invocation.columns).lines(state))
    }
    Memory(invocation.environment, endpoint: connection.endpoint)
      .remember(Seen(state: state), of: nav)
    return 0
  }
}
