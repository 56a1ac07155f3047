import CommandLineOptions
import NavctlSupport

/// `title`: changes the title of a screen.
enum TitleCommand: Command {
  static let declaration = CommandSet.Command(
    "title", "Change the title of a screen", group: Subject.content,
    arguments: PositionalArguments("NAV SCREEN TEXT", count: 2...3), options: Change.options,
    epilogue: "Example: navctl title kiosk wifi 'Wi-Fi (on)'")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 2...2)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [Operations.title(screen: arguments.rest[0], text: arguments.rest[1])])
  }
}
