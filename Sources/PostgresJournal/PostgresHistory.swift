import NavigationCore
import NavigationHub

/// Identifies a database, so that a daemon notices a restore, a copy or a promotion.
struct PostgresIdentity: Hashable, Sendable {
  /// System identifier, timeline, OID of the database, and the transaction that wrote
  /// `navd.version`.
  ///
  /// A promotion or a recovery to a point in time begins a timeline. The restore of a dump writes
  /// `navd.version` again. A copy of the database has another OID.
  var lineage: String
  /// When the server was started: no data directory is put back or copied without a start.
  var serverStart: String

  init(lineage: String, start: String) { (self.lineage, self.serverStart) = (lineage, start) }

  /// Parses what `sql` returns; nil while `navd.version` has no row, as during a restore.
  init?(_ text: String?) {
    guard let text, let end = text.lastIndex(of: "@") else { return nil }
    self.init(lineage: String(text[..<end]), start: String(text[text.index(after: end)...]))
  }

  var text: String { "\(lineage)@\(serverStart)" }

  /// Computes the text of the identity; NULL while a restore has not put the version back.
  static let sql = """
    (SELECT system_identifier || ':' ||
      substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || ':' ||
      (SELECT oid FROM pg_database WHERE datname = current_database()) || ':' ||
      (SELECT xmin FROM navd.version ORDER BY number DESC LIMIT 1) || '@' ||
      (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint FROM pg_control_system())
    """
}

/// Decides whether a shard in a database continues the history that clients have seen.
///
/// Without a proof, the navs of the shard get new epochs, whatever the server's settings are: they
/// can have been different before, or on another server.
enum PostgresHistory {
  /// The numbers of a shard that each commit compares with the database.
  struct Count: Hashable {
    /// Rises with each new owner of the shard.
    var ownerEpoch: Int64
    /// The number of commits to the shard.
    var commits: Int64
  }

  /// The facts by which a member that was disconnected and connects again judges its shards.
  struct Reconnection: Hashable {
    /// The database that confirmed its last commit, and the one that answers now.
    var former: PostgresIdentity
    var found: PostgresIdentity
    /// Whether the member's lease has held all the time, so that no other can have taken its
    /// shards.
    var hasLease: Bool
    /// Whether the database has the member's last renewal of its lease.
    var isRenewalStored: Bool

    /// Whether the database has all confirmed commits of each shard with the expected numbers.
    private var isContinuous: Bool {
      hasLease || former == found || former.lineage == found.lineage && isRenewalStored
    }

    /// Compares a shard's numbers with the stored ones, which are nil if the database lacks the
    /// shard.
    ///
    /// With `isCommitting`, the database may have one commit more than `own`.
    func verdict(_ own: Count, isCommitting: Bool, _ stored: Count?) -> Verdict {
      guard let stored else { return .taken }
      if stored.ownerEpoch > own.ownerEpoch { return .taken }
      let excess = stored.commits - own.commits
      guard stored.ownerEpoch == own.ownerEpoch, excess == 0 || excess == 1 && isCommitting else {
        return .lost
      }
      if isContinuous { return .complete(isCommitStored: excess == 1) }
      return former.lineage == found.lineage ? .lost : .doubtful
    }

    /// Judges all shards of a process, some of which it was committing together.
    ///
    /// A shard that was `doubtful` in an earlier attempt never becomes `complete`.
    func verdicts(
      _ own: [Shard: Count], _ committing: Set<Shard>, _ stored: [Shard: Count],
      _ doubtful: Set<Shard> = []
    ) -> [Shard: Verdict] {
      var verdicts: [Shard: Verdict] = [:]
      for (shard, count) in own {
        verdicts[shard] = verdict(
          count, isCommitting: committing.contains(shard), stored[shard])
      }
      // A transaction is stored as a whole, or its server does not keep what it should.
      let isDivided = [true, false].allSatisfy { isStored in
        committing.contains { verdicts[$0] == .complete(isCommitStored: isStored) }
      }
      let doubtful = isDivided ? doubtful.union(committing) : doubtful
      for shard in doubtful where verdicts[shard]?.isComplete == true { verdicts[shard] = .lost }
      return verdicts
    }
  }

  /// The state of a shard that a process served, after the process has connected again.
  enum Verdict: Hashable {
    var isComplete: Bool { if case .complete = self { true } else { false } }

    /// The database has all confirmed commits; `isCommitStored` if it has the unconfirmed one too.
    case complete(isCommitStored: Bool)
    /// Another member has taken the shard.
    case taken
    /// Commits may be missing. The next owner notices that by the changed lineage.
    case doubtful
    /// Commits are missing; the next owner could not notice that, so this process marks the shard.
    case lost
  }

  /// Why the navs of a shard that was just taken need new epochs; nil if they do not.
  ///
  /// `server` is the last database proven to have the whole shard.
  static func loss(_ server: String, isMarked: Bool, in found: PostgresIdentity) -> HistoryLoss? {
    if isMarked { return .backup }
    // A directory that was put back looks like a server that was started again.
    return server == found.text ? nil : .crash
  }
}

extension [Shard: PostgresHistory.Verdict] {
  /// The shards with such a verdict, ascending.
  func shards(where isSo: (PostgresHistory.Verdict) -> Bool) -> [Shard] {
    filter { isSo($0.value) }.map(\.key).sorted()
  }
}
