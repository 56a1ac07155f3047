import CommandLineOptions
import NavigationClient
import NavigationCore

/// `show`: draws a nav, and records the state as seen in this terminal.
enum ShowCommand: Command {
  static let declaration = CommandSet.Command(
    "show", "Draw a nav: bars, stack, presented screens", Subject.look, .init("NAV"),
    note: """
      navctl records the state as seen in this terminal. A command that removes screens then fails
      if the nav has changed in between.
      """, example: "show kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let nav = try invocation.navArguments().nav
    try require(
      !nav.hasPrefix("$"), "\(nav) is a directory, not a nav",
      remedy: nav == Directory.clients.nav ? "navctl list --clients" : "navctl list")
    var connection = try invocation.connect()
    let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
    let state = try Reading.value(answer.reply)
    if invocation.isJSON {
      try Output.record(.state, answer.body)
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
