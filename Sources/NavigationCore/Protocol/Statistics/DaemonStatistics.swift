/// The statistics of a daemon, as a client reads them from `get stats`.
///
/// A figure that the daemon does not report is 0 or nil.
package struct DaemonStatistics: Sendable {
  /// The name and version of the daemon, such as `navd/0.1.0`.
  package var server = ""
  /// The id of the daemon's run; counters start at 0 in each run.
  package var boot = ""
  /// The sequence number of the journal's newest row.
  package var sequence: UInt64 = 0
  /// The present numbers of navs, sessions, connections and watches.
  package var (navs, sessions, connections, watches): (UInt64, UInt64, UInt64, UInt64) = (
    0, 0, 0, 0
  )
  /// The number of navs in memory; the others are in the journal only.
  package var loadedNavs: UInt64 = 0
  /// The number of clients whose answers the daemon keeps for repeated ops.
  package var rememberedClients: UInt64 = 0
  /// Bytes of diffs in memory for clients that reconnect.
  package var resumeBytes: UInt64 = 0
  /// Milliseconds since the daemon started.
  package var uptime: UInt64 = 0
  /// Whether the daemon accepts sessions; nil if it does not report that.
  package var isServing: Bool?
  /// Why the journal accepts no commits at present, and what to do; nil if it accepts them.
  package var storageProblem: String?
  /// Why new clients do not reach a socket at its path, and what to do; nil if they do.
  package var socketProblem: String?
  /// The number of watches that are behind, the lag of the slowest in revisions, and the sum.
  package var (watchesBehind, largestLag, lag): (UInt64, UInt64, UInt64) = (0, 0, 0)
  /// Sessions without flow-control credit, to which the daemon can send nothing.
  package var stalledSessions: UInt64 = 0
  /// Bytes of the journal's file and of its write-ahead log, and pages that await a checkpoint.
  package var (journalBytes, logBytes, logPages): (UInt64, UInt64, UInt64) = (0, 0, 0)
  /// Bytes of rows at which the daemon deletes history; 0 for no limit.
  package var journalLimit: UInt64 = 0
  /// Milliseconds between two backups of the daemon's own; 0 if it makes none.
  package var backupInterval: UInt64 = 0
  /// Milliseconds since the newest of them; nil if there is none.
  package var backupAge: UInt64?
  /// Whether the last attempt at a backup of the daemon's own failed, or one is an hour late.
  package var isBackupOverdue = false
  /// Whether older backups of the daemon's own could not be removed after the newest one.
  package var hasBackupRetentionFailed = false
  /// Backups of the daemon's own since its start, made and failed.
  package var (backupsMade, backupsFailed): (UInt64, UInt64) = (0, 0)
  /// The backup that is being made, in pages done and of all; 0 if there is none.
  package var (backupDone, backupTotal): (UInt64, UInt64) = (0, 0)
  /// Rows that pruning has examined, and all that it must examine; 0 while it does not run.
  package var (pruned, toPrune): (UInt64, UInt64) = (0, 0)
  /// Free bytes and size of the journal's file system.
  package var (diskFree, diskSize): (UInt64, UInt64) = (0, 0)
  package var (descriptorLimit, connectionLimit): (UInt64, UInt64) = (0, 0)
  /// The limit of connections of one user or key.
  package var principalLimit: UInt64 = 0
  /// The users and keys with the most connections, in descending order.
  package var principals: [PrincipalConnections] = []
  /// How often the daemon found that its count of connections was wrong.
  package var connectionDifferences: UInt64 = 0
  /// The version of libzmq, such as `4.3.4`.
  package var libzmq = ""
  /// The number of ops by outcome.
  package var operations: [String: UInt64] = [:]
  /// The number of refused messages other than ops, by error code.
  package var refusals: [String: UInt64] = [:]
  /// The number of ended sessions by reason.
  package var endReasons: [String: UInt64] = [:]
  /// The number of messages from clients, and of messages to clients.
  package var (received, sent): (UInt64, UInt64) = (0, 0)
  /// The number of revisions and of complete states sent to watches.
  package var (diffs, snapshots): (UInt64, UInt64) = (0, 0)
  /// The number of sessions opened.
  package var opened: UInt64 = 0
  /// Durations of commits and of the sending after them in nanoseconds, and records per commit.
  package var (commit, fanOut, batch): (Histogram?, Histogram?, Histogram?) = (nil, nil, nil)

  /// What a daemon of a cluster reports of it.
  package struct Cluster: Sendable {
    package var member = ""
    /// The number of its shards, of the daemons that serve, and of the shards that none of them has.
    package var (shards, members, unowned): (UInt64, UInt64, UInt64) = (0, 0, 0)
    /// The milliseconds until its lease ended when it last looked.
    package var lease: UInt64 = 0

    package init() {}
  }

  /// The cluster; nil outside of one.
  package var cluster: Cluster?

  /// The sessions with the most ops; nil for a role that cannot see them.
  package var busiest: [BusySession]?

  /// A session with its activity.
  package struct BusySession: Hashable, Sendable {
    package var (id, name): (String, String)
    /// The number of its answered ops, and of its watches.
    package var (operations, watches): (UInt64, UInt64)

    package init(id: String, name: String, operations: UInt64, watches: UInt64) {
      (self.id, self.name, self.operations, self.watches) = (id, name, operations, watches)
    }
  }

  package init() {}

  /// Reads the value of `get stats`, one JSON object.
  package init(json: [UInt8]) throws(JSONError) {
    var tape = JSONTape()
    try tape.read(json)
    let all = Node(tape: tape, index: tape.root)
    server = all["server"]?.string ?? ""
    boot = all["boot"]?.string ?? ""
    sequence = all.number("seq")
    (navs, sessions) = (all.number("navs"), all.number("sessions"))
    (connections, watches) = (all.number("connections"), all.number("watches"))
    principals = (all["principals"]?.elements ?? []).map { node in
      PrincipalConnections(
        principal: node["principal"]?.string ?? "", count: node.number("connections"))
    }
    connectionDifferences = all.number("connectionDifferences")
    loadedNavs = all.number("loadedNavs")
    rememberedClients = all.number("rememberedClients")
    resumeBytes = all.number("resumeBytes")
    uptime = all.number("uptime")
    isServing = all["serving"]?.bool
    storageProblem = all["storageProblem"]?.string
    socketProblem = all["socketProblem"]?.string
    readPlaces(all)
    readCounters(all)
  }

  private mutating func readPlaces(_ all: Node) {
    if let node = all["lag"] {
      (watchesBehind, largestLag, lag) = (
        node.number("watches"), node.number("max"), node.number("sum")
      )
      stalledSessions = node.number("stalled")
    }
    if let node = all["journal"] {
      (journalBytes, logBytes) = (node.number("bytes"), node.number("walBytes"))
      (logPages, journalLimit) = (node.number("walPages"), node.number("limit"))
    }
    if let node = all["backups"] {
      backupInterval = node.number("every")
      backupAge = node["age"] == nil ? nil : node.number("age")
      isBackupOverdue = node["overdue"]?.bool ?? false
      hasBackupRetentionFailed = node["retentionFailed"]?.bool ?? false
      (backupsMade, backupsFailed) = (node.number("made"), node.number("failed"))
    }
    if let node = all["backup"] {
      (backupDone, backupTotal) = (node.number("done"), node.number("total"))
    }
    if let node = all["prune"] { (pruned, toPrune) = (node.number("done"), node.number("total")) }
    if let node = all["cluster"] {
      var found = Cluster()
      found.member = node["member"]?.string ?? ""
      (found.shards, found.members) = (node.number("shards"), node.number("members"))
      (found.unowned, found.lease) = (node.number("unowned"), node.number("lease"))
      cluster = found
    }
    if let node = all["disk"] { (diskFree, diskSize) = (node.number("free"), node.number("size")) }
    if let node = all["process"] {
      descriptorLimit = node.number("descriptorLimit")
      connectionLimit = node.number("connectionLimit")
      principalLimit = node.number("principalLimit")
      libzmq = node["libzmq"]?.string ?? ""
    }
  }

  private mutating func readCounters(_ all: Node) {
    operations = all["operations"]?.numbers ?? [:]
    refusals = all["refusals"]?.numbers ?? [:]
    endReasons = all["ended"]?.numbers ?? [:]
    if let node = all["messages"] {
      (received, sent) = (node.number("received"), node.number("sent"))
      (diffs, snapshots) = (node.number("diffs"), node.number("snapshots"))
    }
    opened = all.number("opened")
    commit = all["commit"]?.histogram
    fanOut = all["fanOut"]?.histogram
    batch = all["batch"]?.histogram
    busiest = all["busiest"]?.elements.map { node in
      BusySession(
        id: node["id"]?.string ?? "", name: node["name"]?.string ?? "",
        operations: node.number("ops"), watches: node.number("watches"))
    }
  }
}

