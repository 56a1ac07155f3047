import CommandLineOptions
import NavctlSupport

/// `button`: creates, changes, releases or taps a button.
enum ButtonCommand: Command {
  static let declaration = CommandSet.Command(
    "button", "Create, change, release or tap a button", group: Subject.content,
    arguments: PositionalArguments("NAV VERB [ID]", count: 1...3),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title"),
      OptionDeclaration("image", argument: "REF", "Name of an image, or a record in JSON"),
      OptionDeclaration("landscape-image", argument: "REF", "Image for a flat display"),
      OptionDeclaration("system-item", argument: "NAME", "A predefined button, such as done"),
      OptionDeclaration("view", argument: "JSON", "A custom view of the application"),
      OptionDeclaration("style", argument: "STYLE", "plain or done"),
      OptionDeclaration("action", argument: "NAME", "Name of the action of a tap; nav.pop pops"),
      OptionDeclaration("unset", argument: "MEMBER", "Reset a member, by its name in JSON"),
    ] + Change.options,
    epilogue: """
      VERB is create, set, release or activate.

      Example: navctl button kiosk create scan --title Scan --action wifi.scan
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 1...2)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [
        try Operations.button(
          invocation.line, verb: arguments.rest[0], id: arguments.rest.dropFirst().first)
      ])
  }
}
