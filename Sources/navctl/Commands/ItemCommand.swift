import CommandLineOptions
import NavctlSupport

/// `item`: changes the navigation item of a screen, which is its content in the bar.
enum ItemCommand: Command {
  static let declaration = CommandSet.Command(
    "item", "Change the content that a screen gives the bar", group: Subject.content,
    arguments: PositionalArguments("NAV SCREEN", count: 1...2),
    options: [
      OptionDeclaration("title", argument: "TEXT", "Title in the bar"),
      OptionDeclaration("prompt", argument: "TEXT", "Line above the title"),
      OptionDeclaration("left", argument: "BUTTON", "Button on the left; can be repeated"),
      OptionDeclaration("right", argument: "BUTTON", "Button on the right; the right-most first"),
      OptionDeclaration(
        "back-title", argument: "TEXT", "Title of the back button of the next screen"),
      OptionDeclaration("back-button", argument: "JSON", "That back button as a record"),
      OptionDeclaration("title-view", argument: "JSON", "A view in place of the title"),
      OptionDeclaration("hides-back-button", argument: "BOOL", "No back button while on top"),
      OptionDeclaration(
        "supplement", argument: "BOOL", "Show left buttons beside the back button"),
      OptionDeclaration("large-title", argument: "MODE", "automatic, always or never"),
      OptionDeclaration("unset", argument: "MEMBER", "Reset a member, by its name in JSON"),
      OptionDeclaration("on-stack", argument: "BOOL", "Refuse if the screen is not on the stack"),
    ] + Change.options,
    epilogue: """
      BUTTON is the id of a button, ID=TITLE for a new button, a record in JSON, or '' for no button
      on that side.

      Example: navctl item kiosk wifi --right scan=Scan --prompt 'Choose a network'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 1...1)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.item(invocation.line, screen: arguments.rest[0])])
  }
}
