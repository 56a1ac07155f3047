import CommandLineOptions
import NavctlSupport
import NavigationClient
import NavigationCore
import NavigationReplica

/// `list`: lists the navs, or the sessions.
enum ListCommand: Command {
  static let declaration = CommandSet.Command(
    "list", "List the navs", group: Subject.look,
    options: [OptionDeclaration("clients", "List the sessions instead; needs the role admin")],
    epilogue: "Example: navctl list")

  static func run(_ invocation: Invocation) throws -> Int32 {
    var connection = try invocation.connect()
    let isClients = invocation.line.contains("clients")
    let records = try Directory.read(
      invocation, &connection, isClients ? Directory.clients : Directory.nav)
    if invocation.isJSON {
      let list = OpaqueJSON.array(records.map { OpaqueJSON(validated: $0.bytes) })
      try Output.record(
        isClients ? Record(.clients, ["clients": list]) : Record(.navs, ["navs": list]))
    } else {
      for line in isClients
        ? Tables.clients(records, columns: invocation.tableColumns)
        : Tables.navs(records, columns: invocation.tableColumns)
      {
        try Output.line(line)
      }
    }
    return 0
  }
}

/// The daemon's directories `$navs` and `$clients`, which clients read like navs.
enum Directory {
  static let nav = "$navs"
  static let clients = "$clients"

  /// Reads a directory; `$navs` of all daemons of a cluster.
  static func read(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String = nav
  ) throws -> [JSONValue] {
    let others = nav == Self.nav ? try others(invocation, &connection) : []
    let own = try readOwn(invocation, &connection, nav)
    guard !others.isEmpty else { return own }
    var lists = [own]
    for member in others {
      guard let address = member.address else { continue }
      do {
        var connection = try invocation.connect(to: address)
        lists.append(try readOwn(invocation, &connection, nav))
      } catch let error as ConnectionError {
        let name = TerminalText.visible(member.name)
        Output.error("navctl: the navs of \(name) are missing: \(error)")
      }
    }
    return ClusterMembers.join(lists)
  }

  /// The other daemons of a cluster that have navs; none without a cluster.
  private static func others(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [ClusterMembers.Member] {
    let reply = try connection.cluster(timeout: .milliseconds(invocation.timeoutMilliseconds))
    guard case .success(let answer) = reply.result else { return [] }
    return ClusterMembers(try Reading.value(answer))?.others ?? []
  }

  /// Reads a directory of one daemon; one that exceeds the size of a reply is read from the snapshot
  /// of a watch.
  private static func readOwn(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String
  ) throws -> [JSONValue] {
    do {
      let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
      return try Reading.value(answer.reply)["screens"]?.elements ?? []
    } catch let refusal as Refusal where refusal.error.knownCode == .limit {
      let state = try watchOnce(invocation, &connection, nav)
      return try JSONValue(state)["screens"]?.elements ?? []
    }
  }

  private static func watchOnce(
    _ invocation: Invocation, _ connection: inout NavigationConnection, _ nav: String
  ) throws -> [UInt8] {
    let timeout = Duration.milliseconds(invocation.timeoutMilliseconds)
    try connection.openSession(timeout: timeout)
    try connection.watch(nav)
    while let event = try connection.next(timeout: timeout) {
      switch event {
      case .changed(_, .replaced(let mirror, _)): return MirrorText.state(mirror, nav: nav)
      case .watchEnded(_, _, .refused(let error)):
        throw Refusal(error: error, nav: nav, seen: nil)
      default: continue
      }
    }
    throw PlainFailure(
      lines: ConnectionText.timeout(connection.endpoint, isChange: false),
      status: ErrorCode.busy.exitStatus)
  }
}
