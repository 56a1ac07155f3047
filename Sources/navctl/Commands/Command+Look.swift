import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import RuntimePaths

// The commands that show navs.
extension Command {
  static let show = Command(
    "show", "Draw a nav: bars, stack, presented screens", HelpGroup.look, .init("NAV"),
    note: """
      navctl records the state as seen in this terminal. A command that removes screens then fails
      if the nav has changed in between.
      """, example: "show kiosk"
  ) { invocation in
    let nav = try invocation.navArguments().nav
    try require(
      !nav.hasPrefix("$"), "\(nav) is a directory, not a nav",
      remedy: nav == DirectoryNav.clients.nav ? "navctl list --clients" : "navctl list")
    let daemon = try invocation.connect()
    let answer = try daemon.get(.state, nav)
    let state = try answer.reply.json()
    let elapsed = invocation.isJSON ? nil : daemon.transitionAge(nav: nav, state: state)
    try draw(answer, invocation, elapsed: elapsed)
    SeenStates(invocation.environment, endpoint: daemon.endpoint).remember(
      SeenState(state: state), of: nav)
  }

  static let inspectInBrowser = Command(
    "inspect", "Show the navs, their history and any moment of it in a browser", HelpGroup.look,
    .init("NAV"),
    options: [
      .init("print", "Print the address, and start no browser"),
      .init("listen", argument: "ADDRESS", "Listen on ADDRESS:PORT; else a free port of 127.0.0.1"),
    ],
    note: """
      The page has the rights of its caller and can change nothing. The address works once, within
      60 s; Ctrl-C ends the inspector. The command runs navd-web --inspector, of the package navd-inspector.
      On another machine: ssh -L 9721:127.0.0.1:9721 DEVICE navctl inspect --print --listen
      127.0.0.1:9721
      """, example: "inspect kiosk"
  ) { invocation in
    let nav = try invocation.optionalNav()
    // An error of the connection ends the command before a browser shows it.
    let daemon = try invocation.connect()
    try daemon.openSession()
    try daemon.connection.leave()
    var words = ["--inspector", "--endpoint", daemon.endpoint]
    for (option, value) in [("--nav", nav), ("--listen", invocation.line.value(of: "listen"))] {
      if let value { words += [option, value] }
    }
    let environment = invocation.environment
    let hasDesktop = environment["DISPLAY"] != nil || environment["WAYLAND_DISPLAY"] != nil
    if hasDesktop, !invocation.line.contains("print") { words.append("--open") }
    for (option, variable) in [("key", "NAVD_KEY"), ("server-key", "NAVD_SERVER_KEY")] {
      if let value = invocation.line.value(of: option) { unsafe setenv(variable, value, 1) }
    }
    throw Subprocess.exec(
      RunningProgram.executable(named: "navd-web"), ["navd-web"] + words,
      remedy: "install the package navd-inspector, or put the directory of navd-web into PATH")
  }

  static let history = Command(
    "history", "Show the revisions of a nav, newest last", HelpGroup.look, .init("NAV"),
    options: [
      .init("at", argument: "REV", "Draw the nav as it was at this revision"),
      .init("from", argument: "REV", "Begin at this revision, not with the last 20"),
      .init("limit", argument: "N", "Print at most N revisions; default 20"),
    ],
    note: """
      The output of --at does not count as seen, because it is not the present state.
      """, example: "history kiosk --at 2"
  ) { invocation in
    let line = invocation.line
    let nav = try invocation.navArguments().nav
    let at = try line.integer(of: "at").map { Revision($0) }
    let (from, limit) = (try line.integer(of: "from"), try line.integer(of: "limit"))
    try require(
      at == nil || from == nil && limit == nil,
      "--at shows one revision; --from and --limit choose several")
    let daemon = try invocation.connect()
    if let at { return try draw(try daemon.get(.state, nav, at: at), invocation) }
    let answer = try daemon.log(nav: nav, from: from, limit: limit ?? 20)
    if invocation.isJSON { return try Output.record(JSONRecord(.history, answer.body)) }
    let entries = try answer.reply.json().elements
    let tops = try entries.map { try topScreen(daemon, nav, $0) }
    try Output.lines(Tables.history(entries, tops: tops, columns: invocation.columns))
  }

  private static let readableValues = [
    "state", "top", "bar", "screen", "detached", "restoration", "log", "verify", "stats",
  ]

