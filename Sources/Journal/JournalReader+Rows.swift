import NavigationCore
package import NavigationHub

/// Rows of one nav that were read before a client asked for them.
///
/// A nav's rows are read from its newest one backwards. Without these, navd would read most rows
/// many times for a client that reads a long history forwards in pieces.
///
/// Law: it has every row of the nav with a revision from `firstRevision` up to, but not including,
/// that of its last row.
struct ReadAhead {
  /// The maximum bytes of bodies.
  static let maximumBytes = 4 << 20

  private var nav: UInt64 = 0
  private var firstRevision: UInt64 = 0
  private var rows: [JournalRow] = []

  /// Keeps the rows from the revision `firstRevision` on, the oldest first.
  mutating func keep(_ rows: [JournalRow], of nav: UInt64, from firstRevision: UInt64) {
    self.nav = nav
    self.firstRevision = firstRevision
    self.rows = rows
  }

  /// The rows with these revisions; nil if some of them may be missing; O(rows).
  func rows(of nav: UInt64, _ revisions: ClosedRange<UInt64>) -> [JournalRow]? {
    guard nav == self.nav, revisions.lowerBound >= firstRevision,
      let last = rows.last, last.revision > revisions.upperBound
    else { return nil }
    return rows.filter { revisions.contains($0.revision) }
  }
}

extension JournalReader {
  /// Returns the rows of a nav with these revisions, the oldest first, as far as they are not pruned.
  ///
  /// If their bodies exceed twice ``ReadAhead/maximumBytes``, it omits the newest rows. `head` is
  /// the nav's newest row. It returns all rows of a revision or none.
  package func rows(
    of nav: UInt64, from head: UInt64, _ revisions: ClosedRange<UInt64>
  ) throws(JournalError) -> [JournalRow] {
    if let rows = readAhead.rows(of: nav, revisions) { return rows }
    let found = try engine.reading { () throws(JournalError) in
      try rowsWithReadAhead(of: nav, from: head, downTo: revisions)
    }
    readAhead.keep(found, of: nav, from: revisions.lowerBound)
    return found.filter { revisions.contains($0.revision) }
  }

  /// Reads the rows with these revisions, and some newer rows for the read-ahead.
  private func rowsWithReadAhead(
    of nav: UInt64, from head: UInt64, downTo revisions: ClosedRange<UInt64>
  ) throws(JournalError) -> [JournalRow] {
    let start = try startSequence(of: nav, from: head, above: revisions.upperBound)
    var found: [JournalRow] = []
    var next = start
    var bytes = 0
    while true {
      let part = try history(of: nav, from: next, downTo: revisions.lowerBound, limit: 64)
      for row in part {
        // Newer rows than wanted are dropped, so that memory is bounded.
        let isWanted = row.revision <= revisions.upperBound
        if bytes > ReadAhead.maximumBytes * (isWanted ? 2 : 1), row.revision != found.last?.revision
        {
          found.removeAll(keepingCapacity: true)
          bytes = 0
        }
        bytes += row.body.count
        found.append(row)
      }
      guard part.count == 64, let last = part.last, last.previous > 0 else { break }
      next = last.previous
    }
    found.reverse()
    return found
  }

  /// Returns the sequence of a row of the nav from which `history` reaches `revision` in few steps.
  ///
  /// It is the row of a later snapshot, or `head`: newer rows need not be read.
  func startSequence(
    of nav: UInt64, from head: UInt64, above revision: UInt64
  ) throws(JournalError) -> UInt64 {
    guard revision < .max, let newest = try snapshot(nav: nav, notAfter: .max),
      newest.revision > revision
    else { return head }
    // navd makes a snapshot after 1,000 revisions by default.
    var distance: UInt64 = 1024
    while revision + distance < newest.revision {
      if let found = try snapshot(nav: nav, notAfter: revision + distance),
        found.revision > revision
      {
        return min(found.sequence, head)
      }
      distance *= 4
    }
    return min(newest.sequence, head)
  }
}
