import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore

/// `close`: removes a nav.
enum CloseCommand: Command {
  static let declaration = CommandSet.Command(
    "close", "Remove a nav, if it is still as you last saw it", group: Subject.navs,
    arguments: PositionalArguments("NAV", count: 0...1), options: Change.options,
    epilogue: "Example: navctl close kiosk --any")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments()
    return try Change.perform(invocation, nav: arguments.nav, [.close()])
  }
}
