import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum TraceCommand {
  static let command = Command(
    "trace", "Print the messages of one client or one nav", Subject.look, .init("NAV"),
    options: [
      .init("client", argument: "CLIENT", "Messages of this client, by its name or its id"),
      .init("all", "The messages of all clients"),
      .init("count", argument: "N", "End after N messages"),
      .init("redact", "Replace texts of users by their number of characters"),
    ],
    note: """
      Needs the role admin. Each line names the peer as the kernel or its key proves it. In means from the
      client to navd, out from navd to the client. navd reports at most 2000 messages in a second, drops
      the others, and the line says how many: a trace never slows a client. Bodies of more than 4096
      octets are left out. --timeout ends the command.
      """, example: "trace kiosk --timeout 1s", run: run)

  static func run(_ invocation: Invocation) throws {
    let client = invocation.line.value(of: "client")
    let isOfAll = invocation.line.contains("all")
    let hasNav = invocation.namesNav
    try require(!isOfAll || client == nil && !hasNav, "--all goes without NAV and without --client")
    let nav = isOfAll || client != nil && !hasNav ? nil : try invocation.navArguments().nav
    var remaining = try invocation.line.integer(of: "count")
    var request = GetRequest(id: 0, nav: nav, what: .trace)
    request.client = client
    let timer = Countdown(invocation.typedTimeout)
    let isRedacted = invocation.line.contains("redact")
    let daemon = try invocation.connect(wake: Output.pipe)
    try daemon.openSession()
    _ = try daemon.get(request)
    while remaining != 0, let event = try daemon.connection.next(timeout: timer.left) {
      switch event {
      case .traced(let messages):
        for report in messages.list where remaining != 0 {
          let report = try JSONValue(report.bytes)
          let shown = isRedacted ? TraceText.redacted(report) : report
          try invocation.write(TraceText.line(shown), TraceText.record(shown))
          remaining = remaining.map { $0 - 1 }
        }
        if messages.dropped > 0 {
          try invocation.write(
            TraceText.dropped(messages.dropped),
            Record(.dropped, ["dropped": .integer(messages.dropped)]))
        }
        guard !messages.isOver else {
          throw PlainFailure(.forbidden, "the trace has ended: this user has lost the role admin")
        }
      case .opened:
        // A new session has no trace.
        _ = try daemon.get(request)
      default: break
      }
    }
    try daemon.connection.leave()
    guard let remaining, remaining > 0, !Output.hasLostReader else { return }
    throw PlainFailure(.busy, "timeout: \(remaining) awaited messages did not pass")
  }
}
