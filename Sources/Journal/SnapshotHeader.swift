package import NavigationSync

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
    self.init(header, body: [UInt8](copying: body))
  }
}
