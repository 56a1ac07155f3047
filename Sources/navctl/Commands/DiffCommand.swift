import CommandLineOptions
import NavigationClient
import NavigationCore

enum DiffCommand: Command {
  static let declaration = CommandSet.Command(
    "diff", "Show what differs between two revisions", Subject.look, .init("NAV REV [REV]"),
    note: """
      Without a second REV, the present state is compared. Each difference has the former value
      behind - and the later one behind +.
      """, example: "diff kiosk 1")

  static func run(_ invocation: Invocation) throws {
    let arguments = try invocation.navArguments()
    let revisions = try arguments.rest.map { (word: String) throws -> Revision in
      guard let number = UInt64(word), number < 1 << 53 else {
        throw UsageError("a revision is a whole number, not '\(TerminalText.visible(word))'")
      }
      return Revision(number)
    }
    let daemon = try invocation.connect()
    let before = try daemon.get(.state, arguments.nav, at: revisions[0]).reply.json()
    let later = revisions.count > 1 ? revisions[1] : nil
    let after = try daemon.get(.state, arguments.nav, at: later).reply.json()
    let comparison = StateComparison(before, after)
    if invocation.isJSON {
      return try Output.record(
        .comparison,
        [
          "nav": .string(arguments.nav), "from": .integer(before["rev"]?.integer ?? 0),
          "to": .integer(after["rev"]?.integer ?? 0), "differences": comparison.json,
        ])
    }
    try invocation.write(
      comparison.differences.isEmpty ? [StyledLine("no difference")] : comparison.lines)
  }
}
