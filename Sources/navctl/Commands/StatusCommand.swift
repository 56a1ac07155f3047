import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationSync

/// `status`: whether the daemon is there, and how it does.
enum StatusCommand: Command {
  static let declaration = CommandSet.Command(
    "status", "Say whether navd is there, and how it does", group: Subject.look,
    epilogue: "Example: navctl status")

  static func run(_ invocation: Invocation) throws -> Int32 {
    var connection = try invocation.connect()
    let answer = try Reading.get(
      invocation, &connection, GetRequest(id: 0, nav: nil, what: .stats))
    if invocation.isJSON {
      try Output.line(answer.body)
    } else {
      try Output.line("navd answers at \(connection.endpoint)")
      for line in Tables.members(try Reading.value(answer.reply)) { try Output.line("  \(line)") }
    }
    return 0
  }
}
