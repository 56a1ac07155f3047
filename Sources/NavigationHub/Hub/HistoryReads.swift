import NavigationCore

/// The requests to the journal's history that are not answered yet, by token.
///
/// Law: each token is assigned once, and an answer finds its request once.
struct HistoryReads: Sendable {
  private var reads: [UInt64: PendingRead] = [:]
  private var lastToken: UInt64 = 0
  /// The requests that wait until the shell may read the journal for them, by principal.
  private var waiting = FairQueue<Text, HistoryRequest>()
  /// The tokens of the requests that the shell is reading; at most `maximumUnderWay`.
  private var underWay: Set<UInt64> = []
  /// The most requests under way: the shell reads one while the hub handles the answer to another.
  private static let maximumUnderWay = 2
  /// The backup that is being made; at most one at a time.
  var backup: PendingBackup?

  var count: Int { reads.count }

  /// The navs that requests are about.
  var navs: Set<String> { Set(reads.values.map(\.standing.nav)) }

  /// O(requests).
  func count(of connection: ConnectionID) -> Int {
    reads.values.count { $0.sender.connection == connection }
  }

  /// Adds a client's request; returns its token.
  mutating func insert(_ read: PendingRead) -> UInt64 {
    lastToken += 1
    assert(reads[lastToken] == nil, "token \(lastToken) is taken")
    reads[lastToken] = read
    return lastToken
  }

  /// Adds a request again under its token: after a rollback the hub handles the answer again.
  mutating func putBack(_ read: PendingRead, _ token: UInt64) {
    assert(token <= lastToken && reads[token] == nil, "token \(token) was not taken")
    reads[token] = read
  }

  /// Removes and returns the request with a token; nil if there is none.
  mutating func take(_ token: UInt64) -> PendingRead? { reads.removeValue(forKey: token) }

  /// Queues requests; returns the requests that the shell may begin now.
  mutating func schedule(_ new: [HistoryRequest]) -> [HistoryRequest] {
    for request in new {
      guard let read = reads[request.token] else { continue }
      waiting.append(request, of: Text(read.sender.peer.principal))
    }
    var begun: [HistoryRequest] = []
    while underWay.count < Self.maximumUnderWay, let (_, request) = waiting.next() {
      // Its session may have ended meanwhile.
      guard reads[request.token] != nil else { continue }
      underWay.insert(request.token)
      begun.append(request)
    }
    return begun
  }

  /// Notes that a request was answered, and what the answer cost.
  mutating func noteAnswer(to token: UInt64, cost: Int) {
    underWay.remove(token)
    if let read = reads[token] { waiting.charge(Text(read.sender.peer.principal), cost) }
  }

  /// The token and body hash of an op that waits for the history; nil if the op does not wait.
  func op(_ id: UInt64, of key: RememberedOps.Key) -> (token: UInt64, octets: BodyHash)? {
    if reads.isEmpty { return nil }
    for (token, read) in reads {
      // A dry run is not remembered, so it is no earlier sending of a real op.
      guard case .revert(let op, _) = read.purpose, !op.request.isDry else { continue }
      if op.key == key, op.request.id == id { return (token, op.octets) }
    }
    return nil
  }

  mutating func takeOps(where matches: (OpContext) -> Bool) -> [OpContext] {
    var ops: [OpContext] = []
    for (token, read) in reads.sorted(by: { $0.key < $1.key }) {
      guard case .revert(let op, _) = read.purpose, matches(op) else { continue }
      reads[token] = nil
      ops.append(op)
    }
    return ops
  }
}

/// A read that waits for the journal.
struct PendingRead: Sendable {
  enum Purpose: Sendable {
    case log(floor: Revision, through: UInt64)
    /// The log with the contents of each revision.
    case diffs(floor: Revision, through: UInt64)
    case state(GetRequest.What, Revision)
    /// An op that reverts to a revision, whose stack must be read from the journal.
    case revert(OpContext, Revision)
  }

  var sender: Sender
  var id: UInt64
  var purpose: Purpose
  var standing: NavStanding
  var owner: String
}
