import CommandLineOptions
import NavigationClient
import NavigationCore

/// `history`: prints the log with the top screen after each revision, or draws an old state.
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

  static func run(_ invocation: Invocation) throws -> Int32 {
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let at = try line.value(of: "at").map { Revision(try Quantities.integer($0, option: "at")) }
    let from = try line.value(of: "from").map { try Quantities.integer($0, option: "from") }
    let limit = try line.value(of: "limit").map { try Quantities.integer($0, option: "limit") }
    try require(
      at == nil || from == nil && limit == nil,
      "--at shows one revision; --from and --limit choose several")
    var connection = try invocation.connect()
    if let at { return try draw(invocation, &connection, nav, at) }
    let answer = try Reading.log(
      invocation, &connection, nav: nav, from: from, limit: limit ?? 20)
    if invocation.isJSON {
      try Output.record(.history, answer.body)
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
      try Output.record(.state, answer.body)
    } else {
      let state = try Reading.value(answer.reply)
      try invocation.write(StateDrawing(columns: invocation.columns).lines(state))
    }
    return 0
  }

  /// The top screen after the revision of an entry; nil if that state cannot be read.
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
