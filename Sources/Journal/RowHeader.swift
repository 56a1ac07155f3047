package import NavigationSync

/// The columns of one row without its body.
package struct RowHeader: Hashable, Sendable {
  /// The commit number, 1 and up.
  package var sequence: UInt64
  /// The number of the nav.
  package var nav: UInt64
  /// The revision after the row.
  package var revision: UInt64
  /// The `sequence` of the nav's row before this one, 0 for none.
  package var previous: UInt64
  /// Wall-clock time of the commit in milliseconds since 1970.
  package var time: UInt64
  /// What the row says.
  package var kind: JournalRow.Kind

  init(
    sequence: UInt64, nav: UInt64, revision: UInt64, previous: UInt64, time: UInt64,
    kind: JournalRow.Kind
  ) {
    self.sequence = sequence
    self.nav = nav
    self.revision = revision
    self.previous = previous
    self.time = time
    self.kind = kind
  }

  init(_ row: JournalRow) {
    self.init(
      sequence: row.sequence, nav: row.nav, revision: row.revision, previous: row.previous,
      time: row.time, kind: row.kind)
  }
}

/// The columns of a snapshot without its body.
struct SnapshotHeader: Hashable {
  var nav: UInt64
  var revision: UInt64
  var sequence: UInt64
  var time: UInt64
  /// The checksum stored beside it.
  var checksum: UInt64

  init(_ snapshot: SnapshotRow, checksum: UInt64) {
    nav = snapshot.nav
    revision = snapshot.revision
    sequence = snapshot.sequence
    time = snapshot.time
    self.checksum = checksum
  }
}

extension JournalRow {
  /// Joins the columns of a row and a copy of its body.
  package init(_ header: RowHeader, body: Span<UInt8>) {
    self.init(
      sequence: header.sequence, nav: header.nav, revision: header.revision,
      previous: header.previous, time: header.time, kind: header.kind,
      body: [UInt8](copying: body))
  }
}
