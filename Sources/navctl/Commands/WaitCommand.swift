import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// `wait`: waits on a watch until a nav meets a condition; it does not poll.
enum WaitCommand {
  static let command = Command(
    "wait", "Wait until a nav meets a condition", HelpGroup.look, .init("NAV"),
    options: [
      .init("top", argument: "ID", "Until this screen is on top"),
      .init("depth", argument: "N", "Until the stack has N screens"),
      .init("rev", argument: "N", "Until this revision or a later one exists"),
      .init("timeout", argument: "TIME", "End with status 4 after this time; no limit by default"),
    ],
    example: "wait kiosk --top wifi --timeout 10s", run: run)

  static func run(_ invocation: Invocation) throws {
    let condition = try WaitCondition(invocation.line)
    let nav = try invocation.navArguments().nav
    let timer = Countdown(invocation.typedTimeout)
    let daemon = try invocation.connect()
    let mirror = try awaitMirror(of: nav, meeting: condition, daemon, timer)
    let top = TerminalText.visible(mirror.top ?? "none")
    try invocation.write(
      "\(nav)  rev \(mirror.revision.number)  top \(top)  depth \(mirror.screens.count)",
      JSONRecord(.position, MirrorText.position(mirror, nav: nav)))
    SeenStates(invocation.environment, endpoint: daemon.endpoint).remember(
      SeenState(mirror), of: nav)
  }

  /// Watches a nav until it meets a condition, and returns its state; throws when the time is over.
  static func awaitMirror(
    of nav: String, meeting condition: WaitCondition, _ daemon: Daemon, _ timer: Countdown
  ) throws -> Mirror {
    try daemon.openSession()
    try daemon.connection.request { $0.watch(nav) }
    var last: Mirror?
    while let event = try daemon.connection.next(timeout: timer.left) {
      switch event {
      case .changed(_, .applied(let mirror, _)), .changed(_, .replaced(let mirror, _)),
        .changed(_, .resumed(let mirror)):
        last = mirror
        let record = mirror.screens.last.flatMap { try? JSONValue($0.json.bytes) }
        guard
          condition.holds(
            top: mirror.top, route: record?["route"]?.string, depth: mirror.screens.count,
            revision: mirror.revision.number)
        else { continue }
        return mirror
      case .watchEnded(_, _, let outcome): throw outcome.failure(nav)
      default: continue
      }
    }
    let found = last.map { "; its top is \($0.top ?? "none")" } ?? ""
    throw PlainFailure(
      .busy, TerminalText.visible("timeout: \(nav) did not reach \(condition.text)\(found)"),
      "try: navctl show \(nav)")
  }
}

/// A time limit; it starts when `init` returns.
struct Countdown {
  private let end: UInt64?

  init(_ milliseconds: UInt64?) {
    end = milliseconds.map { SystemClock.monotonicMilliseconds() + $0 }
  }

  /// The time left, at least zero; nil without a limit.
  var left: Duration? {
    end.map { .milliseconds($0 - min($0, SystemClock.monotonicMilliseconds())) }
  }
}

extension WatchOutcome {
  func failure(_ nav: String) -> any Error {
    switch self {
    case .refused(let error): Refusal(error: error, nav: nav)
    case .ended("forbidden", _):
      PlainFailure(
        .forbidden, "forbidden: this user may no longer read \(nav)",
        "try: add to the configuration: grant = WHO \(nav) read in [access] of navd.conf(5)")
    case .ended(let why, let endpoint):
      PlainFailure(
        .noNav, "no-nav: \(nav) was \(why)\(endpoint.map { " to \($0)" } ?? "")", "try: navctl list"
      )
    }
  }
}

enum WaitCondition: Hashable, Sendable {
  /// This screen is on top; nil for an empty stack.
  case top(String?)
  /// The screen on top has this id or this route.
  case topHasIDOrRoute(String)
  case depth(UInt64)
  case revision(UInt64)

  /// Reads `--top`, `--depth` or `--rev`, of which there must be exactly one.
  init(_ line: ParsedCommandLine) throws(UsageError) {
    var conditions: [WaitCondition] = []
    if let top = line.value(of: "top") { conditions.append(.top(top.isEmpty ? nil : top)) }
    if let depth = try line.integer(of: "depth") { conditions.append(.depth(depth)) }
    if let revision = try line.integer(of: "rev") { conditions.append(.revision(revision)) }
    try require(
      conditions.count == 1, "wait needs one condition",
      remedy: "one of --top ID, --depth N, --rev N")
    self = conditions[0]
  }

  func holds(top: String?, route: String?, depth: Int, revision: UInt64) -> Bool {
    switch self {
    case .top(let wanted): wanted == top
    case .topHasIDOrRoute(let wanted): wanted == top || wanted == route
    case .depth(let wanted): wanted == UInt64(depth)
    case .revision(let wanted): revision >= wanted
    }
  }

  var text: String {
    switch self {
    case .top(let top): "top \(top ?? "none")"
    case .topHasIDOrRoute(let screen): "a top with the id or route \(screen)"
    case .depth(let depth): "depth \(depth)"
    case .revision(let revision): "rev \(revision)"
    }
  }
}
