import Journal
import NavigationCore
import NavigationHub

/// The journal of one shard in PostgreSQL, for as long as this process owns the shard.
///
/// It collects the statements of a transaction; `PostgresCluster` commits them, alone or with those of
/// other shards. The row of the shard in `navd.shard` has the epoch of its owner and the number of
/// its commits, which each commit compares.
final class PostgresEngine: JournalEngine {
  let shard: Shard
  /// The cluster, which commits for this shard and has its connection for reads.
  private unowned let cluster: PostgresCluster
  /// The records and facts that the shard had when it was taken; nil after its journal has replayed
  /// them.
  private var loading: (records: PostgresLoading, facts: [String: [UInt8]])?
  let ownerEpoch: Int64
  /// The database in which this process took the shard.
  let identity: PostgresIdentity
  /// The number of commits in the database, and the sequence of the last row.
  private(set) var storedCommits: Int64
  private(set) var lastSequence: UInt64
  /// The position (`ctid`) of the shard's row in its table after the last commit.
  var shardCTID: Int64
  /// The statements of the open transaction, and its last sequence; nil if none is open.
  private(set) var transaction: (commands: [PostgresCommand], lastSequence: UInt64)?
  private(set) var rowLoss: HistoryLoss?

  init(
    _ shard: Shard, of cluster: PostgresCluster, epoch: Int64, commits: Int64, sequence: UInt64,
    shardCTID: Int64, in identity: PostgresIdentity, loss: HistoryLoss?,
    loading: (records: PostgresLoading, facts: [String: [UInt8]])
  ) {
    self.shard = shard
    self.cluster = cluster
    ownerEpoch = epoch
    self.identity = identity
    storedCommits = commits
    lastSequence = sequence
    self.shardCTID = shardCTID
    rowLoss = loss
    self.loading = loading
  }

  var name: String { cluster.name }
  var lease: JournalLease? { cluster.lease }

  func skip(to lastSequence: UInt64) { transaction?.lastSequence = lastSequence }

  func epochsRenewed() throws(JournalError) {
    guard rowLoss != nil else { return }
    try commitAlone(
      PostgresCommand(
        "UPDATE navd.shard SET restored = false, server = \(PostgresIdentity.sql) WHERE id = $1",
        id))
    rowLoss = nil
  }

  func renewEpochsAtNextStart() throws(JournalError) {
    try commitAlone(PostgresCommand("UPDATE navd.shard SET restored = true WHERE id = $1", id))
    rowLoss = .backup
  }

  private func commitAlone(_ command: PostgresCommand) throws(JournalError) {
    try begin()
    add(command)
    do throws(JournalError) {
      try commit()
    } catch {
      rollBack()
      throw error
    }
  }

  /// The epoch and the number of commits that the next commit must find in the database.
  var expectedCount: PostgresHistory.Count { .init(ownerEpoch: ownerEpoch, commits: storedCommits) }

  private var id: PostgresValue { .integer(Int64(shard.number)) }

  // One transaction.

  func begin() throws(JournalError) {
    precondition(transaction == nil, "a transaction inside a transaction")
    transaction = ([], lastSequence)
  }

  private func add(_ command: PostgresCommand) {
    precondition(transaction != nil, "a change outside a transaction")
    transaction?.commands.append(command)
  }

  func rollBack() { transaction = nil }

  func commit() throws(JournalError) { try cluster.commit([self]) }

  func noteCommitStored() {
    guard let transaction else { preconditionFailure("no transaction is open") }
    storedCommits += 1
    lastSequence = transaction.lastSequence
    self.transaction = nil
  }

  func store(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>, replacing: Bool
  ) throws(JournalError) {
    if !replacing { transaction?.lastSequence = group.last }
    let sql =
      replacing
      ? """
      UPDATE navd.log SET last = $3, sum = $4, heads = $5, bodies = $6 WHERE shard = $1 AND seq = $2
      """
      : """
      INSERT INTO navd.log(shard, \(StoredGroup.columns))
      VALUES($1, $2, $3, $4, $5, $6)
      """
    add(
      PostgresCommand(
        sql, id, .bits(group.first), .bits(group.last), .bits(group.checksum),
        .bytes([UInt8](copying: heads)), .bytes([UInt8](copying: bodies))))
  }

