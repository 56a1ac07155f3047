import Journal
import NavigationCore
import NavigationHub

/// Reads the records of shards that were just taken, by the connection that took them.
///
/// One shard is loaded after the other, in ascending order. The rows of a shard lie between those
/// of all others: shard by shard, the server would read a page of the table for nearly every row.
/// So it reads the rows of many shards together, in the order of the pages, and sorts them. It
/// fetches each part of them while the part before is replayed.
final class PostgresLoading {
  /// The tables with records; a cursor on the server reads each.
  enum Table: String, CaseIterable {
    case snapshots = "snapshot"
    case groups = "log"

    /// The columns, the index of the last one, the shard, and the order within a shard.
    fileprivate var columns: (all: String, shard: Int32, order: String) {
      switch self {
      case .snapshots: (SnapshotRow.columns + ", shard", 6, "nav, rev")
      case .groups: (StoredGroup.columns + ", shard", 5, "seq")
      }
    }

    fileprivate var fetchCommand: PostgresCommand {
      PostgresCommand("FETCH \(PostgresLoading.rowsPerFetch) FROM navd_\(rawValue)")
    }
  }

  /// How far a table is read.
  private struct ReadPosition {
    /// The rows that have arrived, and the index of the next one to pass on.
    var rows: PostgresResult?
    var nextRow = 0
    /// The rows after these; nil before they have arrived.
    var prefetchedRows: PostgresResult?
    /// Whether the last rows have arrived.
    var isComplete = false
  }

  /// The number of rows that are fetched together: about what a socket holds, so that the server need
  /// not wait.
  private static let rowsPerFetch = 256

  private let connection: PostgresConnection
  private let place: PostgresPlace
  /// The taken shards that have rows.
  private let shards: Set<Shard>
  private var positions: [Table: ReadPosition] = [:]
  /// The table whose next rows the server is sending.
  private var awaitedTable: Table?
  /// Whether the transaction with the cursors has begun, and whether it is over.
  private var hasTransactionBegun = false
  private var hasTransactionEnded = false

  init(_ connection: PostgresConnection, _ place: PostgresPlace, _ shards: [Shard]) {
    self.connection = connection
    self.place = place
    self.shards = Set(shards)
  }

  /// Passes on the rows of a shard; skips those of earlier shards that failed to load.
  func read(
    _ table: Table, of shard: Shard,
    _ consume: (PostgresResult, _ row: Int) throws(JournalError) -> Void
  ) throws(JournalError) {
    guard shards.contains(shard) else { return }
    while let rows = try rowsFromNext(of: table) {
      let row = positions[table]?.nextRow ?? 0
      let found = rows.integer(row, table.columns.shard) ?? 0
      if found > shard.number { return }
      positions[table]?.nextRow += 1
      if found == shard.number { try consume(rows, row) }
    }
  }

  /// Ends the transaction, so that the connection can be used for something else.
  func endTransaction() throws(PostgresError) {
    guard hasTransactionBegun, !hasTransactionEnded else { return }
    hasTransactionEnded = true
    _ = try connection.run([PostgresCommand("ROLLBACK")])
  }

  /// Returns the fetched rows with the next row of a table; nil if all were read.
  private func rowsFromNext(of table: Table) throws(JournalError) -> PostgresResult? {
    let position = positions[table, default: ReadPosition()]
    if let rows = position.rows, position.nextRow < rows.count { return rows }
    if position.isComplete { return nil }
    return try place.reading { () throws(PostgresError) in
      // Without this, the shards that come next would seem to have no rows.
      guard !hasTransactionEnded else {
        throw PostgresError.unreachable("its rows are not being read any more")
      }
      if !hasTransactionBegun { try beginTransaction() }
      return try takeFetchedRows(of: table)
    }
  }

  private func beginTransaction() throws(PostgresError) {
    let shards = PostgresValue.integers(self.shards.sorted().map { Int64($0.number) })
    var commands = [
      PostgresCommand("BEGIN READ ONLY"),
      // Else the server would prefer the plan that has the first row soonest, and sort on its disk.
      PostgresCommand(
        """
        SELECT set_config('cursor_tuple_fraction', '1', true), set_config('jit', 'off', true),
          set_config('work_mem', '128MB', true)
        """),
    ]
    for table in Table.allCases {
      let (columns, _, order) = table.columns
      commands.append(
        PostgresCommand(
          """
          DECLARE navd_\(table.rawValue) NO SCROLL CURSOR FOR SELECT \(columns)
          FROM navd.\(table.rawValue) WHERE shard = ANY($1) ORDER BY shard, \(order)
          """, shards))
    }
    commands += Table.allCases.map(\.fetchCommand)
    hasTransactionBegun = true
    let results = try connection.run(commands)
    for (table, rows) in zip(Table.allCases, results.suffix(Table.allCases.count)) {
      positions[table, default: ReadPosition()].prefetchedRows = rows
    }
  }

  /// Receives the next rows of a table, and requests those after them.
  private func takeFetchedRows(of table: Table) throws(PostgresError) -> PostgresResult? {
    if let awaited = awaitedTable {
      awaitedTable = nil
      positions[awaited]?.prefetchedRows = try connection.finish()[0]
    }
    guard let rows = positions[table]?.prefetchedRows else {
      throw .unreachable("it has not sent the rows of navd.\(table.rawValue)")
    }
    let isComplete = rows.count < Self.rowsPerFetch
    positions[table] = ReadPosition(rows: rows, isComplete: isComplete)
    guard !isComplete else { return rows.count > 0 ? rows : nil }
    try connection.start([table.fetchCommand])
    awaitedTable = table
    return rows
  }
}
