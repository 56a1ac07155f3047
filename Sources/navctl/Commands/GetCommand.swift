import CommandLineOptions
import NavigationCore

enum GetCommand: Command {
  static let declaration = CommandSet.Command(
    "get", "Read one value of a nav", Subject.look, .init("NAV"),
    options: [
      .init(
        "what", argument: "WHAT",
        "state, top, bar, screen, detached, restoration, log, verify or stats",
        choices: [
          "state", "top", "bar", "screen", "detached", "restoration", "log", "verify", "stats",
        ]),
      .init("at", argument: "REV", "The value at this revision"),
      .init("screen", argument: "ID", "The screen to read with --what screen"),
    ],
    note: """
      Without NAV, stats returns the statistics of navd. For a backup see navctl backup.
      """, example: "get kiosk --what top -o json")

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let screen = line.value(of: "screen")
    let word = line.value(of: "what") ?? (screen == nil ? "state" : "screen")
    guard let what = GetRequest.What(word: word), what != .trace else {
      let words = GetRequest.What.allCases.filter { $0 != .trace }.map(\.word)
        .joined(separator: ", ")
      throw UsageError("--what takes one of \(words), not '\(word)'")
    }
    // Without a nav, `stats` is about the daemon; a backup always contains all navs.
    let isDaemon =
      [.backup, .config, .reload, .refusals].contains(what)
      || what == .stats && !invocation.namesNav
    let nav = isDaemon ? nil : try invocation.navArguments().nav
    try require(what != .screen || screen != nil, "--what screen needs --screen ID")
    try require(what == .screen || screen == nil, "--screen goes with --what screen")
    try require(
      !line.contains("at") || [.state, .top, .bar].contains(what),
      "--at goes with state, top and bar, not with \(word)")
    var request = GetRequest(id: 0, nav: nav, what: what)
    request.screen = screen
    request.at = try line.integer(of: "at").map { Revision($0) }
    let answer = try invocation.connect().get(request)
    if invocation.isJSON {
      return try Output.record(Record.Kind(rawValue: word) ?? .state, answer.body)
    }
    try Output.json(try answer.reply.json(), columns: invocation.columns)
  }
}
