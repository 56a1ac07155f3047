import CommandLineOptions
import NavctlSupport

/// `explain`: what a code means, and what to do about it; needs no daemon.
enum ExplainCommand: Command {
  static let declaration = CommandSet.Command(
    "explain", "Explain an error code, or list all codes", group: Subject.look,
    arguments: PositionalArguments("[CODE]", count: 0...1),
    epilogue: """
      CODE is what stands behind "navctl:" in an error, in NAVD_CODE of the log, or in the member
      code of an answer. Without it every code is listed with its meaning.

      Example: navctl explain desync
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    guard let code = invocation.line.positionals.first else {
      try list(invocation)
      return 0
    }
    let explanation = try Explanation.find(code)
    if invocation.isJSON {
      try Output.line(explanation.json)
    } else {
      for line in explanation.lines(columns: invocation.columns) { try Output.line(line) }
    }
    return 0
  }

  private static func list(_ invocation: Invocation) throws {
    guard !invocation.isJSON else {
      return try Output.line(OperationText.array(Explanation.all.map(\.json)))
    }
    let rows = Explanation.all.map { [$0.code, $0.meaning] }
    for line in Tables.table(["CODE", "MEANING"], rows) { try Output.line(line) }
  }
}
