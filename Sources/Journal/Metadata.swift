/// Sums over all stored rows and snapshots, by which `replay` notices missing ones.
///
/// The stored census covers every row in the file: it is updated before each checkpoint and with
/// each deletion. The rows after the census are in the write-ahead log alone, without a gap;
/// its checksums protect them.
struct Census: Hashable {
  /// The sequence of the last row that the census counts.
  var lastSequence: UInt64 = 0
  /// The number of rows, and the sum of the checksums of their groups.
  var rows: UInt64 = 0
  var rowSum: UInt64 = 0
  /// The number of snapshots, and the sum of their checksums.
  var snapshots: UInt64 = 0
  var snapshotSum: UInt64 = 0

  mutating func count(rows records: Int, checksum: UInt64) {
    rows &+= UInt64(records)
    rowSum &+= checksum
  }

  mutating func discount(rows records: Int, checksum: UInt64) {
    rows &-= UInt64(records)
    rowSum &-= checksum
  }

  mutating func count(snapshotChecksum: UInt64) {
    snapshots &+= 1
    snapshotSum &+= snapshotChecksum
  }

  mutating func discount(snapshotChecksum: UInt64) {
    snapshots &-= 1
    snapshotSum &-= snapshotChecksum
  }
}

/// Whether everything acknowledged is known to be on the disk.
enum SyncState: Hashable {
  /// All commits were synced.
  case clean
  /// Some commits may be lost if the machine has stopped since the boot with this id.
  case dirty(bootID: String)
}

/// The facts of a journal; the stored bytes begin with a checksum of the key and the value.
package struct Metadata {
  private let facts: any JournalFacts

  package init(_ facts: any JournalFacts) { self.facts = facts }

  package func censusSequence() throws(JournalError) -> UInt64 { try census().lastSequence }

  /// The stored bytes of the census of an empty journal.
  package static var emptyCensus: [UInt8] {
    let value = bytes([0, 0, 0, 0, 0])
    return checksumBytes(.census, value) + value
  }

  func census() throws(JournalError) -> Census {
    let numbers = try numbers(.census)
    guard numbers.count == 5 else {
      throw .damaged(path: facts.name, what: "the census of its rows is missing")
    }
    return Census(
      lastSequence: numbers[0], rows: numbers[1], rowSum: numbers[2], snapshots: numbers[3],
      snapshotSum: numbers[4])
  }

  func write(_ census: Census) throws(JournalError) {
    let numbers = [
      census.lastSequence, census.rows, census.rowSum, census.snapshots, census.snapshotSum,
    ]
    try write(.census, Self.bytes(numbers))
  }

  /// Returns the numbers of closed navs whose rows are being deleted.
  func deletedNavs() throws(JournalError) -> [UInt64] { try numbers(.deletedNavs) }

  func write(deletedNavs navs: [UInt64]) throws(JournalError) {
    try write(.deletedNavs, Self.bytes(navs))
  }

  /// Returns the ages of the rows; those of an empty journal if none are stored.
  func ages() throws(JournalError) -> RowAges {
    let numbers = try numbers(.rowAges)
    let samples = stride(from: 2, to: numbers.count, by: 2).map {
      RowAges.Sample(countedMilliseconds: numbers[$0 - 1], newestSequence: numbers[$0])
    }
    return RowAges(countedMilliseconds: numbers.first ?? 0, samples: samples)
  }

  func write(_ ages: RowAges) throws(JournalError) {
    let numbers = ages.samples.flatMap { [$0.countedMilliseconds, $0.newestSequence] }
    try write(.rowAges, Self.bytes([ages.countedMilliseconds] + numbers))
  }

  /// Returns how many pages a start must find in the write-ahead log; nil if it may be missing.
  func minimumLogPages() throws(JournalError) -> UInt64? { try numbers(.minimumLogPages).first }

  func write(minimumLogPages: UInt64?) throws(JournalError) {
    try write(.minimumLogPages, Self.bytes(minimumLogPages.map { [$0] } ?? []))
  }

  func state() throws(JournalError) -> SyncState {
    guard let stored = try value(.syncState), let first = stored.first, first <= 1 else {
      throw .damaged(path: facts.name, what: "the note on its last sync is missing")
    }
    guard first == 1 else { return .clean }
    return .dirty(bootID: String(decoding: stored.dropFirst(), as: UTF8.self))
  }

  func write(_ state: SyncState) throws(JournalError) {
    switch state {
    case .clean: try write(.syncState, [0])
    case .dirty(let bootID): try write(.syncState, [1] + Array(bootID.utf8))
    }
  }

  private func numbers(_ key: JournalFact) throws(JournalError) -> [UInt64] {
    guard let stored = try value(key) else { return [] }
    guard stored.count.isMultiple(of: 8) else {
      throw .damaged(path: facts.name, what: "the fact \(key.key) has an odd length")
    }
    return stride(from: 0, to: stored.count, by: 8).map { start in
      stored[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  private func value(_ key: JournalFact) throws(JournalError) -> [UInt8]? {
    guard let stored = try facts.fact(key) else { return nil }
    guard stored.count >= 8 else {
      throw .damaged(path: facts.name, what: "the fact \(key.key) is cut short")
    }
    let value = Array(stored.dropFirst(8))
    guard Array(stored.prefix(8)) == Self.checksumBytes(key, value) else {
      throw .damaged(path: facts.name, what: "the checksum of the fact \(key.key) is wrong")
    }
    return value
  }

  private func write(_ key: JournalFact, _ value: [UInt8]) throws(JournalError) {
    try facts.store(key, Self.checksumBytes(key, value) + value)
  }

  private static func checksumBytes(_ key: JournalFact, _ value: [UInt8]) -> [UInt8] {
    bytes([checksum(key.rawValue, value)])
  }

  private static func bytes(_ numbers: [UInt64]) -> [UInt8] {
    numbers.flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
  }
}
