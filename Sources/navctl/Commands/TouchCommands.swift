import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `back`: taps the back button.
enum BackCommand: Command {
  static let declaration = CommandSet.Command(
    "back", "Tap back, if the top screen is the one you last saw", group: Subject.touch,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.animatedOptions,
    epilogue: """
      Unlike pop, the command fails if the bar shows no back button, if a presented screen covers
      it, or if the top screen does not let a person pop it (canPop).

      Example: navctl back kiosk --top wifi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation) { _ in [.backTap()] }
  }
}

/// `tap`: taps the content.
enum TapCommand: Command {
  static let declaration = CommandSet.Command(
    "tap", "Tap the content, which may hide the bars", group: Subject.touch,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.animatedOptions,
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
    options: Change.animatedOptions,
    epilogue: """
      DIRECTION is up, which hides the bars, or down, which shows them, if the setting
      hidesBarsOnSwipe is true; see configure.

      Example: navctl swipe kiosk up
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    try Change.perform(invocation, rest: 1...1) { [try Operations.swipe($0[0])] }
  }
}
