import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths
import Synchronization
import ZeroMQ

struct Invocation {
  let command: CommandSet.Command
  let line: ParsedCommandLine
  let environment: ProcessEnvironment
  let isJSON: Bool
  let isColoured: Bool
  let typedTimeout: UInt64?

  init(command: CommandSet.Command, line: ParsedCommandLine) throws {
    self.command = command
    self.line = line
    environment = .current()
    isJSON = try line.choice(of: "output", ["text", "json"]) == "json"
    let isASCII =
      line.contains("ascii") || TerminalText.isASCII { [environment] in environment[$0] }
    Output.isASCII.withLock { $0 = isASCII }
    typedTimeout = try line.value(of: "timeout").map {
      let milliseconds = try ArgumentReader.milliseconds($0, option: "timeout")
      try require(milliseconds > 0, "--timeout takes a time of at least 1ms, not '\($0)'")
      return milliseconds
    }
    let colour = try line.choice(of: "color", ["auto", "always", "never"])
    let canColour =
      Output.isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    isColoured = colour == "always" || colour == "auto" && canColour
  }

  var timeoutMilliseconds: UInt64 { typedTimeout ?? 5000 }

  /// The width of the output in columns: `COLUMNS`, else the terminal's, else 80; within 20...400.
  var columns: Int {
    let columns = environment["COLUMNS"].flatMap { Int($0) } ?? Output.terminalSize?.columns ?? 80
    return min(max(columns, 20), 400)
  }

  /// The width for tables in columns; nil if stdout is no terminal, where a row stays on one line.
  var tableColumns: Int? { Output.isTerminal ? columns : nil }

  func progressForm() throws -> ProgressDisplay.Form {
    let word = try line.choice(of: "progress", ProgressDisplay.Form.words)
    return ProgressDisplay.Form(word: word, isTerminal: ProgressLine.isTerminal)
      ?? ProgressDisplay.Form.none
  }

  static let progressOption = OptionDeclaration(
    "progress", argument: "HOW", "auto (if stderr is a terminal), json (lines on stderr) or none",
    choices: ProgressDisplay.Form.words)

  /// The nav and the other arguments; `nav` replaces `--nav`, and `isCommandWord` tests whether the
  /// first argument is a word of the command and no nav.
  func navArguments(
    rest: ClosedRange<Int>? = nil, of nav: String? = nil, isCommandWord: ((String) -> Bool)? = nil
  ) throws -> NavArguments {
    let words = command.arguments.allowedWordsAfterNav
    // -n counts lines in other programs.
    if let number = line.value(of: "nav"), let nav = line.positionals.first,
      number.allSatisfy(\.isNumber), command.options.contains(where: { $0.name == "limit" })
    {
      throw UsageError(
        "-n is --nav, and '\(TerminalText.visible(nav))' names the nav already",
        remedy: "navctl \(command.name) \(nav) --limit \(number)")
    }
    return try NavArguments(
      line.positionals, rest: rest ?? command.arguments.countAfterNav,
      isCommandWord: isCommandWord ?? (words.isEmpty ? nil : { words.contains($0) }),
      option: nav ?? line.value(of: "nav"),
      variable: environment["NAVD_NAV"],
      usage: "navctl \(command.name) \(command.arguments.usage)")
  }

  /// Whether an argument, `--nav` or `NAVD_NAV` names a nav, for commands whose nav is optional.
  var namesNav: Bool {
    !line.positionals.isEmpty || line.contains("nav") || environment["NAVD_NAV"] != nil
  }

  func optionalNav() throws -> String? { namesNav ? try navArguments().nav : nil }

  /// The address of the daemon; throws if there is no socket, or this user may not connect.
  func endpoint() throws -> String {
    let endpoint = try PathRules(environment: environment, userID: effectiveUserID())
      .clientEndpoint(option: line.value(of: "endpoint"))
    if let other = endpoint.split(separator: ",").first(where: { address in
      !["ipc://", "tcp://"].contains { address.hasPrefix($0) }
    }) {
      throw UsageError(
        "navd has no address such as '\(TerminalText.visible(String(other)))'",
        remedy: "--endpoint ipc:///run/navd/navd.sock, or --endpoint tcp://HOST:PORT")
    }
    // libzmq would retry such a connection without an error until the timeout.
    if let denial = SocketAccessDenial.find(endpoint) {
      throw ConnectionError.refused(endpoint: endpoint, .noPermission(denial))
    }
    return endpoint
  }

