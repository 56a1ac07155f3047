import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync

/// `gesture`: swipes back, step by step, in one session.
enum GestureCommand: Command {
  static let declaration = CommandSet.Command(
    "gesture", "Swipe back from the screen you last saw", group: Subject.touch,
    arguments: PositionalArguments("NAV [STEP...]", count: 0...Int.max),
    options: [
      OptionDeclaration("kind", argument: "KIND", "edge, or fullScreen"),
      OptionDeclaration("translation", argument: "N", "Where begin moves to; 1 unless said"),
      Lease.option,
    ] + Changes.options,
    epilogue: """
      STEP is begin, update VALUE with a number from 0 to 1, finish or cancel. A gesture belongs to
      the session that began it, and is cancelled with it. So its steps are those of one command:
      where the last is neither finish nor cancel, more are read from stdin, a line each.

      Example: navctl gesture kiosk begin update 0.4 finish
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    let words: Set<String> = ["begin", "update", "finish", "cancel"]
    let arguments = try invocation.navArguments { words.contains($0) || Double($0) != nil }
    var steps = try GestureStep.steps(arguments.rest)
    guard !steps.isEmpty else {
      throw UsageError("a gesture has steps", remedy: "navctl gesture NAV begin update 0.4 finish")
    }
    // The first step is judged without a daemon.
    let first = try change(invocation, arguments.nav, steps.removeFirst(), isFirst: true)
    var connection = try invocation.connect()
    try connection.openSession(timeout: .milliseconds(invocation.timeoutMilliseconds))
    try first.step.perform(on: &connection)
    var isOver = first.isLast
    var input = InputLines()
    while !isOver {
      for step in steps {
        let next = try change(invocation, arguments.nav, step, isFirst: false)
        try next.step.perform(on: &connection)
        isOver = next.isLast
      }
      guard !isOver else { break }
      guard let line = try input.next(idle: { try drain(&connection) }) else {
        Output.error("navctl: no more steps; the gesture is cancelled")
        break
      }
      steps = try GestureStep.steps(line.split(separator: " ").map(String.init))
    }
    try connection.leave()
    return 0
  }

  private static func change(
    _ invocation: Invocation, _ nav: String, _ step: GestureStep, isFirst: Bool
  ) throws -> (step: Change, isLast: Bool) {
    let operation = try Operations.gesture(step, invocation.line)
    // What was typed about the state was true before the gesture began.
    return (try Change(invocation, nav: nav, [operation], isGuarded: isFirst), step.isLast)
  }

  /// Takes what came meanwhile; it shows the daemon that somebody is there.
  private static func drain(_ connection: inout NavigationConnection) throws {
    while try connection.next(timeout: .zero) != nil {}
  }
}
