import CommandLineOptions
import Glibc
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync

/// `backup`: has navd copy its journal.
enum BackupCommand: Command {
  static let declaration = CommandSet.Command(
    "backup", "Have navd copy its journal, and say where the copy is",
    group: Subject.administration,
    options: [
      OptionDeclaration(
        "progress", argument: "HOW", "auto (on a terminal), json (lines on stderr) or none")
    ],
    epilogue: """
      The copy is of all navs, is read whole before it counts, and stands in the directory backups \
      beside the journal, on the daemon's machine. navd --restore FILE puts it back.

      Example: navctl backup
      """)

  /// Long enough for any journal; a daemon that ends is noticed by the connection.
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
        try Output.line(reply.body)
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
