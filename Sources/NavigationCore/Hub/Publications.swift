/// What the hub remembers of navs that a program carries from a device to another daemon.
///
/// Law: at most `most` bodies are collected at a time, each of at most its announced size.
struct Publications: Sendable {
  /// The pieces of a body that exceeds a message.
  private struct Collected: Sendable {
    var nav: String
    var revision: Revision
    var kind: PublishedRow.Kind
    var count: Int
    var bytes: [UInt8]
  }

  /// The most bodies that are collected at a time.
  private static let most = 8
  /// The bodies that are not complete yet, the oldest first.
  private var collected: [Collected] = []
  /// On the device: the revision up to which the other daemon has each nav, by number.
  private(set) var acknowledged: [UInt64: UInt64] = [:]

  /// Notes up to which revision the other daemon has a nav.
  mutating func acknowledge(_ nav: UInt64, _ revision: Revision) {
    acknowledged[nav] = revision.number
  }

  /// Takes what an earlier process stored.
  mutating func restore(_ acknowledged: [UInt64: UInt64]) {
    self.acknowledged.merge(acknowledged) { new, _ in new }
  }

  /// What the hub did with a piece.
  enum Progress: Hashable {
    /// It waits for the next one.
    case waiting
    /// The body is complete.
    case complete([UInt8])
    /// It does not continue what is there.
    case misplaced
  }

  /// Adds a piece of a row of a nav.
  ///
  /// A piece at 0 begins anew. A piece that is there already changes nothing, because after a rollback
  /// the hub handles messages again.
  mutating func collect(
    _ bytes: [UInt8], at offset: Int, of count: Int, _ row: PublishedRow, of nav: String
  ) -> Progress {
    let place = collected.firstIndex { $0.nav == nav }
    var one: Collected
    if let place {
      one = collected.remove(at: place)
    } else {
      one = Collected(
        nav: nav, revision: row.revision, kind: row.kind, count: count, bytes: [])
    }
    let isSame = one.revision == row.revision && one.kind == row.kind && one.count == count
    if offset == 0, !isSame || one.bytes.count != bytes.count {
      one = Collected(
        nav: nav, revision: row.revision, kind: row.kind, count: count, bytes: [])
    } else if !isSame {
      return .misplaced
    }
    guard !bytes.isEmpty, offset <= one.bytes.count, offset + bytes.count <= count else {
      return .misplaced
    }
    if offset == one.bytes.count { one.bytes += bytes }
    if one.bytes.count == count { return .complete(one.bytes) }
    collected.append(one)
    if collected.count > Self.most { collected.removeFirst() }
    return .waiting
  }

  /// Drops what was collected of a nav.
  mutating func drop(_ nav: String) { collected.removeAll { $0.nav == nav } }
}
