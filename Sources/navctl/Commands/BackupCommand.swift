import CommandLineOptions
import Glibc
import NavctlSupport
import NavigationClient
import NavigationCore

/// `backup`: lets navd copy its journal.
enum BackupCommand: Command {
  static let declaration = CommandSet.Command(
    "backup", "Let navd copy its journal, and print the path of the copy",
    group: Subject.administration,
    options: [
      OptionDeclaration(
        "progress", argument: "HOW",
        "auto (if stderr is a terminal), json (lines on stderr) or none",
        choices: ["auto", "json", "none"])
    ],
    epilogue: """
      The copy contains all navs. navd writes it to the directory backups beside the journal, on \
      its own machine, and reads it back before it reports the path. navd --restore FILE restores \
      it.

      Example: navctl backup
      """)

  /// 24 h, long enough for any journal; if the daemon ends, the connection reports that at once.
  private static let defaultTimeout: UInt64 = 24 * 3_600_000

  private enum Progress: String, CaseIterable { case auto, json, none }

  static func run(_ invocation: Invocation) throws -> Int32 {
    let word = invocation.line.value(of: "progress") ?? "auto"
    guard var progress = Progress(rawValue: word) else {
      throw UsageError("--progress takes auto, json or none, not '\(word)'")
    }
    let isTerminal = isatty(2) == 1
    if progress == .auto, !isTerminal { progress = .none }
    var connection = try invocation.connect()
    let reply = try backUp(
      &connection, progress, timeout: invocation.typedTimeout ?? defaultTimeout)
    if progress == .auto { Output.progress("") }
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
    _ connection: inout NavigationConnection, _ progress: Progress, timeout: UInt64
  ) throws -> NavigationConnection.Reply {
    let request = GetRequest(id: 0, nav: nil, what: .backup)
    let limit = Duration.milliseconds(timeout)
    let question = progress == .none ? nil : GetRequest(id: 0, nav: nil, what: .stats)
    return try connection.get(
      request, timeout: limit, asking: question, every: .milliseconds(100)
    ) { stats in
      guard let value = stats.value, let backup = try? JSONValue(value.bytes)["backup"],
        let done = backup["done"]?.integer, let total = backup["total"]?.integer
      else { return }
      if progress == .json {
        Output.error("{\"done\":\(done),\"total\":\(total)}")
      } else {
        let percent = total > 0 ? done * 100 / total : 0
        Output.progress("backing up: \(percent) %")
      }
    }
  }
}
