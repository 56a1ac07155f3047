/// The history that is kept for a program that publishes it, whatever the other rules say.
///
/// The floor of a pinned nav rises at most to the revision that the receiver has. If the rows behind
/// these revisions exceed the budget, the pins of the oldest history rise, a snapshot at a time, until
/// the rest fits. The other rules then decide about what is no longer pinned.
struct Pins {
  private var limits: [UInt64: UInt64] = [:]
  /// The bytes that are pinned.
  private(set) var bytes = 0

  /// Makes no pins.
  init() {}

  /// Fits pins into a budget.
  ///
  /// - Parameters:
  ///   - revisions: the revision that the receiver has, by the number of the nav; 0 for none.
  ///   - ledger: the bookkeeping of all navs.
  ///   - budget: the most bytes of rows to keep.
  init(_ revisions: [UInt64: UInt64], _ ledger: Ledger, bytes budget: Int) {
    guard !revisions.isEmpty else { return }
    var pinned: [LedgerEntry] = []
    for (nav, revision) in revisions {
      guard let entry = ledger.entry(nav), !entry.isClosed else { continue }
      limits[nav] = revision
      bytes += entry.bytes(from: max(revision, entry.floor), to: entry.headRevision)
      pinned.append(entry)
    }
    guard bytes > budget else { return }
    for entry in pinned.sorted(by: { $0.oldestSequence < $1.oldestSequence }) {
      for snapshot in entry.snapshots where snapshot.revision > self[entry.nav] {
        guard bytes > budget else { return }
        bytes -= entry.bytes(from: max(self[entry.nav], entry.floor), to: snapshot.revision)
        limits[entry.nav] = snapshot.revision
      }
    }
  }

  /// The highest revision to which the floor of a nav may rise; `UInt64.max` if it is not pinned.
  subscript(nav: UInt64) -> UInt64 { limits[nav] ?? .max }
}

extension LedgerEntry {
  /// Estimates the bytes of the rows behind a revision up to another one.
  func bytes(from first: UInt64, to last: UInt64) -> Int {
    guard last > first else { return 0 }
    let all = max(1, headRevision - min(floor, headRevision))
    return Int(Double(bytes) * Double(last - first) / Double(all))
  }
}
