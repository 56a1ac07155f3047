import CommandLineOptions
import NavctlSupport

/// `push`: puts a screen on top.
enum PushCommand: Command {
  static let declaration = CommandSet.Command(
    "push", "Put a screen on top, a known or a new one",
    arguments: PositionalArguments("NAV [ID]", count: 0...2),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title of the new screen"),
      OptionDeclaration("route", argument: "ROUTE", "Route of the new screen"),
      OptionDeclaration("args", argument: "JSON", "Arguments of the new screen"),
      OptionDeclaration("item-title", argument: "TEXT", "Title of its navigation item"),
      OptionDeclaration("new", "Make the screen even if only its id is said"),
      OptionDeclaration("if-absent", "It is no error if it is on the stack already"),
      OptionDeclaration("show", "Use the operation show"),
      OptionDeclaration("animated", "With a transition"),
    ] + Changes.options,
    epilogue: "Example: navctl push kiosk wifi --title Wi-Fi --route settings/wifi")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...1)
    return try Changes.perform(
      invocation, nav: arguments.nav,
      [try Operations.push(invocation.line, id: arguments.rest.first)],
      isAnimated: invocation.line.contains("animated") ? true : nil)
  }
}
