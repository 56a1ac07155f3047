import CommandLineOptions
import NavigationCore

enum LogCommand: Command {
  static let declaration = CommandSet.Command(
    "log", "Show the author and the operations of each change", Subject.look, .init("NAV"),
    options: [
      .init("from", argument: "REV", "Begin at this revision, not with the last 100"),
      .init("limit", argument: "N", "Print at most N revisions; default 100"),
    ],
    example: "log kiosk --limit 20")

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let (from, limit) = (try line.integer(of: "from"), try line.integer(of: "limit"))
    let answer = try invocation.connect().log(nav: nav, from: from, limit: limit ?? 100)
    if invocation.isJSON { return try Output.record(.log, answer.body) }
    let entries = try answer.reply.json().elements
    try Output.lines(Tables.log(entries, columns: invocation.tableColumns))
  }
}
