import CommandLineOptions
import NavctlSupport

/// `push`: puts a screen on top.
enum PushCommand: Command {
  static let declaration = CommandSet.Command(
    "push", "Put a screen on top, a known or a new one", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [
      OptionDeclaration("if-absent", "It is no error if it is on the stack already"),
      OptionDeclaration("show", "Use the operation show, which has a transition"),
      OptionDeclaration("sender", argument: "TEXT", "Who asks, for --show and the log"),
    ] + NewScreen.options + Changes.animatedOptions,
    epilogue: NewScreen.note + """

      Example: navctl push kiosk wifi --title Wi-Fi --route settings/wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...1)
    return try Changes.perform(
      invocation, nav: arguments.nav,
      [try Operations.push(invocation.line, id: arguments.rest.first)])
  }
}

/// What commands have in common that may make the screen they show.
enum NewScreen {
  static let options: [OptionDeclaration] = [
    OptionDeclaration("title", argument: "TEXT", "Title of the new screen", group: group),
    OptionDeclaration("route", argument: "ROUTE", "Route of the new screen", group: group),
    OptionDeclaration("args", argument: "JSON", "Arguments of the new screen", group: group),
    OptionDeclaration(
      "item-title", argument: "TEXT", "Title of its navigation item", group: group),
    OptionDeclaration(
      "restoration-id", argument: "ID", "Id under which it is restored", group: group),
    OptionDeclaration("new", "Make the screen even if only its id is said", group: group),
  ]

  static let note = """
    SCREEN alone is the id of a screen that the nav knows, or a record in JSON; with anything more
    about it the screen is made.

    """

  private static let group = "A new screen:"
}
