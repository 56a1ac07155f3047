import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

/// `backup`: lets navd copy its journal.
enum BackupCommand: Command {
  static let declaration = CommandSet.Command(
    "backup", "Let navd copy its journal, and print the path of the copy", Subject.administration,
    options: [ProgressOption.declaration],
    note: """
      The copy contains all navs. navd writes it to the directory backups beside the journal, on \
      its own machine, and reads it back before it reports the path. navd --restore FILE restores \
      it. ^C ends navctl alone: navd completes the copy, and navctl status shows it.
      """, example: "backup")

  /// 24 h, long enough for any journal; if the daemon ends, the connection reports that at once.
  private static let defaultTimeout: UInt64 = 24 * 3_600_000

  static func run(_ invocation: Invocation) throws -> Int32 {
    var line = ProgressLine(.backup, as: try ProgressOption.form(invocation))
    var connection = try invocation.connect()
    let timeout = invocation.typedTimeout ?? defaultTimeout
    defer { line.end() }
    let reply = try backUp(&connection, &line, timeout: timeout)
    if case .success = reply.result { line.complete() }
    line.end()
    switch reply.result {
    case .failure(let error): throw Refusal(error: error, nav: nil, seen: nil)
    case .success(let answer):
      if invocation.isJSON {
        try Output.record(.backup, reply.body)
      } else {
        try Output.line(try Reading.value(answer).string ?? "")
      }
    }
    return 0
  }

  private static func backUp(
    _ connection: inout NavigationConnection, _ line: inout ProgressLine, timeout: UInt64
  ) throws -> NavigationConnection.Reply {
    let request = GetRequest(id: 0, nav: nil, what: .backup)
    let limit = Duration.milliseconds(timeout)
    let question = line.isShown ? GetRequest(id: 0, nav: nil, what: .stats) : nil
    return try connection.get(
      request, timeout: limit, asking: question, every: .milliseconds(100)
    ) { stats in
      guard let value = stats.value, let backup = try? JSONValue(value.bytes)["backup"],
        let done = backup["done"]?.integer, let total = backup["total"]?.integer
      else { return }
      line.show(done, of: total)
    }
  }
}
