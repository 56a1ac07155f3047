import CLinux
import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// Takes the lease of a nav's display, for one operation (`--lease`) or while `lease take` runs.
enum LeaseCommand {
  static let command = Command(
    "lease", "Hold the display of a nav, while the command runs", HelpGroup.roles,
    .init("NAV take|release [-- COMMAND...]"),
    options: [
      .init("force", "Take it from its holder; needs the right admin on the nav"),
      .init("name", argument: "NAME", "The name that other clients see"),
    ],
    note: """
      While a session holds the display, no other can set display, begin a gesture or complete a
      transition. take holds the display until it is interrupted. With COMMAND, take holds it while
      COMMAND runs, and ends with the status of COMMAND. release --force takes the display from its
      holder and gives it back at once.

      Only the session of this command holds the display. A navctl that COMMAND runs has its own
      session; give its set, gesture or transition the option --lease instead.
      """, example: "lease kiosk take -- date", run: run)

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments(isCommandWord: ["take", "release"].contains)
    let isForced = invocation.line.contains("force")
    let words = Array(arguments.rest.dropFirst())
    let isRelease = arguments.rest.first == "release"
    try require(
      isRelease ? words.isEmpty : arguments.rest.first == "take",
      "lease needs a verb, take or release", remedy: "navctl lease NAV take [-- COMMAND]")
    let signals = try Signals()
    let daemon = try invocation.connectSession(wake: signals.descriptor)
    let nav = arguments.nav
    if isRelease { return try release(daemon, nav, isForced: isForced) }
    let owner = try take(daemon, nav, isForced: isForced, isKept: true)
    // With COMMAND, stdout belongs to COMMAND.
    if words.isEmpty { try report(invocation, nav, owner: owner) }
    let child = words.isEmpty ? nil : try Subprocess(words, variables: [(environmentVariable, nav)])
    let status = try hold(daemon, nav, signals, child)
    try daemon.connection.leave()
    try ExitStatus.throwIfNonzero(status)
  }

  private static func release(_ daemon: Daemon, _ nav: String, isForced: Bool) throws {
    try require(
      isForced, "a lease ends with the command that took it; release works only with --force",
      remedy: "interrupt that command, or navctl lease \(nav) release --force")
    _ = try take(daemon, nav, isForced: true, isKept: false)
    try daemon.connection.request { $0.lease(nav, .release) }
    let timer = Countdown(daemon.invocation.timeoutMilliseconds)
    while let event = try daemon.connection.next(timeout: timer.left) {
      guard case .duty(.leaseReleased) = event else { continue }
      try report(daemon.invocation, nav, owner: nil)
      return try daemon.connection.leave()
    }
    throw ConnectionError.noAnswer(endpoint: daemon.endpoint, isChange: false)
  }

  /// Holds the display until the child ends, and returns its status; without one, until a signal.
  ///
  /// If navd ends the lease, it throws; while a child runs, it only prints a line.
  private static func hold(
    _ daemon: Daemon, _ nav: String, _ signals: borrowing Signals, _ child: Subprocess?
  ) throws -> Int32 {
    while true {
      while let signal = signals.next() {
        if let status = child?.endedStatus() { return status }
        guard let child else { return 0 }
        // The terminal sends SIGINT to the child as well, so only SIGTERM is passed on.
        if signal == SIGTERM { child.kill(SIGTERM) }
      }
      guard let event = try daemon.connection.next() else { continue }
      switch event {
      case .duty(.leaseLost(_, isTakenAgain: true)):
        Output.error("navctl: connection lost; the display is taken again when navd is back")
      case .duty(.leaseTaken): Output.error("navctl: the display is held again")
      case .duty(.leaseLost):
        try reportLoss(
          child, PlainFailure(.leaseLost, "lease-lost: the display of \(nav) was taken away"))
      case .duty(.leaseRefused(_, let error)):
        try reportLoss(child, ErrorText.failure(error, nav: nav))
      default: continue
      }
    }
  }

  /// Throws the loss of the lease; while a child runs, it only prints the loss.
  private static func reportLoss(_ child: Subprocess?, _ failure: PlainFailure) throws {
    guard child != nil else { throw failure }
    for line in failure.lines { Output.error("navctl: \(line)") }
  }

  private static func report(_ invocation: Invocation, _ nav: String, owner: String?) throws {
    let text = owner.map { "display held by \($0)" } ?? "display released"
    let members: JSONObject = ["nav": .string(nav), "owner": owner.map { .string($0) } ?? .null]
    try invocation.write(
      TerminalText.visible("\(nav)  \(text)"),
      JSONRecord(.lease, members, at: SystemClock.wallMilliseconds()))
  }

  static let option = OptionDeclaration(
    "lease", "Hold the display while the command runs", group: "When:")

  /// The environment variable by which a command that `lease take` runs learns the leased nav.
  static let environmentVariable = "NAVD_LEASE"

  /// Takes the display, and again after a reconnect if `isKept`; returns the name of the holder.
  static func take(_ daemon: Daemon, _ nav: String, isForced: Bool, isKept: Bool) throws -> String {
    try daemon.connection.request { $0.lease(nav, isForced ? .force : .take, isKept: isKept) }
    let timer = Countdown(daemon.invocation.timeoutMilliseconds)
    while true {
      guard let event = try daemon.connection.next(timeout: timer.left) else {
        guard timer.left == .zero else { continue }
        throw ConnectionError.noAnswer(endpoint: daemon.endpoint, isChange: false)
      }
      switch event {
      case .duty(.leaseTaken(nav, let owner)): return owner ?? ""
      case .duty(.leaseRefused(nav, let error)): throw Refusal(error: error, nav: nav)
      default: continue
      }
    }
  }
}
