import NavigationCore
import NavigationHub

/// Identifies a database, so that a daemon notices a restore, a copy or a promotion.
struct PostgresIdentity: Hashable, Sendable {
  /// The cluster of databases, its timeline, the database, and the transaction that wrote its version.
  ///
  /// A promotion or a recovery to a point in time begins a timeline. A dump that is restored writes the
  /// version again. A copy has another number in its server.
  var lineage: String
  /// When the server was started: no data directory is put back or copied without a start.
  var start: String

  init(lineage: String, start: String) { (self.lineage, self.start) = (lineage, start) }

  /// Parses what `sql` returns; nil if the database has no version at the moment.
  init?(_ text: String?) {
    guard let text, let end = text.lastIndex(of: "@") else { return nil }
    self.init(lineage: String(text[..<end]), start: String(text[text.index(after: end)...]))
  }

  var text: String { "\(lineage)@\(start)" }

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
/// If nobody can prove it, the navs of the shard get new epochs, whatever the settings of the server
/// are: they can have been different a moment ago, or on another server.
enum PostgresHistory {
  /// The numbers of a shard that each commit compares with the database.
  struct Count: Hashable {
    /// Rises with each owner.
    var epoch: Int64
    /// Rises with each commit.
    var commits: Int64
  }

  /// The knowledge of a member that has lost its connection.
  struct Witness: Hashable {
    /// The database that confirmed its last commit, and the one that answers now.
    var former: PostgresIdentity
    var found: PostgresIdentity
    /// Whether its lease has held all the time, so that no other member can have taken its shards.
    var hasLease: Bool
    /// Whether the database has its last renewal of the lease.
    var hasRenewal: Bool

    /// Whether nothing that was confirmed can be missing, if the numbers of the shards are right.
    private var isContinuous: Bool {
      hasLease || former == found || former.lineage == found.lineage && hasRenewal
    }

    /// Judges a shard that this process served; `stored` is nil if the database has no such shard.
    ///
    /// With `isCommitting`, it has one commit more than `own`, or none.
    func verdict(_ own: Count, isCommitting: Bool, _ stored: Count?) -> Verdict {
      guard let stored else { return .taken }
      if stored.epoch > own.epoch { return .taken }
      let excess = stored.commits - own.commits
      guard stored.epoch == own.epoch, excess == 0 || excess == 1 && isCommitting else {
        return .lost
      }
      if isContinuous { return .same(isStored: excess == 1) }
      return former.lineage == found.lineage ? .lost : .doubtful
    }

    /// Judges all shards of a process, some of which it was committing together.
    ///
    /// A shard that was `doubtful` in an earlier attempt stays so.
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
        committing.contains { verdicts[$0] == .same(isStored: isStored) }
      }
      let doubtful = isDivided ? doubtful.union(committing) : doubtful
      for shard in doubtful where verdicts[shard]?.isSame == true { verdicts[shard] = .lost }
      return verdicts
    }
  }

  /// What became of a shard that a process served.
  enum Verdict: Hashable {
    var isSame: Bool { if case .same = self { true } else { false } }

    /// It has everything; `isStored` says whether the last commit is there.
    case same(isStored: Bool)
    /// Another owner has it.
    case taken
    /// Commits may be missing. The next owner notices by itself, because the lineage changed.
    case doubtful
    /// Commits are missing, which the next owner cannot see by itself.
    case lost
  }

  /// Why the navs of a shard that was just taken need new epochs; nil if they do not.
  ///
  /// `server` is the identity where the shard was proven last; nil for a shard that nobody has had.
  static func loss(_ server: String?, isMarked: Bool, in found: PostgresIdentity) -> HistoryLoss? {
    if isMarked { return .backup }
    // A directory that was put back looks like a server that was started again.
    return server == nil || server == found.text ? nil : .crash
  }
}

extension [Shard: PostgresHistory.Verdict] {
  /// The shards with such a verdict, ascending.
  func shards(where isSo: (PostgresHistory.Verdict) -> Bool) -> [Shard] {
    filter { isSo($0.value) }.map(\.key).sorted()
  }
}
