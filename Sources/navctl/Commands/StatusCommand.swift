import CommandLineOptions
import NavctlSupport
import Navigation
import NavigationClient
import NavigationSync

/// `status`: whether the daemon is there, and how it does.
enum StatusCommand: Command {
  static let declaration = CommandSet.Command(
    "status", "Say whether navd is there, and how it does", group: Subject.daemon,
    epilogue: """
      Status 7 if there is no daemon. With -o json everything that the daemon tells of itself.

      Example: navctl status
      """)

  static func run(_ invocation: Invocation) throws -> Int32 {
    var connection = try invocation.connect()
    let (body, statistics) = try read(invocation, &connection)
    if invocation.isJSON {
      try Output.line(body)
    } else {
      try invocation.write(
        StatusDrawing.lines(
          statistics, endpoint: connection.endpoint, columns: invocation.columns))
    }
    return 0
  }

  /// Reads what the daemon says of itself.
  static func read(
    _ invocation: Invocation, _ connection: inout NavigationConnection,
    timeout: UInt64? = nil
  ) throws -> (body: [UInt8], statistics: DaemonStatistics) {
    let reply = try connection.get(
      GetRequest(id: 0, nav: nil, what: .stats),
      timeout: .milliseconds(timeout ?? invocation.timeoutMilliseconds))
    switch reply.result {
    case .success(let answer):
      let value = answer.value?.bytes ?? OperationText.object([])
      return (reply.body, try DaemonStatistics(json: value))
    case .failure(let error): throw Refusal(error: error, nav: nil, seen: nil)
    }
  }
}
