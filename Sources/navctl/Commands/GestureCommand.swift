import CommandLineOptions
import NavigationClient
import NavigationCore

enum GestureCommand: Command {
  static let declaration = CommandSet.Command(
    "gesture", "Swipe back from the screen you last saw", Subject.touch,
    .init("NAV [STEP...]", choices: ["STEP": ["begin", "update", "finish", "cancel"]]),
    options: [
      .init(
        "kind", argument: "KIND", "edge (default) or fullScreen", choices: ["edge", "fullScreen"]),
      .init("translation", argument: "N", "Distance to the right at begin; default 1"),
      Lease.option,
    ] + Change.options.filter { $0.name != "dry-run" },
    note: """
      STEP is begin, update VALUE with a number from 0 to 1, finish or cancel. A gesture belongs to
      the session that began it, and navd cancels it with that session. So one command performs all
      steps. If the last is neither finish nor cancel, navctl reads more from stdin, line by line.
      """, example: "gesture kiosk begin update 0.4 finish")

  static func run(_ invocation: Invocation) throws {
    let words: Set<String> = ["begin", "update", "finish", "cancel"]
    let arguments = try invocation.navArguments { words.contains($0) || Double($0) != nil }
    var steps = try GestureStep.steps(arguments.rest)
    try require(
      !steps.isEmpty, "gesture needs a step", remedy: "navctl gesture NAV begin update 0.4 finish")
    // Makes the first step before it connects, so that its usage errors need no daemon.
    let first = try change(invocation, arguments.nav, steps.removeFirst(), isFirst: true)
    let daemon = try invocation.connect()
    try daemon.openSession()
    try first.step.perform(on: daemon)
    var isOver = first.isLast
    var input = InputLines()
    while !isOver {
      for step in steps {
        let next = try change(invocation, arguments.nav, step, isFirst: false)
        try next.step.perform(on: daemon)
        isOver = next.isLast
      }
      guard !isOver else { break }
      guard let line = try input.next(idle: { try drain(daemon) }) else {
        Output.error("navctl: stdin ended before finish or cancel; the gesture is cancelled")
        break
      }
      steps = try GestureStep.steps(line.split(separator: " ").map(String.init))
    }
    try daemon.connection.leave()
  }

  private static func change(
    _ invocation: Invocation, _ nav: String, _ step: GestureStep, isFirst: Bool
  ) throws -> (step: Change, isLast: Bool) {
    let operation = try Operations.gesture(step, invocation.line)
    // The typed conditions describe the state before the gesture, so they guard only step one.
    return (try Change(invocation, nav: nav, [operation], isGuarded: isFirst), step.isLast)
  }

  /// Receives pending messages and answers heartbeats, so that navd keeps the session.
  private static func drain(_ daemon: Daemon) throws {
    while try daemon.connection.next(timeout: .zero) != nil {}
  }
}
