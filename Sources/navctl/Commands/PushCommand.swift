import CommandLineOptions
import NavctlSupport

/// `push`: puts a screen on top.
enum PushCommand: Command {
  static let declaration = CommandSet.Command(
    "push", "Put a known or a new screen on top", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("if-absent", "It is no error if the screen is on the stack"),
      OptionDeclaration("show", "Use the operation show, which is animated"),
      OptionDeclaration(
        "sender", argument: "TEXT", "Origin of the request, for the log; needs --show"),
    ] + NewScreen.options + Change.animatedOptions,
    epilogue: NewScreen.note + """

      Example: navctl push kiosk wifi --title Wi-Fi --route settings/wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...1)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.push(invocation.line, id: arguments.rest.first)])
  }
}

/// Options of commands that show a screen and can create it.
enum NewScreen {
  static let options: [OptionDeclaration] = [
    OptionDeclaration("title", argument: "TEXT", "Title of the new screen", group: group),
    OptionDeclaration("route", argument: "ROUTE", "Route of the new screen", group: group),
    OptionDeclaration("args", argument: "JSON", "Arguments of the new screen", group: group),
    OptionDeclaration(
      "item-title", argument: "TEXT", "Title of its navigation item", group: group),
    OptionDeclaration(
      "restoration-id", argument: "ID", "Id for save and restore", group: group),
    OptionDeclaration("new", "Create the screen, even with its id alone", group: group),
  ]

  static let note = """
    SCREEN is the id of a screen that the nav knows, or a record in JSON. With any option about a
    new screen, SCREEN is the id of the screen that the command creates.

    """

  private static let group = "A new screen:"
}
