import CommandLineOptions
import NavigationClient
import NavigationCore

enum TraceCommand {
  static let command = Command(
    "trace", "Print the messages of one client or one nav", HelpGroup.look, .init("NAV"),
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
    let daemon = try invocation.connect(wake: Output.stdoutPipe)
    try daemon.openSession()
    _ = try daemon.get(request)
    while remaining != 0, let event = try daemon.connection.next(timeout: timer.left) {
      switch event {
      case .traced(let messages):
        for report in messages.list where remaining != 0 {
          let report = try JSONValue(report.bytes)
          let shown = isRedacted ? redacted(report) : report
          try invocation.write(line(shown), record(shown))
          remaining = remaining.map { $0 - 1 }
        }
        if messages.dropped > 0 {
          try invocation.write(
            droppedText(messages.dropped),
            JSONRecord(.dropped, ["dropped": .integer(messages.dropped)]))
        }
        guard !messages.isTraceOver else {
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

  /// A line such as `08:15:00.250  in   op  remote, uid 1000, pid 412  id 7  kiosk  pop  64 B`.
  static func line(_ report: JSONValue) -> String {
    let direction = report["dir"]?.string == "out" ? "out" : "in "
    let verb = report["verb"]?.string.map { $0.isEmpty ? "unreadable" : $0 } ?? "-"
    var parts = [
      time(report["t"]?.integer), direction, TerminalText.padded(verb, columns: 8), peer(report),
    ]
    if let body = report["body"] { parts += summary(of: body) }
    parts.append("\(report["size"]?.integer ?? 0) B")
    return TerminalText.visible(parts.joined(separator: "  "))
  }

  static func droppedText(_ count: UInt64) -> String {
    "… \(count) \(count == 1 ? "message" : "messages") dropped: more than 2000 in a second, or this "
      + "terminal was too slow"
  }

  static func record(_ report: JSONValue) -> JSONRecord {
    let members = report.object.members.filter { $0.name != "t" }
    return JSONRecord(.traced, JSONObject(members), at: report["t"]?.integer)
  }

  static func redacted(_ report: JSONValue) -> JSONValue {
    let members = report.members.map { name, value in
      JSONObject.Member(
        name: name, value: name == "body" ? Redaction.redacted(value) : value.opaque)
    }
    return (try? JSONValue(OpaqueJSON.object(JSONObject(members)).bytes)) ?? report
  }

  private static func time(_ milliseconds: UInt64?) -> String {
    guard let milliseconds else { return "-" }
    let seconds = Tables.utc(milliseconds: milliseconds).dropFirst(11).prefix(8)
    let rest = String(milliseconds % 1000)
    return "\(seconds).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest)"
  }

  private static func peer(_ report: JSONValue) -> String {
    [
      ("name", ""), ("uid", "uid "), ("pid", "pid "), ("key", "key "), ("address", ""),
      ("actor", "for "),
    ].compactMap { name, words in report[name].map { words + $0.plainText } }
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }

  private static func summary(of body: JSONValue) -> [String] {
    let operations = body.list("do").compactMap { $0.members.first?.name }
    let cause = body["cause"]?.string
    let parts: [String?] = [
      body["id"]?.integer.map { "id \($0)" }, body["nav"]?.string, body["what"]?.string,
      operations.isEmpty ? nil : operations.joined(separator: ","), body["code"]?.string,
      body["rev"]?.integer.map { "rev \($0)" }, cause == "api" ? nil : cause,
    ]
    return parts.compactMap(\.self)
  }
}
