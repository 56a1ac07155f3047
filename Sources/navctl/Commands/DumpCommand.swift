import CommandLineOptions
import NavigationClient
import NavigationCore
import RuntimePaths

enum DumpCommand: Command {
  static let declaration = CommandSet.Command(
    "dump", "Print everything for a ticket: states, history, statistics", Subject.daemon,
    .init("[NAV...]", count: 0...Int.max),
    options: [
      .init("redact", "Replace titles, arguments, routes and other texts by their lengths"),
      .init("limit", argument: "N", "Newest revisions of each nav; default 50"),
    ],
    note: """
      The output is one JSON object: the version, the findings of doctor, the statistics of navd, the
      sessions if you may see them, and for each nav its state and its newest revisions. Without NAV
      it has all navs. --redact keeps ids, names of navs and clients, operations and numbers.
      """, example: "dump kiosk --redact")

  static func run(_ invocation: Invocation) throws {
    let line = invocation.line
    let limit = try line.integer(of: "limit") ?? 50
    try require((1...1000).contains(limit), "--limit is a number from 1 to 1000")
    let daemon = try invocation.connect()
    let names = line.positionals.isEmpty ? try Directory.navs.names(daemon) : line.positionals
    let navs = try names.map { try describe($0, limit, daemon) }
    var members: JSONObject = ["version": .string(Program.version)]
    let (body, _) = try StatusCommand.read(daemon)
    members.add("statistics", try JSONValue(body)["value"].map { OpaqueJSON(validated: $0.bytes) })
    members.add("doctor", OpaqueJSON(validated: Doctor.json(DoctorCommand.findings(invocation))))
    members.add("clients", try? clients(daemon))
    members.add("navs", .array(navs))
    var whole = OpaqueJSON.object(members)
    if line.contains("redact") { whole = Redaction.redacted(try JSONValue(whole.bytes)) }
    try Output.record(.dump, whole.bytes, at: SystemClock.wallMilliseconds())
  }

  private static func clients(_ daemon: Daemon) throws -> OpaqueJSON {
    .array(try Directory.clients.read(daemon).map { OpaqueJSON(validated: $0.bytes) })
  }

  /// State and log of a nav; the error instead of what cannot be read.
  private static func describe(
    _ nav: String, _ limit: UInt64, _ daemon: Daemon
  ) throws -> OpaqueJSON {
    var members: JSONObject = ["nav": .string(nav)]
    do {
      let state = try daemon.get(.state, nav).reply
      members.add("state", state.value)
      let log = try daemon.someLog(nav: nav, from: nil, limit: limit)
      members.add("log", log.value)
      members.add("floor", log.floor.map { .integer($0.number) })
    } catch let refusal as Refusal {
      members.add("error", refusal.error.body)
    }
    return .object(members)
  }
}
