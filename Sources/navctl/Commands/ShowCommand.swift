import CommandLineOptions
import NavigationClient
import NavigationCore

enum ShowCommand: Command {
  static let declaration = CommandSet.Command(
    "show", "Draw a nav: bars, stack, presented screens", Subject.look, .init("NAV"),
    note: """
      navctl records the state as seen in this terminal. A command that removes screens then fails
      if the nav has changed in between.
      """, example: "show kiosk")

  static func run(_ invocation: Invocation) throws {
    let nav = try invocation.navArguments().nav
    try require(
      !nav.hasPrefix("$"), "\(nav) is a directory, not a nav",
      remedy: nav == Directory.clients.nav ? "navctl list --clients" : "navctl list")
    let daemon = try invocation.connect()
    let answer = try daemon.get(.state, nav)
    let state = try answer.reply.json()
    if invocation.isJSON {
      try Output.record(.state, answer.body)
    } else {
      let elapsed = daemon.elapsed(nav: nav, state: state)
      try invocation.write(StateDrawing(columns: invocation.columns).lines(state, elapsed: elapsed))
    }
    Memory(invocation.environment, endpoint: daemon.endpoint).remember(Seen(state: state), of: nav)
  }
}
