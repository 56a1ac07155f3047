import CommandLineOptions
import NavctlSupport

/// `segue`: shows a screen as a segue of an interface file does.
enum SegueCommand: Command {
  static let declaration = CommandSet.Command(
    "segue", "Show a screen as a segue does", group: Subject.stack,
    arguments: PositionalArguments("NAV [SCREEN]", count: 0...2),
    options: [OptionDeclaration("detail", "Use the kind showDetail, which presents; not show")]
      + NewScreen.options + Change.animatedOptions,
    epilogue: NewScreen.note + """

      Example: navctl segue kiosk wifi --title Wi-Fi
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let arguments = try invocation.navArguments(rest: 0...1)
    return try Change.perform(
      invocation, nav: arguments.nav,
      [try Operations.segue(invocation.line, id: arguments.rest.first)])
  }
}
