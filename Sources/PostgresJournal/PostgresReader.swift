import Glibc
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

/// Reads the journal on a connection of its own, which it opens again if it was lost.
final class PostgresReader: JournalEngineReader {
  private let place: PostgresPlace
  private var connection: PostgresConnection?

  init(_ place: PostgresPlace) { self.place = place }

  var name: String { place.name }

  /// Runs `body` without a transaction, which would cost two more messages to the server.
  func reading<Value>(
    _ body: () throws(JournalError) -> Value
  ) throws(JournalError) -> Value { try body() }

  /// Returns nil, because PostgreSQL counts changes of a table only roughly.
  func dataVersion() throws(JournalError) -> Int64? { nil }

  func readGroup(
    from sequence: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool {
    try read(.group(from: sequence, of: shard)).readGroup(0, name, consume)
  }

  func readGroups(
    from first: UInt64, through last: UInt64, of shard: Shard, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool {
    // A group has its rows from `seq` through `last`, and groups do not overlap.
    let result = try read(
      PostgresCommand(
        """
        SELECT \(StoredGroup.columns) FROM navd.log
        WHERE shard = $1 AND last >= $2 AND seq <= $3 AND seq >= COALESCE(
          (SELECT max(seq) FROM navd.log WHERE shard = $1 AND seq <= $2), 0) ORDER BY seq
        """, .integer(Int64(shard.number)), .bits(first), .bits(last)))
    for row in 0..<result.count { _ = try result.readGroup(row, name, consume) }
    return true
  }

  func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow? {
    let result = try read(
      PostgresCommand(
        """
        SELECT \(SnapshotRow.columns) FROM navd.snapshot
        WHERE shard = $1 AND nav = $2 AND rev <= $3 ORDER BY rev DESC LIMIT 1
        """, .integer(Int64(Shard(ofNav: nav).number)), .bits(nav),
        .bits(min(revision, UInt64(Int64.max)))))
    return result.count > 0 ? try result.snapshot(0, name) : nil
  }

  /// Runs a statement that reads; if the connection is lost, tries again for up to a minute.
  private func read(_ command: PostgresCommand) throws(JournalError) -> PostgresResult {
    let giveUp = SystemClock.monotonicMilliseconds() + PostgresPlace.longestOutageMilliseconds
    while true {
      // It may have been lost long ago, so the first attempt to connect comes without a pause.
      let former = connection
      do throws(PostgresError) {
        if connection == nil { connection = try place.connect() }
        guard let connection else { throw .unreachable("the connection was lost") }
        return try connection.run([command])[0]
      } catch {
        self.connection = nil
        guard case .unreachable = error, SystemClock.monotonicMilliseconds() < giveUp else {
          throw .unreadable(path: name, reason: error.text)
        }
        if former == nil { _ = poll(nil, 0, PostgresPlace.reconnectPauseMilliseconds) }
      }
    }
  }
}

extension PostgresCommand {
  /// Finds the group that covers a sequence, or else the next one.
  static func group(from sequence: UInt64, of shard: Shard) -> PostgresCommand {
    PostgresCommand(
      """
      SELECT \(StoredGroup.columns) FROM navd.log
      WHERE shard = $1 AND last >= $2 AND seq >= COALESCE(
        (SELECT max(seq) FROM navd.log WHERE shard = $1 AND seq <= $2), 0) ORDER BY seq LIMIT 1
      """, .integer(Int64(shard.number)), .bits(min(sequence, UInt64(Int64.max))))
  }
}

extension PostgresResult {
  /// Passes on the group in a row of the result; returns false if there is no such row.
  func readGroup(
    _ row: Int, _ name: String, _ consume: GroupConsumer
  ) throws(JournalError) -> Bool {
    guard row < count else { return false }
    guard let first = bits(row, 0), let last = bits(row, 1), let sum = bits(row, 2) else {
      throw .damaged(path: name, what: "a row has no key")
    }
    let group = StoredGroup(first: first, last: last, checksum: sum)
    try withBytes(row, 3) { (heads) throws(JournalError) in
      try withBytes(row, 4) { (bodies) throws(JournalError) in
        try group.verify(heads, bodies, in: name)
        try consume(group, heads, bodies)
      }
    }
    return true
  }

  /// Reads the snapshot in a row of `SnapshotRow.columns`.
  func snapshot(_ row: Int, _ name: String) throws(JournalError) -> SnapshotRow {
    guard let nav = bits(row, 0), let revision = bits(row, 1), let sequence = bits(row, 2),
      let time = bits(row, 3), let sum = bits(row, 4), let body = bytes(row, 5)
    else { throw .damaged(path: name, what: "a snapshot has no key") }
    return try SnapshotRow(
      nav: nav, revision: revision, sequence: sequence, time: time, body: body
    ).verified(checksum: sum, name)
  }
}