  static let getValue = Command(
    "get", "Read one value of a nav", HelpGroup.look, .init("NAV"),
    options: [
      .init(
        "what", argument: "WHAT",
        [String](readableValues.dropLast()).joined(separator: ", ") + " or stats",
        choices: readableValues),
      .init("at", argument: "REV", "The value at this revision"),
      .init("screen", argument: "ID", "The screen to read with --what screen"),
    ],
    note: """
      Without NAV, stats returns the statistics of navd. For a backup see navctl backup.
      """, example: "get kiosk --what top -o json"
  ) { invocation in
    let line = invocation.line
    let screen = line.value(of: "screen")
    let word = line.value(of: "what") ?? (screen == nil ? "state" : "screen")
    guard let what = GetRequest.What(word: word), what != .trace else {
      let words = GetRequest.What.allCases.filter { $0 != .trace }.map(\.word)
        .joined(separator: ", ")
      throw UsageError("--what takes one of \(words), not '\(word)'")
    }
    // Without a nav, `stats` is about the daemon; a backup always contains all navs.
    let isAboutDaemon =
      [.backup, .config, .reload, .refusals].contains(what)
      || what == .stats && !invocation.namesNav
    let nav = isAboutDaemon ? nil : try invocation.navArguments().nav
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
      return try Output.record(JSONRecord(JSONRecord.Kind(rawValue: word) ?? .state, answer.body))
    }
    try Output.json(try answer.reply.json(), columns: invocation.columns)
  }

  static let log = Command(
    "log", "Show the author and the operations of each change", HelpGroup.look, .init("NAV"),
    options: [
      .init("from", argument: "REV", "Begin at this revision, not with the last 100"),
      .init("limit", argument: "N", "Print at most N revisions; default 100"),
    ],
    example: "log kiosk --limit 20"
  ) { invocation in
    let nav = try invocation.navArguments().nav
    let from = try invocation.line.integer(of: "from")
    let limit = try invocation.line.integer(of: "limit") ?? 100
    let answer = try invocation.connect().log(nav: nav, from: from, limit: limit)
    if invocation.isJSON { return try Output.record(JSONRecord(.log, answer.body)) }
    let entries = try answer.reply.json().elements
    try Output.lines(Tables.log(entries, columns: invocation.tableColumns))
  }

  static let why = Command(
    "why", "Show which client put a screen there, when and how", HelpGroup.look,
    .init("NAV SCREEN"),
    note: """
      The answer comes from the log of the nav, so it goes back as far as the log does. For a screen
      that is gone, it also has the revision that took it away. The status is 6 if the log has
      nothing about the screen.
      """, example: "why kiosk wifi"
  ) { invocation in
    let arguments = try invocation.navArguments()
    let (nav, screen) = (arguments.nav, arguments.rest[0])
    let daemon = try invocation.connect()
    var origin = ScreenOrigin(of: screen)
    let page: UInt64 = 1000
    var (oldestRevision, former) = (UInt64(1), UInt64.max)
    var answer = try daemon.fittingLog(nav: nav, from: nil, limit: page)
    while true {
      oldestRevision = answer.oldestReadable?.number ?? oldestRevision
      let entries = try answer.json().elements
      let first = entries.first?["rev"]?.integer ?? oldestRevision
      if origin.endsSearch(reading: entries) || first <= oldestRevision || first >= former { break }
      former = first
      // Pages share an entry, for the one before each. A pruned log begins behind the oldest revision.
      let from = max(oldestRevision, first - min(first, page - 1))
      answer = try daemon.fittingLog(nav: nav, from: from, limit: first - from + 1)
    }
    origin.endSearch()
    if invocation.isJSON {
      try Output.record(JSONRecord(.why, origin.members(nav: nav, oldestRevision: oldestRevision)))
    } else {
      try Output.lines(origin.lines(nav: nav, oldestRevision: oldestRevision))
    }
    try ExitStatus.throwIfNonzero(origin.isFound ? 0 : ErrorCode.noNav.exitStatus)
  }

  static let compareRevisions = Command(
    "diff", "Show what differs between two revisions", HelpGroup.look, .init("NAV REV [REV]"),
    note: """
      Without a second REV, the present state is compared. Each difference has the former value
      behind - and the later one behind +.
      """, example: "diff kiosk 1"
  ) { invocation in
    let arguments = try invocation.navArguments()
    let revisions = try arguments.rest.map { word in
      Revision(
        try require(
          UInt64(word).flatMap { $0 < 1 << 53 ? $0 : nil },
          "a revision is a whole number, not '\(TerminalText.visible(word))'"))
    }
    let daemon = try invocation.connect()
    let before = try daemon.get(.state, arguments.nav, at: revisions[0]).reply.json()
    let later = revisions.count > 1 ? revisions[1] : nil
    let after = try daemon.get(.state, arguments.nav, at: later).reply.json()
    let comparison = StateComparison(before, after)
    if invocation.isJSON {
      return try Output.record(
        JSONRecord(
          .comparison,
          [
            "nav": .string(arguments.nav), "from": .integer(before["rev"]?.integer ?? 0),
            "to": .integer(after["rev"]?.integer ?? 0), "differences": comparison.json,
          ]))
    }
    try invocation.write(
      comparison.differences.isEmpty ? [StyledLine("no difference")] : comparison.lines)
  }

  static let verify = Command(
    "verify", "Check the digests and invariants of one or all navs", HelpGroup.look, .init("[NAV]"),
    options: [Invocation.progressOption],
    note: """
      Without NAV, navd checks all navs, and compares its count of connections with those it has.
      """, example: "verify kiosk"
  ) { invocation in
    let form = try invocation.progressForm()
    let named = try invocation.optionalNav()
    if let named, named.hasSuffix(".navrec") {
      throw UsageError(
        "\(named) is a recording, not a nav", remedy: "navctl play \(named) --verify")
    }
    let daemon = try invocation.connect()
    let navs = try named.map { [$0] } ?? DirectoryNav.navNames(daemon)
    func write(_ answer: Daemon.Answer, _ text: (JSONValue, Bool) -> String) throws -> Bool {
      let value = try answer.reply.json()
      let isSound = value["ok"]?.bool ?? false
      try invocation.write(
        TerminalText.visible(text(value, isSound)), JSONRecord(.verify, answer.body))
      return isSound
    }
    var isSound =
      try named != nil
      || write(daemon.get(.verify, nil)) { value, isOK in
        func figure(_ name: String) -> String { value[name]?.plainText ?? "0" }
        var text = "connections  \(isOK ? "ok" : "MISCOUNTED")  \(figure("counted")) counted"
        text += "  \(figure("open")) open"
        return isOK ? text : text + "  \(figure("differences")) differed since the start"
      }
    var line = ProgressLine(.verify, as: named == nil ? form : .none)
    defer { line.end() }
    for (index, nav) in navs.enumerated() {
      line.show(UInt64(index), of: UInt64(navs.count))
      let answer: Daemon.Answer
      do {
        answer = try daemon.get(.verify, nav)
      } catch let refusal as Refusal where named == nil && refusal.error.knownCode != .internal {
        // The nav was closed since the directory was read, or this user may not read it.
        if Output.isTerminal { line.pause() }
        Output.error("navctl: \(nav): \(refusal.error.code)")
        continue
      }
      if Output.isTerminal { line.pause() }
      let isRight = try write(answer) { value, isOK in
        let revision = answer.reply.revision?.number ?? 0
        var text = "\(nav)  \(isOK ? "ok" : "DAMAGED")  rev \(revision)"
        if let digest = value["dig"]?.string { text += "  digest \(digest)" }
        for problem in value.list("violated") { text += "  \(problem.plainText)" }
        return text
      }
      if !isRight { isSound = false }
    }
    line.show(UInt64(navs.count), of: UInt64(navs.count))
    try ExitStatus.throwIfNonzero(isSound ? 0 : ErrorCode.internal.exitStatus)
  }

  static let explain = Command(
    "explain", "Explain an error code, or list all codes", HelpGroup.look, .init("[CODE]"),
    note: """
      CODE is the word after "navctl:" in an error, the value of NAVD_CODE in the log, or the member
      code of a reply. Without CODE, navctl lists all codes with their meanings.
      """, example: "explain desync"
  ) { invocation in
    guard let code = invocation.line.positionals.first else {
      let all = CodeExplanation.all
      if invocation.isJSON {
        return try Output.record(JSONRecord(.codes, ["codes": .array(all.map(\.json))]))
      }
      return try invocation.table(["CODE", "MEANING"], all.map { [$0.code, $0.meaning] })
    }
    let explanation = try CodeExplanation.find(code)
    if invocation.isJSON { return try Output.record(JSONRecord(.code, explanation.json.bytes)) }
    try Output.lines(explanation.lines(columns: invocation.columns))
  }

  static let listNavs = Command(
    "list", "List the navs, with the position of each", HelpGroup.look,
    options: [OptionDeclaration("clients", "List the sessions instead; needs the role admin")],
    example: "list"
  ) { invocation in
    let daemon = try invocation.connect()
    func write(_ kind: JSONRecord.Kind, _ records: [JSONValue], _ table: [String]) throws {
      guard invocation.isJSON else { return try Output.lines(table) }
      try Output.record(JSONRecord(kind, [kind.rawValue: .array(records.map(\.opaque))]))
    }
    if invocation.line.contains("clients") {
      let clients = try DirectoryNav.clients.read(daemon)
      return try write(.clients, clients, Tables.clients(clients, columns: invocation.tableColumns))
    }
    let lists = try DirectoryNav.readFromAllMembers([.navs, .positions], daemon)
    let navs = DirectoryNav.join(navs: lists[0], positions: lists[1])
    try write(.navs, navs, Tables.navs(navs, columns: invocation.tableColumns))
  }
}

private func draw(
  _ answer: Daemon.Answer, _ invocation: Invocation, elapsed: UInt64? = nil
) throws {
  if invocation.isJSON { return try Output.record(JSONRecord(.state, answer.body)) }
  let drawing = StateDrawing(columns: invocation.columns)
  try invocation.write(drawing.lines(try answer.reply.json(), elapsed: elapsed))
}

/// The top screen after the revision of an entry; nil if that state cannot be read.
private func topScreen(_ daemon: Daemon, _ nav: String, _ entry: JSONValue) throws -> String? {
  guard let revision = entry["rev"]?.integer, entry["bad"] == nil else { return nil }
  do {
    let reply = try daemon.get(.top, nav, at: Revision(revision)).reply
    return try reply.json()["id"]?.string ?? "none"
  } catch is Refusal {
    return nil
  }
}
