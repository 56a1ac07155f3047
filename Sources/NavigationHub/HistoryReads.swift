import Navigation
import NavigationProtocol

/// What was asked of the journal's history and is not answered yet, by token.
///
/// Laws: a token is given out once; an answer finds what it answers once. Requests of clients and
/// revivals of dormant navs share the tokens, so neither takes the other's answer.
struct HistoryReads: Sendable {
  private var reads: [UInt64: PendingRead] = [:]
  private var revivals: [UInt64: ReloadRequest] = [:]
  private var lastToken: UInt64 = 0
  /// The copy of the journal that is being made; one at a time.
  private(set) var backup: PendingBackup?

  /// The number of requests of clients.
  var count: Int { reads.count }

  /// Whether revivals of dormant navs are to come.
  var isReviving: Bool { !revivals.isEmpty }

  /// The number of requests of a connection.
  ///
  /// O(requests).
  func count(of connection: ConnectionID) -> Int {
    reads.values.count { $0.connection == connection }
  }

  /// Enters what a client asks for; returns its token.
  mutating func insert(_ read: PendingRead) -> UInt64 {
    lastToken += 1
    assert(reads[lastToken] == nil && revivals[lastToken] == nil, "token \(lastToken) is taken")
    reads[lastToken] = read
    return lastToken
  }

  /// Enters a dormant nav that is to be revived; returns its token.
  mutating func insert(_ revival: ReloadRequest) -> UInt64 {
    lastToken += 1
    assert(reads[lastToken] == nil && revivals[lastToken] == nil, "token \(lastToken) is taken")
    revivals[lastToken] = revival
    return lastToken
  }

  /// Enters a request again: after a rollback the hub handles its answer once more.
  mutating func putBack(_ read: PendingRead, _ token: UInt64) {
    assert(token <= lastToken && reads[token] == nil, "token \(token) was not taken")
    reads[token] = read
  }

  /// Takes out what a client asked for; nil if the token is not one of those.
  mutating func take(_ token: UInt64) -> PendingRead? { reads.removeValue(forKey: token) }

  /// The revival of a token; nil if the token is not one of those.
  func revival(_ token: UInt64) -> ReloadRequest? { revivals[token] }

  /// Takes out a revival.
  mutating func takeRevival(_ token: UInt64) -> ReloadRequest? {
    revivals.removeValue(forKey: token)
  }

  /// An op that waits for the history.
  func op(_ id: UInt64, of key: RememberedOps.Key) -> (token: UInt64, octets: BodyHash)? {
    if reads.isEmpty { return nil }
    for (token, read) in reads {
      guard case .revert(let op, _) = read.what else { continue }
      if op.key == key, op.request.id == id { return (token, op.octets) }
    }
    return nil
  }

  /// Takes out an op that waits for the history; nil if the token is not one of those.
  mutating func takeOp(_ token: UInt64) -> OpContext? {
    guard case .revert(let op, _)? = reads[token]?.what else { return nil }
    reads[token] = nil
    return op
  }

  /// Forgets the ops of a session that ends.
  mutating func dropOps(of session: Int) {
    for (token, read) in reads {
      if case .revert(let op, _) = read.what, op.session == session { reads[token] = nil }
    }
  }

  // Backups.

  /// Enters a backup; returns false if one is being made already.
  mutating func beginBackup(_ new: PendingBackup) -> Bool {
    guard backup == nil else { return false }
    backup = new
    return true
  }

  /// Notes how far the backup has come.
  mutating func note(_ progress: BackupProgress) {
    assert(progress.done <= progress.total, "\(progress.done) pages of \(progress.total)")
    backup?.progress = progress
  }

  /// Takes out the backup, which is over; nil if none was being made.
  mutating func takeBackup() -> PendingBackup? { backup.take() }

  /// Goes back to the backup before a batch that is rolled back: its events come again.
  mutating func restoreBackup(finished: PendingBackup?, isBegun: Bool) {
    assert(finished == nil || backup == nil || isBegun, "two backups were under way")
    if let finished { backup = finished }
    if isBegun { backup = nil }
  }
}

/// A read that waits for the journal.
struct PendingRead: Sendable {
  enum What: Sendable {
    case log(floor: Revision)
    case state(GetRequest.What, Revision)
    /// An op goes on with the stack of this revision.
    case revert(OpContext, Revision)
  }

  var connection: ConnectionID
  var id: UInt64
  var what: What
  var standing: NavStanding
  var owner: String
  var peer: Peer
}
