import CommandLineOptions
import NavigationCore

/// `explain`: prints the meaning, the cause and the remedy of a code; needs no daemon.
enum ExplainCommand: Command {
  static let declaration = CommandSet.Command(
    "explain", "Explain an error code, or list all codes", Subject.look, .init("[CODE]"),
    note: """
      CODE is the word after "navctl:" in an error, the value of NAVD_CODE in the log, or the member
      code of a reply. Without CODE, navctl lists all codes with their meanings.
      """, example: "explain desync")

  static func run(_ invocation: Invocation) throws -> Int32 {
    guard let code = invocation.line.positionals.first else {
      try list(invocation)
      return 0
    }
    let explanation = try Explanation.find(code)
    if invocation.isJSON {
      try Output.record(.code, explanation.json.bytes)
    } else {
      for line in explanation.lines(columns: invocation.columns) { try Output.line(line) }
    }
    return 0
  }

  private static func list(_ invocation: Invocation) throws {
    guard !invocation.isJSON else {
      return try Output.record(Record(.codes, ["codes": .array(Explanation.all.map(\.json))]))
    }
    let rows = Explanation.all.map { [$0.code, $0.meaning] }
    for line in Tables.table(["CODE", "MEANING"], rows, columns: invocation.tableColumns) {
      try Output.line(line)
    }
  }
}
