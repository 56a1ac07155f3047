import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `pop`: removes the top screen.
enum PopCommand: Command {
  static let declaration = CommandSet.Command(
    "pop", "Pop the top screen, if it is still the one you last saw", group: Subject.stack,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: Change.animatedOptions,
    epilogue: "Example: navctl pop kiosk --top wifi")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments()
    return try Change.perform(
      invocation, nav: arguments.nav, [.pop()])
  }
}
