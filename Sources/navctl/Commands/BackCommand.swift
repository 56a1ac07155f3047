import CommandLineOptions
import NavigationClient
import NavigationCore

enum BackCommand: Command {
  static let declaration = CommandSet.Command(
    "back", "Tap back, or use the button's menu", Subject.touch, .init("NAV"),
    options: [
      .init("key", "Press the Back key: dismiss what is presented, or pop"),
      .init("to", argument: "ID", "Go back to this screen of the button's menu"),
      .init("menu", "Print the button's menu, nearest first, and change nothing"),
    ] + Change.options,
    note: """
      The tap needs the top screen to be the one you last saw; --to and --menu do not. The command
      fails if the bar shows no back button or a presented screen covers it. It also fails if the
      top screen does not let a person pop it (canPop). A pop does not look at any of this. --key
      needs the visible screen to be the one you last saw, and changes nothing at the root.
      """, example: "back kiosk --top wifi")

  static func run(_ invocation: Invocation) throws {
    let operation = try Operations.back(invocation.line, changeOptions: Change.options)
    guard let operation else { return try printMenu(invocation) }
    try Change.perform(invocation) { _ in [operation] }
  }

  private static func printMenu(_ invocation: Invocation) throws {
    let nav = try invocation.navArguments().nav
    let (reply, body) = try invocation.connect().get(.bar, nav)
    if invocation.isJSON { return try Output.record(.backMenu, body) }
    try Output.lines(BackMenuText.lines(try reply.json()))
  }
}
