import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationSync

/// `log`: who changed a nav, and how.
enum LogCommand: Command {
  static let declaration = CommandSet.Command(
    "log", "Show who changed a nav, and how", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("from", argument: "REV", "The first revision; else the last 100"),
      OptionDeclaration("limit", argument: "N", "How many revisions at most; 100 unless said"),
    ],
    epilogue: "Example: navctl log kiosk --limit 20")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let from = try line.value(of: "from").map { try Quantities.integer($0, option: "from") }
    let limit = try line.value(of: "limit").map { try Quantities.integer($0, option: "limit") }
    var connection = try invocation.connect()
    let answer = try Reading.log(
      invocation, &connection, nav: nav, from: from, limit: limit ?? 100)
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      for line in Tables.log(try Reading.value(answer.reply).elements) { try Output.line(line) }
    }
    return 0
  }
}
