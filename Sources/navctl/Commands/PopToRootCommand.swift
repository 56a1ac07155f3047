import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `pop-to-root`: removes all screens above the root.
enum PopToRootCommand: Command {
  static let declaration = CommandSet.Command(
    "pop-to-root", "Remove all screens above the root", group: Subject.stack,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: Change.animatedOptions,
    epilogue: "Example: navctl pop-to-root kiosk")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments()
    return try Change.perform(
      invocation, nav: arguments.nav, [.popToRoot()])
  }
}
