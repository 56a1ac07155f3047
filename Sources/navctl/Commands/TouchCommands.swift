import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `back`: taps the back button.
enum BackCommand: Command {
  static let declaration = CommandSet.Command(
    "back", "Tap back, or use the button's menu", group: Subject.touch,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("to", argument: "ID", "Go back to this screen of the button's menu"),
      OptionDeclaration("menu", "Print the button's menu, nearest first, and change nothing"),
    ] + Change.options,
    epilogue: """
      The tap needs the top screen to be the one you last saw; --to and --menu do not. The command
      fails if the bar shows no back button or a presented screen covers it. It also fails if the
      top screen does not let a person pop it (canPop). A pop does not look at any of this.

      Example: navctl back kiosk --top wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let operation = try Operations.back(
      invocation.line, changeOptions: Change.options)
    guard let operation else { return try printMenu(invocation) }
    return try Change.perform(invocation) { _ in [operation] }
  }

  private static func printMenu(_ invocation: Invocation) throws -> Int32 {
    let nav = try invocation.navArguments(rest: 0...0).nav
    var connection = try invocation.connect()
    let (reply, body) = try Reading.get(
      invocation, &connection, GetRequest(id: 0, nav: nav, what: .bar))
    if invocation.isJSON {
      try Output.record(.backMenu, body)
    } else {
      for line in BackMenuText.lines(try Reading.value(reply)) { try Output.line(line) }
    }
    return 0
  }
}

/// `tap`: taps the content.
enum TapCommand: Command {
  static let declaration = CommandSet.Command(
    "tap", "Tap the content, which may hide the bars", group: Subject.touch,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: """
      A tap hides or shows the bars if the setting hidesBarsOnTap is true; see configure.

      Example: navctl tap kiosk
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.tap()] }
  }
}

/// `swipe`: swipes over the content.
enum SwipeCommand: Command {
  static let declaration = CommandSet.Command(
    "swipe", "Swipe over the content, which may hide the bars", group: Subject.touch,
    arguments: PositionalArguments("NAV DIRECTION", count: 1...2),
    options: Change.options,
    epilogue: """
      DIRECTION is up, which hides the bars, or down, which shows them, if the setting
      hidesBarsOnSwipe is true; see configure.

      Example: navctl swipe kiosk up
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 1...1) { [try Operations.swipe($0[0])] }
  }
}
