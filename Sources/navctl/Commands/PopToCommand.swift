import CommandLineOptions
import NavctlSupport

/// `pop-to`: removes all screens above a screen.
enum PopToCommand: Command {
  static let declaration = CommandSet.Command(
    "pop-to", "Remove all screens above a screen", group: Subject.stack,
    arguments: PositionalArguments("NAV [ID]", count: 0...2),
    options: [
      OptionDeclaration("route", argument: "ROUTE", "The top-most screen with this route"),
      OptionDeclaration("unique", "Refuse if several screens have the route"),
    ] + Change.animatedOptions,
    epilogue: "Example: navctl pop-to kiosk --route settings")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let rest = invocation.line.contains("route") ? 0...0 : 1...1
    let arguments = try invocation.navArguments(rest: rest)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.popTo(invocation.line, id: arguments.rest.first)])
  }
}
