import CommandLineOptions
import NavigationCore

enum ExplainCommand: Command {
  static let declaration = CommandSet.Command(
    "explain", "Explain an error code, or list all codes", Subject.look, .init("[CODE]"),
    note: """
      CODE is the word after "navctl:" in an error, the value of NAVD_CODE in the log, or the member
      code of a reply. Without CODE, navctl lists all codes with their meanings.
      """, example: "explain desync")

  static func run(_ invocation: Invocation) throws {
    guard let code = invocation.line.positionals.first else { return try list(invocation) }
    let explanation = try Explanation.find(code)
    if invocation.isJSON { return try Output.record(.code, explanation.json.bytes) }
    try Output.lines(explanation.lines(columns: invocation.columns))
  }

  private static func list(_ invocation: Invocation) throws {
    guard !invocation.isJSON else {
      return try Output.record(.codes, ["codes": .array(Explanation.all.map(\.json))])
    }
    try invocation.table(["CODE", "MEANING"], Explanation.all.map { [$0.code, $0.meaning] })
  }
}
