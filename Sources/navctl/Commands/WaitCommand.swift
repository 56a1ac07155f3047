import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

/// `wait`: until a nav is as wanted; woken by its changes, never by a clock.
enum WaitCommand: Command {
  static let declaration = CommandSet.Command(
    "wait", "Wait until a nav is as wanted", group: Subject.look,
    arguments: PositionalArguments("NAV", count: 0...1),
    options: [
      OptionDeclaration("top", argument: "ID", "Until this screen is on top"),
      OptionDeclaration("depth", argument: "N", "Until there are this many screens"),
      OptionDeclaration("rev", argument: "N", "Until this revision or a later one"),
    ],
    epilogue: """
      Waits as long as it takes, or until --timeout, which ends it with status 4.

      Example: navctl wait kiosk --top wifi --timeout 10s
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let condition = try WaitCondition(invocation.line)
    let nav = try invocation.navArguments().nav
    let timer = Countdown(invocation.typedTimeout)
    var connection = try invocation.connect()
    try connection.openSession(timeout: .milliseconds(invocation.timeoutMilliseconds))
    try connection.watch(nav)
    while let event = try connection.next(timeout: timer.left) {
      switch event {
      case .changed(_, .applied(let mirror, _)), .changed(_, .replaced(let mirror, _)),
        .changed(_, .resumed(let mirror)):
        guard
          condition.holds(
            top: mirror.top, depth: mirror.screens.count, revision: mirror.revision.number)
        else { continue }
        try write(invocation, mirror, nav: nav, endpoint: connection.endpoint)
        return 0
      case .watchEnded(_, _, let outcome): throw outcome.failure(nav)
      default: continue
      }
    }
    throw PlainFailure(
      lines: ["timeout: \(nav) did not come to \(condition.text)", "try: navctl show \(nav)"],
      status: ErrorCode.busy.exitStatus)
  }

  private static func write(
    _ invocation: Invocation, _ mirror: Mirror, nav: String, endpoint: String
  ) throws {
    let position = MirrorText.position(mirror, nav: nav)
    if invocation.isJSON {
      try Output.line(position)
    } else {
      let top = TerminalText.visible(mirror.top ?? "none")
      try Output.line(
        "\(nav)  rev \(mirror.revision.number)  top \(top)  depth \(mirror.screens.count)")
    }
    Memory(invocation.environment, endpoint: endpoint).remember(Seen(mirror), of: nav)
  }
}

/// What is left of a time.
struct Countdown {
  private let end: UInt64?

  /// Begins; without a time it never ends.
  init(_ milliseconds: UInt64?) {
    end = milliseconds.map { SystemClock.monotonicMilliseconds() + $0 }
  }

  /// What is left, nil for ever.
  var left: Duration? {
    end.map { .milliseconds($0 - min($0, SystemClock.monotonicMilliseconds())) }
  }
}

extension WatchOutcome {
  /// The end of a watch as the end of a command.
  func failure(_ nav: String) -> any Error {
    switch self {
    case .refused(let error): Refusal(error: error, nav: nav, seen: nil)
    case .ended("forbidden", _):
      PlainFailure(
        lines: ["forbidden: \(nav) may not be watched any more", "try: ask for the right"],
        status: ErrorCode.forbidden.exitStatus)
    case .ended(let why, let endpoint):
      PlainFailure(
        lines: [
          "no-nav: \(nav) was \(why)\(endpoint.map { " to \($0)" } ?? "")", "try: navctl list",
        ], status: ErrorCode.noNav.exitStatus)
    }
  }
}
