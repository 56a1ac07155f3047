import Journal
import NavigationCore

// Reading, at the start and while pruning.

extension PostgresEngine {
  func fact(_ key: JournalFact) throws(JournalError) -> [UInt8]? {
    let result = try read(
      PostgresCommand("SELECT value FROM navd.fact WHERE shard = 0 AND key = $1", .text(key.key)))
    if result.count > 0 { return result.bytes(0, 0) ?? [] }
    // A new journal has an empty census.
    return key == .census && sequence == 0 ? Metadata.emptyCensus : nil
  }

  func newestSequence() throws(JournalError) -> UInt64 {
    let result = try read(
      PostgresCommand("SELECT last FROM navd.log WHERE shard = 0 ORDER BY seq DESC LIMIT 1"))
    return result.count > 0 ? result.bits(0, 0) ?? 0 : 0
  }

  func readSnapshots<Failure: Error>(
    _ consume: (SnapshotRow) throws(ReplayError<Failure>) -> Void
  ) throws(ReplayError<Failure>) {
    var last: (nav: UInt64, revision: UInt64) = (0, 0)
    var count = Self.page
    while count == Self.page {
      let result = try ReplayError<Failure>.journal { () throws(JournalError) in
        try read(
          PostgresCommand(
            """
            SELECT \(PostgresRows.snapshotColumns) FROM navd.snapshot
            WHERE shard = 0 AND (nav, rev) > ($1, $2) ORDER BY nav, rev LIMIT \(Self.page)
            """, .bits(last.nav), .bits(last.revision)))
      }
      count = result.count
      try ReplayError<Failure>.journal { () throws(JournalError) in try renewIfDue() }
      for row in 0..<count {
        let snapshot = try ReplayError<Failure>.journal { () throws(JournalError) in
          try result.snapshot(row, name)
        }
        last = (snapshot.nav, snapshot.revision)
        try consume(snapshot)
      }
    }
  }

  func readGroups<Failure: Error>(
    _ consume: (StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>)
      throws(ReplayError<Failure>) -> Void
  ) throws(ReplayError<Failure>) {
    var last: UInt64 = 0
    var newest: UInt64 = 0
    var count = Self.page
    while count == Self.page {
      let result = try ReplayError<Failure>.journal { () throws(JournalError) in
        try read(
          PostgresCommand(
            """
            SELECT \(PostgresRows.groupColumns) FROM navd.log
            WHERE shard = 0 AND seq > $1 ORDER BY seq LIMIT \(Self.page)
            """, .bits(last)))
      }
      count = result.count
      try ReplayError<Failure>.journal { () throws(JournalError) in try renewIfDue() }
      for row in 0..<count {
        last = result.bits(row, 0) ?? last
        newest = result.bits(row, 1) ?? newest
        let name = name
        _ = try result.readGroup(
          row, damage: { ReplayError<Failure>.journal(.damaged(path: name, what: $0)) }, consume)
      }
    }
    // Retention may have deleted the last rows, but never those of the last commit alone.
    guard newest <= sequence else {
      throw .journal(
        .damaged(path: name, what: "row \(newest) is stored, but \(sequence) is the last"))
    }
  }

  func readGroup(
    from sequence: UInt64,
    _ consume: (StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>)
      throws(JournalError) -> Void
  ) throws(JournalError) -> Bool {
    try read(PostgresRows.group(from: sequence)).readGroup(0, name, consume)
  }

  func read(_ command: PostgresCommand) throws(JournalError) -> PostgresResult {
    guard let connection else {
      throw .unreadable(path: name, reason: "the connection was lost")
    }
    do throws(PostgresError) {
      return try connection.run([command], until: place.deadline())[0]
    } catch {
      if case .unreachable = error { disconnect() }
      throw .unreadable(path: name, reason: error.text)
    }
  }
}

// The changes of a transaction.

extension PostgresEngine {
  func insert(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>
  ) throws(JournalError) {
    note(last: group.last)
    add(
      PostgresCommand(
        """
        INSERT INTO navd.log(shard, \(PostgresRows.groupColumns))
        VALUES(0, $1, $2, $3, $4, $5, $6)
        """, .bits(group.first), .bits(group.last), .bits(group.size), .bits(group.checksum),
        .bytes([UInt8](copying: heads)), .bytes([UInt8](copying: bodies))))
  }

  func replace(
    _ group: StoredGroup, _ heads: Span<UInt8>, _ bodies: Span<UInt8>
  ) throws(JournalError) {
    add(
      PostgresCommand(
        """
        UPDATE navd.log SET last = $2, size = $3, sum = $4, heads = $5, bodies = $6
        WHERE shard = 0 AND seq = $1
        """, .bits(group.first), .bits(group.last), .bits(group.size), .bits(group.checksum),
        .bytes([UInt8](copying: heads)), .bytes([UInt8](copying: bodies))))
  }

  func deleteGroup(_ first: UInt64) throws(JournalError) {
    add(PostgresCommand("DELETE FROM navd.log WHERE shard = 0 AND seq = $1", .bits(first)))
  }

  func insert(_ snapshot: SnapshotRow, checksum: UInt64) throws(JournalError) {
    add(
      PostgresCommand(
        """
        INSERT INTO navd.snapshot(shard, \(PostgresRows.snapshotColumns))
        VALUES(0, $1, $2, $3, $4, $5, $6) ON CONFLICT (shard, nav, rev) DO UPDATE
        SET seq = excluded.seq, t = excluded.t, sum = excluded.sum, body = excluded.body
        """, .bits(snapshot.nav), .bits(snapshot.revision), .bits(snapshot.sequence),
        .bits(snapshot.time), .bits(checksum), .bytes(snapshot.body)))
  }

  func deleteSnapshot(nav: UInt64, revision: UInt64) throws(JournalError) {
    add(
      PostgresCommand(
        "DELETE FROM navd.snapshot WHERE shard = 0 AND nav = $1 AND rev = $2", .bits(nav),
        .bits(revision)))
  }

  func store(_ key: JournalFact, _ bytes: [UInt8]) throws(JournalError) {
    add(
      PostgresCommand(
        """
        INSERT INTO navd.fact(shard, key, value) VALUES(0, $1, $2)
        ON CONFLICT (shard, key) DO UPDATE SET value = excluded.value
        """, .text(key.key), .bytes(bytes)))
  }
}