  /// The keys for a daemon at tcp://; nil for a local socket.
  func identity(_ endpoint: String) throws -> NetworkIdentity? {
    do throws(KeyError) {
      return try NetworkIdentity.read(
        for: endpoint, serverKey: line.value(of: "server-key"), keyFile: line.value(of: "key"),
        environment: environment)
    } catch {
      throw UsageError(error.description)
    }
  }

  /// Connects without a session; a readable `descriptor` ends each wait.
  func connect(name: String = "navctl", wake descriptor: Int32? = nil) throws -> Daemon {
    let endpoint = try endpoint()
    return try connect(endpoint, try identity(endpoint), name: name, wake: descriptor)
  }

  /// Connects to another daemon of a cluster, without a session.
  func connect(to address: DaemonAddress) throws -> Daemon {
    try connect(address.endpoint, try identity(try endpoint())?.keys(for: address))
  }

  func connect(
    _ endpoint: String, _ identity: NetworkIdentity?, name: String = "navctl",
    milliseconds: UInt64? = nil, wake descriptor: Int32? = nil
  ) throws -> Daemon {
    Daemon(
      self,
      try NavigationConnection.connect(
        to: endpoint, as: identity, name: name,
        timeout: .milliseconds(milliseconds ?? timeoutMilliseconds), wake: descriptor))
  }

  /// Opens a session for a lease or a delegate role; a readable `descriptor` ends each wait.
  func connectSession(wake descriptor: Int32) throws -> Daemon {
    // The process id in the name distinguishes two successive holders.
    let daemon = try connect(
      name: line.value(of: "name") ?? "navctl-\(processID())", wake: descriptor)
    try daemon.openSession()
    return daemon
  }

  func table(_ heading: [String], _ rows: [[String]]) throws {
    try Output.lines(Tables.table(heading, rows, columns: tableColumns))
  }

  /// Prints the record with `-o json`, else the text.
  func write(
    _ text: @autoclosure () throws -> String, _ record: @autoclosure () -> JSONRecord
  ) throws {
    if isJSON { try Output.record(record()) } else { try Output.line(text()) }
  }

  func write(_ lines: [StyledLine]) throws {
    for line in lines {
      // What would be wider than the terminal goes on in the next line, without colours.
      let isWide = tableColumns.map { TerminalText.width(line.plain) > $0 } ?? false
      try Output.line(isWide ? line.plain : line.rendered(isColoured: isColoured))
    }
  }
}

/// Separates the name of the nav from the other arguments of a command.
struct NavArguments: Hashable, Sendable {
  var nav: String
  var rest: [String]

  /// The first argument is the nav, unless `option` names the nav, or `variable` does and
  /// `isCommandWord` is true for the argument.
  ///
  /// `option` is the value of `--nav`, `variable` that of `NAVD_NAV`. With `variable` and without
  /// `isCommandWord`, the first argument is the nav only if there are more than `rest` allows.
  init(
    _ positionals: [String], rest: ClosedRange<Int> = 0...Int.max,
    isCommandWord: ((String) -> Bool)? = nil, option: String?, variable: String?, usage: String
  ) throws(UsageError) {
    let isCommandWordFirst = isCommandWord.map { isCommandWord in
      positionals.first.map(isCommandWord) ?? true
    }
    let isLeftOut =
      option != nil || positionals.isEmpty
      || variable != nil && (isCommandWordFirst ?? (positionals.count <= rest.upperBound))
    let name = try require(
      isLeftOut ? option ?? variable : positionals[0], "the command needs a nav",
      remedy: "\(usage), or set NAVD_NAV")
    nav = try ArgumentReader.nav(name)
    self.rest = Array(positionals.dropFirst(isLeftOut ? 0 : 1))
    let usage = usage.split(separator: " ").map(String.init).map { $0 == "NAV" ? nav : $0 }
    let remedy = usage.joined(separator: " ")
    if self.rest.count < rest.lowerBound {
      let names = usage.drop { !($0 == nav) }.dropFirst(self.rest.count + 1)
      throw UsageError(
        "\(names.first.map { $0.filter { !"[].".contains($0) } } ?? "an argument") is missing",
        remedy: remedy)
    }
    try require(
      self.rest.count <= rest.upperBound,
      "'\(TerminalText.visible(self.rest[rest.upperBound]))' is not expected", remedy: remedy)
  }
}
