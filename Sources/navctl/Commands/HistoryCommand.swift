import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync

/// `history`: the log for people, with what was on top, and the state at any of its revisions.
enum HistoryCommand: Command {
  static let declaration = CommandSet.Command(
    "history", "Show what became of a nav, newest last", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("at", argument: "REV", "Draw the nav as it was at this revision"),
      OptionDeclaration("from", argument: "REV", "The first revision; else the last 20"),
      OptionDeclaration("limit", argument: "N", "How many revisions at most; 20 unless said"),
    ],
    epilogue: """
      What --at draws does not count as seen, for it is not what is there.

      Example: navctl history kiosk --at 2
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let at = try line.value(of: "at").map { Revision(try Quantities.integer($0, option: "at")) }
    let from = try line.value(of: "from").map { try Quantities.integer($0, option: "from") }
    let limit = try line.value(of: "limit").map { try Quantities.integer($0, option: "limit") }
    guard at == nil || from == nil && limit == nil else {
      throw UsageError("--at shows one revision; --from and --limit choose several")
    }
    var connection = try invocation.connect()
    if let at { return try draw(invocation, &connection, nav, at) }
    let answer = try Reading.log(
      invocation, &connection, nav: nav, from: from, limit: limit ?? 20)
    if invocation.isJSON {
      try Output.line(answer.body)
      return 0
    }
    let entries = try Reading.value(answer.reply).elements
    let tops = try entries.map { try top(invocation, &connection, nav, $0) }
    for line in Tables.history(entries, tops: tops, columns: invocation.columns) {
      try Output.line(line)
    }
    return 0
  }

  private static func draw(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String,
    _ revision: Revision
  ) throws -> Int32 {
    var request = GetRequest(id: 0, nav: nav)
    request.at = revision
    let answer = try Reading.get(invocation, &connection, request)
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      let state = try Reading.value(answer.reply)
      try invocation.write(StateDrawing(columns: invocation.columns).lines(state))
    }
    return 0
  }

  /// The top screen right after an entry; nil where the history does not tell.
  private static func top(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String,
    _ entry: JSONValue
  ) throws -> String? {
    guard let revision = entry["rev"]?.integer, entry["bad"] == nil else { return nil }
    var request = GetRequest(id: 0, nav: nav, what: .top)
    request.at = Revision(revision)
    do {
      let reply = try Reading.get(invocation, &connection, request).reply
      return try Reading.value(reply)["id"]?.string ?? "none"
    } catch is Refusal {
      return nil
    }
  }
}
