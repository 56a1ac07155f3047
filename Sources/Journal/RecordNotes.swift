import NavigationCore
package import NavigationHub

/// The numbers of a row that the journal keeps in memory until the commit.
struct RowSummary: Hashable {
  var sequence: UInt64
  var nav: UInt64
  var revision: UInt64
  var previous: UInt64
  var kind: JournalRow.Kind
  var bodyCount: Int

  init(_ row: borrowing RowHeader, bodyCount: Int) {
    sequence = row.sequence
    nav = row.nav
    revision = row.revision
    previous = row.previous
    kind = row.kind
    self.bodyCount = bodyCount
  }
}

extension JournalRow {
  package init(_ header: RowHeader, body: Span<UInt8>) {
    self.init(header, body: [UInt8](copying: body))
  }
}
