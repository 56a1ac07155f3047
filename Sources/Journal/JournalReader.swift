package import NavigationCore
package import NavigationHub

/// Reads single rows and parts of the history while a `Journal` writes.
///
/// It has a connection of its own that cannot write, and sees what is committed. It may be used on
/// another thread than the journal, by one thread at a time.
package final class JournalReader {
  let engine: any JournalEngineReader
  /// The groups read last, the most recently used last.
  ///
  /// Navs created one after the other share groups; a start reads them in this order, so it finds
  /// most of their groups here.
  private var recent: [(shard: Shard, group: LoadedGroup)] = []
  /// The version of the database from which `recent` was read.
  private var recentDataVersion: Int64?
  /// The rows that `rows` read beyond those that it was asked for.
  var readAhead = ReadAhead()
  /// The maximum of `recent`: with up to 48 KiB of bodies in each group, 3 MiB.
  private static let maximumRecentGroups = 64

  package init(_ engine: any JournalEngineReader) { self.engine = engine }

  /// Returns the row group of a shard that covers `sequence`; nil if no group does.
  private func group(
    holding sequence: UInt64, of shard: Shard
  ) throws(JournalError) -> LoadedGroup? {
    let version = try engine.dataVersion()
    // Another connection has written, and may have pruned rows.
    if version == nil || version != recentDataVersion { recent.removeAll() }
    recentDataVersion = version
    if let place = recent.lastIndex(where: { $0.shard == shard && $0.group.holds(sequence) }) {
      let found = recent.remove(at: place)
      recent.append(found)
      return found.group
    }
    guard sequence > 0 else { return nil }
    var found: LoadedGroup?
    _ = try engine.readGroup(from: sequence, of: shard) {
      (group, heads, bodies) throws(JournalError) in
      guard group.first <= sequence else { return }
      found = try LoadedGroup(group, heads, bodies, engine.name)
    }
    guard let group = found else { return nil }
    if recent.count == Self.maximumRecentGroups { recent.removeFirst() }
    recent.append((shard, group))
    return group
  }

  package func snapshot(nav: UInt64, notAfter revision: UInt64) throws(JournalError) -> SnapshotRow?
  {
    try engine.snapshot(nav: nav, notAfter: revision)
  }

  /// Returns the rows of one nav from the row with the sequence `head` back in time, newest first.
  ///
  /// It ends before a row below `revision`, after `limit` rows, at the nav's first row, or at a
  /// pruned row. O(rows · log of all rows).
  package func history(
    of nav: UInt64, from head: UInt64, downTo revision: UInt64, limit: Int
  ) throws(JournalError) -> [JournalRow] {
    var rows: [JournalRow] = []
    var next = head
    // Consecutive rows of a nav are often in one group, which is then read once.
    var group: LoadedGroup?
    while next > 0, rows.count < limit {
      if group?.holds(next) != true {
        group = try self.group(holding: next, of: Shard(ofNav: nav))
      }
      guard let row = group?.row(at: next) else { break }
      guard row.nav == nav, row.previous < row.sequence else {
        throw .damaged(
          path: engine.name, what: "row \(next) does not belong to the chain of nav \(nav)")
      }
      guard row.revision >= revision else { break }
      rows.append(row)
      next = row.previous
    }
    return rows
  }

  /// Returns the records from which a nav's state at `revision` can be rebuilt; by default, that at
  /// `request.newestRow`.
  ///
  /// These are its newest snapshot at `revision` or below and the rows after it through `revision`;
  /// without a snapshot, all rows. The oldest row is first. O(rows to the next later snapshot).
  package func chain(
    of request: ReloadRequest, through revision: UInt64 = .max
  ) throws(JournalError) -> (snapshot: SnapshotRow?, rows: [JournalRow]) {
    try engine.reading { () throws(JournalError) in
      let snapshot = try snapshot(nav: request.nav, notAfter: revision)
      let start = try startSequence(of: request.nav, from: request.newestRow, above: revision)
      let rows = try history(
        of: request.nav, from: start, downTo: snapshot?.revision ?? 0, limit: Int.max)
      return (snapshot, rows.reversed().filter { $0.revision <= revision })
    }
  }

  /// Returns a shard's rows with these ascending sequences; omits pruned rows.
  package func rows(
    at sequences: [UInt64], in shard: Shard = .first
  ) throws(JournalError) -> [JournalRow] {
    var rows: [JournalRow] = []
    var group: LoadedGroup?
    if let found = try rowsReadTogether(at: sequences, in: shard) { return found }
    for sequence in sequences {
      if group?.holds(sequence) != true {
        group = try self.group(holding: sequence, of: shard)
      }
      if let row = group?.row(at: sequence) { rows.append(row) }
    }
    return rows
  }

  /// The largest average distance of wanted rows, in sequences, at which one read takes the whole
  /// range.
  private static let maximumAverageGap: UInt64 = 8

  /// Returns the rows by one read of the whole range; nil if they are too far apart, or if the
  /// engine reads groups one by one.
  private func rowsReadTogether(
    at sequences: [UInt64], in shard: Shard
  ) throws(JournalError) -> [JournalRow]? {
    guard let first = sequences.first, let last = sequences.last, sequences.count > 1,
      last - first < Self.maximumAverageGap * UInt64(sequences.count)
    else { return nil }
    var rows: [JournalRow] = []
    var rest = sequences[...]
    let isRead = try engine.readGroups(from: first, through: last, of: shard) {
      (group, heads, bodies) throws(JournalError) in
      let loaded = try LoadedGroup(group, heads, bodies, engine.name)
      while let next = rest.first, next <= group.last {
        if let row = loaded.row(at: next) { rows.append(row) }
        rest.removeFirst()
      }
    }
    return isRead ? rows : nil
  }
}
