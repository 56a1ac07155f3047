import CommandLineOptions
import NavigationClient
import NavigationCore

enum TransitionCommand: Command {
  static let declaration = CommandSet.Command(
    "transition", "Show or complete the running transition", Subject.touch,
    .init("NAV [complete TID]"),
    options: [Lease.option] + Change.options,
    note: """
      Without complete, navctl prints the running transition with its number TID. complete reports
      to navd that the display has shown it.
      """, example: "transition kiosk")

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments { $0 == "complete" }
    guard !arguments.rest.isEmpty else { return try show(invocation, arguments.nav) }
    try require(
      arguments.rest.count == 2 && arguments.rest[0] == "complete",
      "transition complete needs a transition's id", remedy: "navctl transition NAV complete TID")
    try Change.perform(
      invocation, nav: arguments.nav, [try Operations.completeTransition(arguments.rest[1])])
  }

  private static func show(_ invocation: Invocation, _ nav: String) throws {
    let daemon = try invocation.connect()
    let state = try daemon.get(.state, nav).reply.json()
    if invocation.isJSON {
      return try Output.record(.transition, state["transition"]?.bytes ?? Array("{}".utf8))
    }
    let elapsed = daemon.elapsed(nav: nav, state: state)
    let lines = TransitionDrawing(columns: invocation.columns)
      .lines(state["transition"], elapsed: elapsed)
    if lines.isEmpty { try Output.line("\(nav): no transition is running") }
    try invocation.write(lines)
  }
}
