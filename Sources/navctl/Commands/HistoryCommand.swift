import CommandLineOptions
import NavigationClient
import NavigationCore

enum HistoryCommand: Command {
  static let declaration = CommandSet.Command(
    "history", "Show the revisions of a nav, newest last", Subject.look, .init("NAV"),
    options: [
      .init("at", argument: "REV", "Draw the nav as it was at this revision"),
      .init("from", argument: "REV", "Begin at this revision, not with the last 20"),
      .init("limit", argument: "N", "Print at most N revisions; default 20"),
    ],
    note: """
      The output of --at does not count as seen, because it is not the present state.
      """, example: "history kiosk --at 2")

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let at = try line.integer(of: "at").map { Revision($0) }
    let (from, limit) = (try line.integer(of: "from"), try line.integer(of: "limit"))
    try require(
      at == nil || from == nil && limit == nil,
      "--at shows one revision; --from and --limit choose several")
    let daemon = try invocation.connect()
    if let at { return try draw(daemon, nav, at) }
    let answer = try daemon.log(nav: nav, from: from, limit: limit ?? 20)
    if invocation.isJSON { return try Output.record(.history, answer.body) }
    let entries = try answer.reply.json().elements
    let tops = try entries.map { try top(daemon, nav, $0) }
    try Output.lines(Tables.history(entries, tops: tops, columns: invocation.columns))
  }

  private static func draw(_ daemon: Daemon, _ nav: String, _ revision: Revision) throws {
    let answer = try daemon.get(.state, nav, at: revision)
    if daemon.invocation.isJSON { return try Output.record(.state, answer.body) }
    let drawing = StateDrawing(columns: daemon.invocation.columns)
    try daemon.invocation.write(drawing.lines(try answer.reply.json()))
  }

  /// The top screen after the revision of an entry; nil if that state cannot be read.
  private static func top(_ daemon: Daemon, _ nav: String, _ entry: JSONValue) throws -> String? {
    guard let revision = entry["rev"]?.integer, entry["bad"] == nil else { return nil }
    do {
      let reply = try daemon.get(.top, nav, at: Revision(revision)).reply
      return try reply.json()["id"]?.string ?? "none"
    } catch is Refusal {
      return nil
    }
  }
}
