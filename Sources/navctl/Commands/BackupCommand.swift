import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

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

  static func run(_ invocation: Invocation) throws {
    var line = ProgressLine(.backup, as: try ProgressOption.form(invocation))
    let daemon = try invocation.connect()
    defer { line.end() }
    let reply = try backUp(daemon, &line)
    if case .success = reply.result { line.complete() }
    line.end()
    switch reply.result {
    case .failure(let error): throw Refusal(error: error, nav: nil, seen: nil)
    case .success(let answer):
      if invocation.isJSON { return try Output.record(.backup, reply.body) }
      try Output.line(try answer.json().string ?? "")
    }
  }

  private static func backUp(
    _ daemon: Daemon, _ line: inout ProgressLine
  ) throws -> NavigationConnection.Reply {
    let limit = Duration.milliseconds(daemon.invocation.typedTimeout ?? defaultTimeout)
    return try daemon.connection.get(
      GetRequest(id: 0, nav: nil, what: .backup), timeout: limit,
      asking: line.isShown ? GetRequest(id: 0, nav: nil, what: .stats) : nil,
      every: .milliseconds(100)
    ) { stats in
      guard let value = stats.value, let backup = try? JSONValue(value.bytes)["backup"],
        let done = backup["done"]?.integer, let total = backup["total"]?.integer
      else { return }
      line.show(done, of: total)
    }
  }
}
