import CommandLineOptions
import NavigationCore

/// `log`: prints the author and the operations of each change.
enum LogCommand: Command {
  static let declaration = CommandSet.Command(
    "log", "Show the author and the operations of each change", Subject.look, .init("NAV"),
    options: [
      .init("from", argument: "REV", "Begin at this revision, not with the last 100"),
      .init("limit", argument: "N", "Print at most N revisions; default 100"),
    ],
    example: "log kiosk --limit 20")

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let from = try line.value(of: "from").map { try Quantities.integer($0, option: "from") }
    let limit = try line.value(of: "limit").map { try Quantities.integer($0, option: "limit") }
    var connection = try invocation.connect()
    let answer = try Reading.log(
      invocation, &connection, nav: nav, from: from, limit: limit ?? 100)
    if invocation.isJSON {
      try Output.record(.log, answer.body)
    } else {
      for line in Tables.log(
        try Reading.value(answer.reply).elements, columns: invocation.tableColumns)
      { try Output.line(line) }
    }
    return 0
  }
}
