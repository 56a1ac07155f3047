import CommandLineOptions
import NavigationClient
import NavigationCore
import NavigationReplica

/// `list`: lists the navs, or the sessions.
enum ListCommand: Command {
  static let declaration = CommandSet.Command(
    "list", "List the navs, with the position of each", Subject.look,
    options: [OptionDeclaration("clients", "List the sessions instead; needs the role admin")],
    example: "list")

  static func run(_ invocation: Invocation) throws -> Int32 {
    var connection = try invocation.connect()
    let isClients = invocation.line.contains("clients")
    let records: [JSONValue]
    if isClients {
      records = try Directory.clients.read(invocation, &connection)
    } else {
      let lists = try Directory.readOfEachMember([.navs, .heads], invocation, &connection)
      records = NavList.join(navs: lists[0], heads: lists[1])
    }
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

/// A virtual nav of the daemon, which clients read like a nav.
struct Directory {
  static let navs = Directory(nav: "$navs", isOfEachMember: true, isOptional: false)
  /// The positions of the navs.
  static let heads = Directory(nav: "$heads", isOfEachMember: true, isOptional: true)
  static let clients = Directory(nav: "$clients", isOfEachMember: false, isOptional: false)

  let nav: String
  /// Whether each daemon of a cluster has its own records, which belong together.
  let isOfEachMember: Bool
  /// Whether a daemon counts as one without records if it refuses to give them.
  ///
  /// The caller may not read them, or the daemon is of a version without this nav. The daemons of a
  /// cluster can differ in both.
  let isOptional: Bool

  /// Reads the records, of all daemons of a cluster if they belong together.
  func read(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [JSONValue] {
    try Self.read([self], isOfEachMember: isOfEachMember, invocation, &connection)[0]
  }

  /// Reads the records of several directories, each daemon of a cluster over one connection.
  static func readOfEachMember(
    _ directories: [Directory], _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [[JSONValue]] {
    try read(directories, isOfEachMember: true, invocation, &connection)
  }

  private static func read(
    _ directories: [Directory], isOfEachMember: Bool, _ invocation: Invocation,
    _ connection: inout NavigationConnection
  ) throws -> [[JSONValue]] {
    let others = isOfEachMember ? try others(invocation, &connection) : []
    var lists = try directories.map { [try $0.readOwn(invocation, &connection)] }
    for member in others {
      guard let address = member.address else { continue }
      do {
        var connection = try invocation.connect(to: address)
        let found = try directories.map { try $0.readOwn(invocation, &connection) }
        for (index, records) in found.enumerated() { lists[index].append(records) }
      } catch let error as ConnectionError {
        let name = TerminalText.visible(member.name)
        Output.error("navctl: the navs of \(name) are missing: \(error)")
      }
    }
    return lists.map { $0.count == 1 ? $0[0] : ClusterMembers.join($0) }
  }

  /// The other daemons of a cluster that have navs; none without a cluster.
  private static func others(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [ClusterMembers.Member] {
    let reply = try connection.cluster(timeout: .milliseconds(invocation.timeoutMilliseconds))
    guard case .success(let answer) = reply.result else { return [] }
    return ClusterMembers(try Reading.value(answer))?.others ?? []
  }

  /// Reads the records of one daemon; none if it refuses those of an optional directory.
  private func readOwn(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [JSONValue] {
    do {
      return try readAll(invocation, &connection)
    } catch let refusal as Refusal
      where isOptional
      && [.forbidden, .noNav].contains(refusal.error.knownCode)
    {
      return []
    }
  }

  /// Reads the records of one daemon; those that exceed the size of a reply are read from the snapshot
  /// of a watch.
  private func readAll(
    _ invocation: Invocation, _ connection: inout NavigationConnection
  ) throws -> [JSONValue] {
    do {
      let answer = try Reading.get(invocation, &connection, GetRequest(id: 0, nav: nav))
      return try Reading.value(answer.reply)["screens"]?.elements ?? []
    } catch let refusal as Refusal where refusal.error.knownCode == .limit {
      let state = try watchOnce(invocation, &connection)
      return try JSONValue(state)["screens"]?.elements ?? []
    }
  }

  private func watchOnce(
    _ invocation: Invocation, _ connection: inout NavigationConnection
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