/// One value of the JSON text, with accessors that return 0 or nil if a member is missing.
private struct Node {
  let tape: JSONTape
  let index: Int

  var string: String? { tape.string(index) }
  var bool: Bool? { tape.bool(index) }

  subscript(_ name: String) -> Node? {
    guard tape.kind(index) == .object else { return nil }
    return tape.member(name, of: index).map { Node(tape: tape, index: $0) }
  }

  func number(_ name: String) -> UInt64 {
    self[name].flatMap { tape.integer($0.index) } ?? 0
  }

  /// The members whose values are numbers.
  var numbers: [String: UInt64] {
    guard tape.kind(index) == .object else { return [:] }
    var numbers: [String: UInt64] = [:]
    tape.forEachMember(of: index) { name, value in numbers[name] = tape.integer(value) }
    return numbers
  }

  private func list(_ name: String) -> [UInt64] {
    guard let node = self[name], tape.kind(node.index) == .array else { return [] }
    return tape.elements(of: node.index) { tape.integer($0) ?? 0 }
  }

  var elements: [Node] {
    guard tape.kind(index) == .array else { return [] }
    return tape.elements(of: index) { Node(tape: tape, index: $0) }
  }

  var histogram: Histogram? {
    let (bounds, counts) = (list("bounds"), list("counts"))
    guard counts.count == bounds.count + 1, zip(bounds, bounds.dropFirst()).allSatisfy(<) else {
      return nil
    }
    return Histogram(bounds: bounds, counts: counts, sum: number("sum"))
  }
}

/// The number of connections of one user or key.
package struct PrincipalConnections: Hashable, Sendable {
  /// The number of principals that the statistics list.
  package static let limit = 16
  /// `uid:N` for a user, or the name of a key.
  package var principal: String
  /// Its open connections, including those that have not sent a message yet.
  package var count: UInt64

  package init(principal: String, count: UInt64) {
    (self.principal, self.count) = (principal, count)
  }
}
