import CommandLineOptions
import NavctlSupport

/// `set`: replaces the whole stack.
enum SetCommand: Command {
  static let declaration = CommandSet.Command(
    "set", "Replace the stack, if it is still the one you last saw", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN...]", count: 0...Int.max),
    options: Change.animatedOptions,
    epilogue: """
      The first SCREEN is the bottom; each is an id or a record in JSON. If NAVD_NAV is set, all
      arguments are screens.

      Example: navctl set kiosk home '{"id":"about","title":"About"}'
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...Int.max)
    return try Change.perform(
      invocation, nav: arguments.nav, [try Operations.set(arguments.rest)])
  }
}