  func deleteGroup(_ first: UInt64) throws(JournalError) {
    add(PostgresCommand("DELETE FROM navd.log WHERE shard = $1 AND seq = $2", id, .bits(first)))
  }

  func insert(_ snapshot: SnapshotRow, checksum: UInt64) throws(JournalError) {
    add(
      PostgresCommand(
        """
        INSERT INTO navd.snapshot(shard, \(SnapshotRow.columns))
        VALUES($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (shard, nav, rev) DO UPDATE
        SET seq = excluded.seq, t = excluded.t, sum = excluded.sum, body = excluded.body
        """, id, .bits(snapshot.nav), .bits(snapshot.revision), .bits(snapshot.sequence),
        .bits(snapshot.time), .bits(checksum), .bytes(snapshot.body)))
  }

  func deleteSnapshot(nav: UInt64, revision: UInt64) throws(JournalError) {
    add(
      PostgresCommand(
        "DELETE FROM navd.snapshot WHERE shard = $1 AND nav = $2 AND rev = $3", id, .bits(nav),
        .bits(revision)))
  }

  func store(_ key: JournalFact, _ bytes: [UInt8]) throws(JournalError) {
    add(
      PostgresCommand(
        """
        INSERT INTO navd.fact(shard, key, value) VALUES($1, $2, $3)
        ON CONFLICT (shard, key) DO UPDATE SET value = excluded.value
        """, id, .text(key.key), .bytes(bytes)))
  }

  // Reading, while the shard is loaded and while history is pruned.

  func fact(_ key: JournalFact) throws(JournalError) -> [UInt8]? {
    let stored: [UInt8]?
    if let loading {
      stored = loading.facts[key.key]
    } else {
      let found = try cluster.read(
        PostgresCommand(
          "SELECT value FROM navd.fact WHERE shard = $1 AND key = $2", id, .text(key.key)))
      stored = found.count > 0 ? found.bytes(0, 0) : nil
    }
    // The census is stored with the first snapshot. Until then the rows follow from 1 on.
    return stored ?? (key == .census ? Metadata.emptyCensus : nil)
  }

  func newestSequence() throws(JournalError) -> UInt64 { lastSequence }

  func readSnapshots(
    _ consume: (SnapshotRow) throws(JournalError) -> Void
  ) throws(JournalError) {
    guard let loading else { preconditionFailure("shard \(shard.number) is read twice") }
    try loading.records.read(.snapshots, of: shard) { (rows, row) throws(JournalError) in
      try consume(rows.snapshot(row, name))
    }
  }

  func readGroups(_ consume: GroupConsumer) throws(JournalError) {
    guard let loading else { preconditionFailure("shard \(shard.number) is read twice") }
    let counted = try Metadata(self).censusSequence()
    // From here on the cluster reads the facts, on the thread of the commits.
    self.loading = nil
    var newest: UInt64 = 0
    try loading.records.read(.groups, of: shard) { (rows, row) throws(JournalError) in
      newest = rows.bits(row, 1) ?? newest
      _ = try rows.readGroup(row, name, consume)
    }
    // Retention may have deleted the last rows, which the journal has counted.
    guard max(newest, counted) <= lastSequence else {
      throw .damaged(
        path: name, what: "row \(max(newest, counted)) was stored, but \(lastSequence) is the last")
    }
  }

  func readGroup(from sequence: UInt64, _ consume: GroupConsumer) throws(JournalError) -> Bool {
    try cluster.read(.group(from: sequence, of: shard)).readGroup(0, name, consume)
  }

  // Upkeep, which the cluster does for all shards, and the server for itself.

  var walPages: Int { 0 }
  var problem: JournalError? { nil }
  var fileSizes: (journal: Int, log: Int) { cluster.fileSizes }
  func syncNow() throws(JournalError) {}
  func vacuumSlice() throws(JournalError) -> Int { 0 }

  /// Does nothing: `replay` notices missing rows by the shard's stored sequence.
  func checkpoint(
    emptyingLog: Bool, _ facts: () throws(JournalError) -> Void
  ) throws(JournalError) {}

  /// Does nothing: the cluster is closed as a whole.
  func close(isCheckpointed: Bool) {}
}
