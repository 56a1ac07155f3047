import CLinux
import CommandLineOptions
import Glibc
import NavigationClient
import NavigationCore
import RuntimePaths

// The commands about the daemon and its files.
extension Command {
  static let status = Command(
    "status", "Show whether navd is running, and its health", HelpGroup.daemon,
    note: """
      The status is 7 if there is no daemon. With -o json, navctl prints all statistics of navd.
      """, example: "status"
  ) { invocation in
    let daemon = try invocation.connect()
    let (body, statistics) = try daemon.statistics()
    if invocation.isJSON { return try Output.record(JSONRecord(.status, body)) }
    try invocation.write(
      StatusDrawing.lines(statistics, endpoint: daemon.endpoint, columns: invocation.columns))
  }

  static let doctor = Command(
    "doctor", "Check navd and the way to it; print a remedy for each fault", HelpGroup.daemon,
    note: """
      Checks the socket and this user's access, navd and its version, its clock, storage, disk, \
      limits and peers. Each check prints a line with ok, warn or fail, and a remedy where one is \
      needed. The status is 1 if a check fails, else 0.
      """, example: "doctor"
  ) { invocation in
    let findings = Doctor.findings(doctorFacts(invocation))
    if invocation.isJSON {
      try Output.record(JSONRecord(.doctor, Doctor.json(findings)))
    } else {
      try invocation.write(Doctor.lines(findings))
    }
    try ExitStatus.throwIfNonzero(findings.contains { $0.verdict == .fail } ? 1 : 0)
  }

  static let dump = Command(
    "dump", "Print everything for a ticket: states, history, statistics", HelpGroup.daemon,
    .init("[NAV...]", count: 0...Int.max),
    options: [
      .init("redact", "Replace titles, arguments, routes and other texts by their lengths"),
      .init("limit", argument: "N", "Newest revisions of each nav; default 50"),
    ],
    note: """
      The output is one JSON object: the version, the findings of doctor, the statistics of navd, the
      sessions if you may see them, and for each nav its state and its newest revisions. Without NAV
      it has all navs. --redact keeps ids, names of navs and clients, operations and numbers.
      """, example: "dump kiosk --redact"
  ) { invocation in
    let line = invocation.line
    let limit = try line.integer(of: "limit") ?? 50
    try require((1...1000).contains(limit), "--limit is a number from 1 to 1000")
    let daemon = try invocation.connect()
    let names = line.positionals.isEmpty ? try DirectoryNav.navNames(daemon) : line.positionals
    let navs = try names.map { try dumpNav($0, limit, daemon) }
    var members: JSONObject = ["version": .string(Program.version)]
    let (body, _) = try daemon.statistics()
    members.add("statistics", try JSONValue(body)["value"].map(\.opaque))
    members.add(
      "doctor", OpaqueJSON(validated: Doctor.json(Doctor.findings(doctorFacts(invocation)))))
    members.add(
      "clients", (try? DirectoryNav.clients.read(daemon)).map { .array($0.map(\.opaque)) })
    members.add("navs", .array(navs))
    var whole = OpaqueJSON.object(members)
    if line.contains("redact") { whole = Redaction.redacted(try JSONValue(whole.bytes)) }
    try Output.record(JSONRecord(.dump, whole.bytes, at: SystemClock.wallMilliseconds()))
  }

  static let config = Command(
    "config", "Show the values that navd uses, and where each comes from", HelpGroup.daemon,
    .init("[origin KEY]", choices: ["origin": ["origin"]]),
    note: """
      origin prints one value. KEY is SECTION.NAME, such as limits.depth; the name alone is enough
      where it is in one section. An option of navd precedes a variable NAVD_SECTION_NAME, that
      precedes the files of navd.conf.d, and these precede navd.conf. It needs the role admin.
      """, example: "config origin limits.depth"
  ) { invocation in
    let words = invocation.line.positionals
    try require(
      words.isEmpty || words.count == 2 && words[0] == "origin",
      "config takes nothing, or origin and a key",
      remedy: "navctl config, or navctl config origin limits.depth")
    var values = try invocation.connect().get(.config, nil).reply.json().elements
    if words.count == 2 { values = try configurationValues(named: words[1], in: values) }
    if invocation.isJSON {
      let list = OpaqueJSON.array(values.map(\.opaque))
      return try Output.record(JSONRecord(.config, ["values": list]))
    }
    try invocation.table(
      ["KEY", "VALUE", "ORIGIN"],
      values.map { value in ["key", "value", "origin"].map { value[$0]?.string ?? "" } })
  }

