/// The statistics of a daemon, as a client reads them.
///
/// A figure that the daemon does not tell, because it is older, is 0 or nil.
package struct DaemonStatistics: Sendable {
  /// The name and version of the daemon, as in `navd/0.1.0`.
  package var server = ""
  /// The run of the daemon; another one has other counters.
  package var boot = ""
  /// The number of the last commit.
  package var sequence: UInt64 = 0
  /// What there is at the moment.
  package var (navs, sessions, connections, watches): (UInt64, UInt64, UInt64, UInt64) = (
    0, 0, 0, 0
  )
  /// Clients whose ops are remembered.
  package var rememberedClients: UInt64 = 0
  /// Bytes of diffs that are kept for those who come back.
  package var resumeBytes: UInt64 = 0
  /// Milliseconds since the daemon started.
  package var uptime: UInt64 = 0
  /// Whether the daemon takes sessions; nil where it does not say.
  package var isServing: Bool?
  /// Whether the journal takes no commits at the moment.
  package var isStorageFailing = false
  /// Watches that are behind, how many revisions the slowest of them is, and all of them together.
  package var (watchesBehind, largestLag, lag): (UInt64, UInt64, UInt64) = (0, 0, 0)
  /// Sessions to which nothing may be sent.
  package var stalledSessions: UInt64 = 0
  /// Bytes of the journal's file and of its write-ahead log, and pages that wait in the latter.
  package var (journalBytes, logBytes, logPages): (UInt64, UInt64, UInt64) = (0, 0, 0)
  /// Bytes of rows at which history is shortened; 0 for no bound.
  package var journalLimit: UInt64 = 0
  /// Bytes of the journal's file system: free, and all.
  package var (diskFree, diskSize): (UInt64, UInt64) = (0, 0)
  /// The most descriptors of the process, and the most connections.
  package var (descriptorLimit, connectionLimit): (UInt64, UInt64) = (0, 0)
  /// The most connections of one user or key.
  package var principalLimit: UInt64 = 0
  /// The users and keys with the most connections, those first.
  package var principals: [PrincipalConnections] = []
  /// How often the daemon found that it counts other connections than there are.
  package var connectionDifferences: UInt64 = 0
  /// The version of libzmq.
  package var libzmq = ""
  /// Ops by what became of them.
  package var operations: [String: UInt64] = [:]
  /// Other messages that were refused, by the code.
  package var refusals: [String: UInt64] = [:]
  /// Sessions that ended, by the reason.
  package var endReasons: [String: UInt64] = [:]
  /// Messages from clients and to them.
  package var (received, sent): (UInt64, UInt64) = (0, 0)
  /// Revisions and whole states among what was sent.
  package var (diffs, snapshots): (UInt64, UInt64) = (0, 0)
  /// Sessions opened.
  package var opened: UInt64 = 0
  /// Nanoseconds of commits and of the sending behind them, and records of a commit.
  package var (commit, fanOut, batch): (Histogram?, Histogram?, Histogram?) = (nil, nil, nil)

  /// The sessions that did the most; nil for a role that may not see them.
  package var busiest: [BusySession]?

  /// A session and what it did.
  package struct BusySession: Hashable, Sendable {
    /// The client's id, and what it calls itself.
    package var (id, name): (String, String)
    /// Its ops that were answered, and its watches.
    package var (operations, watches): (UInt64, UInt64)

    /// Makes a session from its members.
    package init(id: String, name: String, operations: UInt64, watches: UInt64) {
      (self.id, self.name, self.operations, self.watches) = (id, name, operations, watches)
    }
  }

  /// Makes statistics without anything.
  package init() {}

  /// Reads the value of `get stats`.
  ///
  /// - Parameter json: one JSON object.
  /// - Throws: what is no JSON, and at which byte.
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
    rememberedClients = all.number("rememberedClients")
    resumeBytes = all.number("resumeBytes")
    uptime = all.number("uptime")
    isServing = all["serving"]?.bool
    isStorageFailing = all["storageFailing"]?.bool ?? false
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

/// A value of a text, and what it holds.
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

  /// The members that are numbers.
  var numbers: [String: UInt64] {
    guard tape.kind(index) == .object else { return [:] }
    var numbers: [String: UInt64] = [:]
    tape.forEachMember(of: index) { name, value in numbers[name] = tape.integer(value) }
    return numbers
  }

  private func list(_ name: String) -> [UInt64] {
    guard let node = self[name], tape.kind(node.index) == .array else { return [] }
    var list: [UInt64] = []
    tape.forEachElement(of: node.index) { list.append(tape.integer($0) ?? 0) }
    return list
  }

  var elements: [Node] {
    guard tape.kind(index) == .array else { return [] }
    var elements: [Node] = []
    tape.forEachElement(of: index) { elements.append(Node(tape: tape, index: $0)) }
    return elements
  }

  var histogram: Histogram? {
    let (bounds, counts) = (list("bounds"), list("counts"))
    guard counts.count == bounds.count + 1, zip(bounds, bounds.dropFirst()).allSatisfy(<) else {
      return nil
    }
    return Histogram(bounds: bounds, counts: counts, sum: number("sum"))
  }
}
