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
    var change = try Changes(invocation, nav: arguments.nav)
    try change.openSession()
    while true {
      for step in steps { try change.perform([Operations.gesture(step, invocation.line)]) }
      guard steps.last?.isLast != true else { break }
      steps = []
      while steps.isEmpty {
        guard let line = try change.nextInputLine() else { return 0 }
        steps = try GestureStep.steps(line.split(separator: " ").map(String.init))
      }
    }
    try change.leave()
    return 0
  }
}