  static let reload = Command(
    "reload", "Let navd read its configuration again: all of it, or nothing", HelpGroup.daemon,
    note: """
      No client is disconnected. If something cannot be applied, the former configuration stays, the
      error names file and line, and the status is 2. systemctl reload navd does the same, without an
      answer. It needs the role admin.
      """, example: "reload"
  ) { invocation in
    let answer = try invocation.connect().get(.reload, nil)
    try invocation.write(
      TerminalText.visible(try answer.reply.json().string ?? ""), JSONRecord(.reload, answer.body))
  }

  static let backup = Command(
    "backup", "Let navd copy its journal, and print the path of the copy", HelpGroup.administration,
    options: [Invocation.progressOption],
    note: """
      The copy contains all navs. navd writes it to the directory backups beside the journal, on \
      its own machine, and reads it back before it reports the path. navd --restore FILE restores \
      it. ^C ends navctl alone: navd completes the copy, and navctl status shows it.
      """, example: "backup"
  ) { invocation in
    var line = ProgressLine(.backup, as: try invocation.progressForm())
    let daemon = try invocation.connect()
    defer { line.end() }
    let answer = try backUp(daemon, &line)
    line.complete()
    line.end()
    try invocation.write(try answer.reply.json().string ?? "", JSONRecord(.backup, answer.body))
  }

  static let cluster = Command(
    "cluster", "Show and change which daemon of a cluster has which navs", HelpGroup.administration,
    .init(
      "[ACTION] [SHARD|NAV|MEMBER] [MEMBER]", choices: ["ACTION": ["status", "move", "drain"]]),
    options: [OptionDeclaration("off", "With drain: let the member take shards again")],
    note: """
      ACTION is one of: status (the default) lists the daemons. move SHARD MEMBER, or move NAV MEMBER,
      moves a shard and its navs to a daemon, where they stay as long as it serves. drain MEMBER moves
      everything away from a daemon, before it is stopped for long. Both wait until it is done, and
      need the role admin. Clients follow by themselves; no operation is refused.
      """, example: "cluster drain b"
  ) { invocation in
    let words = invocation.line.positionals
    let isOff = invocation.line.contains("off")
    let daemon = try invocation.connect()
    switch (words.first ?? "status", words.count) {
    case ("status", 0...1):
      let (body, members) = try readCluster(daemon)
      if invocation.isJSON { return try Output.record(JSONRecord(.cluster, body)) }
      try Output.lines(members.table)
    case ("move", 3):
      let wish: ClusterRequest.Wish =
        Int(words[1]).map { .move($0, to: words[2]) } ?? .moveNav(words[1], to: words[2])
      return try changeCluster(wish, daemon) { members in
        let shard = UInt64(words[1]) ?? members.shard(of: words[1])
        return members.owner(of: shard)?.name == words[2]
      }
    case ("drain", 2):
      return try changeCluster(.drain(words[1], on: !isOff), daemon) { members in
        isOff || members.members.first { $0.name == words[1] }?.ownedShards == 0
      }
    default:
      throw UsageError(
        "cluster takes status, move SHARD MEMBER, move NAV MEMBER, or drain MEMBER",
        remedy: "navctl help cluster")
    }
  }

  static let checkDatabaseServer = Command(
    "engine-test", "Check a database server for a cluster", HelpGroup.administration,
    .init("CONNINFO"),
    note: """
      CONNINFO is a connection string of PostgreSQL. The command runs navd-cluster --qualify, which
      needs the package navd-cluster: races of two writers, syncing, fencing, and the settings of
      the server. It prints a line for each check. Passwords come from a service file, never from
      the command line.
      """, example: "engine-test 'host=db1,db2 dbname=navd user=navd'"
  ) { invocation in
    // The checks need the client library of the database, so that `navd-cluster` has them.
    throw Subprocess.exec(
      "navd-cluster", ["navd-cluster", "--qualify", invocation.line.positionals[0]],
      remedy: "install the package navd-cluster, or put its directory into PATH")
  }

  static let schema = Command(
    "schema", "Print the JSON Schema of the output", HelpGroup.administration,
    .init("[TYPE]", choices: ["TYPE": JSONRecord.Kind.allCases.map(\.rawValue)]),
    note: """
      TYPE is the member type of the objects that -o json prints. Without it, the schema has every
      type. Members that a schema does not name can be added at any time; one that it names keeps
      its name and its type.
      """, example: "schema diff"
  ) { invocation in
    guard let word = invocation.line.positionals.first else {
      return try Output.data(JSONRecord.schema)
    }
    let kind = try require(
      JSONRecord.Kind(rawValue: word), "there is no type '\(word)'",
      remedy: "one of \(JSONRecord.Kind.allCases.map(\.rawValue).joined(separator: " "))")
    try Output.json(JSONRecord.schema(of: kind))
  }
}

