import CLinux
import CommandLineOptions
import CurveKeys
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

/// One run of one command: what was typed, and the environment it was typed in.
struct Invocation {
  static let defaultTimeoutMilliseconds: UInt64 = 5000

  /// The command.
  let command: CommandSet.Command
  /// What was typed.
  let line: ParsedCommandLine
  let environment: ProcessEnvironment
  /// Whether stdout gets JSON.
  let isJSON: Bool
  /// Whether stdout gets colours.
  let isColoured: Bool
  /// The value of `--timeout`, if there is one.
  let typedTimeout: UInt64?

  init(command: CommandSet.Command, line: ParsedCommandLine) throws {
    self.command = command
    self.line = line
    environment = .current()
    switch line.value(of: "output") ?? "text" {
    case "text": isJSON = false
    case "json": isJSON = true
    case let other: throw UsageError("--output takes text or json, not '\(other)'")
    }
    typedTimeout = try line.value(of: "timeout").map {
      let milliseconds = try Quantities.milliseconds($0, option: "timeout")
      guard milliseconds > 0 else {
        throw UsageError("--timeout takes a time of at least 1ms, not '\($0)'")
      }
      return milliseconds
    }
    switch line.value(of: "color") ?? "auto" {
    case "auto":
      isColoured =
        Output.isTerminal && environment["NO_COLOR"] == nil && environment["TERM"] != "dumb"
    case "always": isColoured = true
    case "never": isColoured = false
    case let other: throw UsageError("--color takes auto, always or never, not '\(other)'")
    }
  }

  /// How long a request may take.
  var timeoutMilliseconds: UInt64 { typedTimeout ?? Self.defaultTimeoutMilliseconds }

  /// How many columns text may take.
  var columns: Int {
    let columns = environment["COLUMNS"].flatMap { Int($0) } ?? Output.terminalColumns ?? 80
    return min(max(columns, 20), 400)
  }

  /// The nav and the other arguments.
  func navArguments(rest: ClosedRange<Int> = 0...0) throws -> NavArguments {
    try NavArguments(
      line.positionals, rest: rest, option: line.value(of: "nav"),
      variable: environment["NAVD_NAV"],
      usage: "navctl \(command.name) \(command.arguments.usage)")
  }

  /// The nav and the other arguments of a command that takes any number of its own words.
  func navArguments(isOwn: (String) -> Bool) throws -> NavArguments {
    try NavArguments(
      line.positionals, isOwn: isOwn, option: line.value(of: "nav"),
      variable: environment["NAVD_NAV"],
      usage: "navctl \(command.name) \(command.arguments.usage)")
  }

  /// Whether a nav is named, for commands that do without.
  var namesNav: Bool {
    !line.positionals.isEmpty || line.contains("nav") || environment["NAVD_NAV"] != nil
  }

  /// Where the daemon is.
  func endpoint() throws -> String {
    let endpoint = try PathRules(environment: environment, userID: effectiveUserID())
      .clientEndpoint(option: line.value(of: "endpoint"))
    // A connection would be tried again and again until the time is up.
    guard !Self.isClosed(endpoint) else {
      throw PlainFailure(
        lines: ConnectionText.closed(endpoint), status: ErrorCode.forbidden.exitStatus)
    }
    return endpoint
  }

  /// Whether there is a socket that this user may not connect to.
  private static func isClosed(_ endpoint: String) -> Bool {
    guard endpoint.hasPrefix("ipc://") else { return false }
    return unsafe access(String(endpoint.dropFirst("ipc://".count)), W_OK) != 0
      && navd_errno() == EACCES
  }

  /// Who we are to a daemon on a network.
  func identity(_ endpoint: String) throws -> NetworkIdentity? {
    do throws(KeyError) {
      return try NetworkIdentity.read(
        for: endpoint, serverKey: line.value(of: "server-key"), keyFile: line.value(of: "key"),
        environment: environment)
    } catch {
      throw UsageError(error.description)
    }
  }

  /// Connects to the daemon.
  func connect() throws -> NavigationConnection {
    let endpoint = try endpoint()
    return try NavigationConnection.connect(
      to: endpoint, as: try identity(endpoint), name: "navctl",
      timeout: .milliseconds(timeoutMilliseconds))
  }

  /// Opens a session that holds something, under a name of its own.
  ///
  /// - Parameter wake: a descriptor that ends a wait when it can be read.
  /// - Returns: a connection whose session is open.
  /// - Throws: what became of the connection.
  func connectSession(wake: Int32) throws -> NavigationConnection {
    let timeout = Duration.milliseconds(timeoutMilliseconds)
    let endpoint = try endpoint()
    // Two that hold the same thing one after the other must not look like one.
    var connection = try NavigationConnection.connect(
      to: endpoint, as: try identity(endpoint),
      name: line.value(of: "name") ?? "navctl-\(processID())",
      timeout: timeout, wake: wake)
    try connection.openSession(timeout: timeout)
    return connection
  }

  /// Writes lines of text.
  func write(_ lines: [StyledLine]) throws {
    for line in lines { try Output.line(line.rendered(isColoured: isColoured)) }
  }
}
