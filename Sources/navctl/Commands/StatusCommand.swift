import CommandLineOptions
import NavigationClient
import NavigationCore

enum StatusCommand: Command {
  static let declaration = CommandSet.Command(
    "status", "Show whether navd is running, and its health", Subject.daemon,
    note: """
      The status is 7 if there is no daemon. With -o json, navctl prints all statistics of navd.
      """, example: "status")

  static func run(_ invocation: Invocation) throws {
    let daemon = try invocation.connect()
    let (body, statistics) = try read(daemon)
    if invocation.isJSON { return try Output.record(.status, body) }
    try invocation.write(
      StatusDrawing.lines(statistics, endpoint: daemon.endpoint, columns: invocation.columns))
  }

  static func read(
    _ daemon: Daemon, timeout: UInt64? = nil
  ) throws -> (body: [UInt8], statistics: JSONValue) {
    let reply = try daemon.connection.get(
      GetRequest(id: 0, nav: nil, what: .stats),
      timeout: .milliseconds(timeout ?? daemon.invocation.timeoutMilliseconds))
    switch reply.result {
    case .success(let answer): return (reply.body, try answer.json())
    case .failure(let error): throw Refusal(error: error, nav: nil, seen: nil)
    }
  }
}