/// Collects what `doctor` judges; an error of a request becomes a fact, so that a check reports it.
private func doctorFacts(_ invocation: Invocation) -> DoctorFacts {
  var facts = DoctorFacts()
  facts.navctlVersion = Program.versionNumber
  do throws(PathError) {
    facts.endpoint = try PathRules(environment: invocation.environment, userID: effectiveUserID())
      .clientEndpoint(option: invocation.line.value(of: "endpoint"))
  } catch {
    facts.endpointFailure = String(error.description.map { $0 == "\n" ? ";" : $0 })
  }
  if let path = facts.socketPath {
    facts.socketFile = FileStatus.probe(path)
    facts.denial = SocketAccessDenial.find(facts.endpoint ?? "")
  }
  guard let endpoint = facts.endpoint, facts.denial == nil else { return facts }
  do {
    let daemon = try invocation.connect(endpoint, try invocation.identity(endpoint))
    let start = SystemClock.monotonicMilliseconds()
    let pong = try daemon.connection.ping(timeout: daemon.timeout)
    facts.pingMilliseconds = SystemClock.monotonicMilliseconds() - start
    facts.daemonMilliseconds = pong.millisecondsSince1970
    facts.clientMilliseconds = SystemClock.wallMilliseconds()
    facts.statistics = try daemon.statistics().value
  } catch let refusal as Refusal {
    facts.connectionFailure = "navd refuses: \(refusal.error.code): \(refusal.error.message)"
  } catch {
    facts.connectionFailure = "\(error)"
  }
  return facts
}

/// The state and the log of a nav for `dump`, or the error with which navd refuses them.
private func dumpNav(
  _ nav: String, _ limit: UInt64, _ daemon: Daemon
) throws -> OpaqueJSON {
  var members: JSONObject = ["nav": .string(nav)]
  do {
    let state = try daemon.get(.state, nav).reply
    members.add("state", state.value)
    let log = try daemon.fittingLog(nav: nav, from: nil, limit: limit)
    members.add("log", log.value)
    members.add("floor", log.oldestReadable.map { .integer($0.number) })
  } catch let refusal as Refusal {
    members.add("error", refusal.error.body)
  }
  return .object(members)
}

private func configurationValues(named key: String, in values: [JSONValue]) throws -> [JSONValue] {
  let named = values.filter { value in
    let name = value["key"]?.string ?? ""
    return name == key || name.hasSuffix(".\(key)")
  }
  let names = Set(named.compactMap { $0["key"]?.string })
  guard names.count == 1 else {
    let all = values.compactMap { $0["key"]?.string }
    throw UsageError(
      names.isEmpty
        ? "navd has no key '\(TerminalText.visible(key))'"
        : "'\(key)' is a key of several sections",
      remedy: names.isEmpty
        ? Suggestion.nearest(key, among: all).map { "navctl config origin \($0)" }
          ?? "navctl config, which lists all keys"
        : names.sorted().map { "navctl config origin \($0)" }.joined(separator: ", "))
  }
  return named
}

private func backUp(_ daemon: Daemon, _ line: inout ProgressLine) throws -> Daemon.Answer {
  // 24 h, long enough for any journal; if the daemon ends, the connection reports that at once.
  let limit = Duration.milliseconds(daemon.invocation.typedTimeout ?? 24 * 3_600_000)
  return try daemon.connection.get(
    GetRequest(id: 0, nav: nil, what: .backup), timeout: limit,
    polling: line.isShown ? GetRequest(id: 0, nav: nil, what: .stats) : nil,
    every: .milliseconds(100)
  ) { stats in
    guard let value = stats.value, let backup = try? JSONValue(value.bytes)["backup"],
      let done = backup["done"]?.integer, let total = backup["total"]?.integer
    else { return }
    line.show(done, of: total)
  }.accepted()
}

private func readCluster(_ daemon: Daemon) throws -> (body: [UInt8], members: ClusterMembers) {
  let (body, members) = try daemon.cluster()
  guard let members else {
    throw PlainFailure(
      .unsupported, "unsupported: this daemon is not one of a cluster, or has no view of it yet")
  }
  return (body, members)
}

/// Asks the cluster to move shards, and waits until `isDone` accepts the new division.
private func changeCluster(
  _ wish: ClusterRequest.Wish, _ daemon: Daemon, until isDone: (ClusterMembers) -> Bool
) throws {
  _ = try daemon.connection.reassign(wish, timeout: daemon.timeout).accepted()
  let timer = Countdown(daemon.invocation.timeoutMilliseconds)
  while true {
    let (body, members) = try readCluster(daemon)
    if isDone(members) {
      if daemon.invocation.isJSON { try Output.record(JSONRecord(.cluster, body)) }
      return
    }
    if timer.left == .zero {
      throw PlainFailure(
        .busy, "busy: it is not done yet; the wish stays in the database",
        "  try: navctl cluster status")
    }
    _ = poll(nil, 0, 20)
  }
}
