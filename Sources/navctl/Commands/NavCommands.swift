import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `create`: creates a nav.
enum CreateCommand: Command {
  static let declaration = CommandSet.Command(
    "create", "Create a nav and put it on display", group: Subject.navs,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration(
        "kind", argument: "KIND", "controller, or bar for a standalone bar",
        choices: ["controller", "bar"]),
      OptionDeclaration("root", argument: "ID", "Id of the root screen, or a record in JSON"),
      OptionDeclaration("title", argument: "TEXT", "Title of the root screen"),
      OptionDeclaration("route", argument: "ROUTE", "Route of the root screen"),
      OptionDeclaration("args", argument: "JSON", "Arguments of the root screen"),
      OptionDeclaration("restoration-id", argument: "ID", "Restoration id of the root screen"),
      OptionDeclaration("bar-class", argument: "NAME", "Class of the bar; needs --detached"),
      OptionDeclaration(
        "toolbar-class", argument: "NAME", "Class of the toolbar; needs --detached"),
      OptionDeclaration("settings", argument: "JSON", "Settings of the nav"),
      OptionDeclaration("detached", "Do not put it on display; a root is optional"),
      OptionDeclaration("if-absent", "It is no error if the nav exists"),
      Change.dryRunOption,
    ],
    epilogue: "Example: navctl create kiosk --root home --title Home")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in try Operations.create(invocation.line) }
  }
}

/// `close`: removes a nav.
enum CloseCommand: Command {
  static let declaration = CommandSet.Command(
    "close", "Remove a nav, if it is still as you last saw it", group: Subject.navs,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: "Example: navctl close kiosk --any")

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.close()] }
  }
}
