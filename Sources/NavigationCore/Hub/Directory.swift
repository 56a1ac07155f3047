/// The records of a virtual nav, in the order of their names.
///
/// Law: a mirror of `records` that applies `changes(to:)` has the wanted records.
struct Directory: Sendable {
  /// A record as it was encoded last.
  struct Record: Equatable, Sendable {
    var id: String
    var version: Revision
    var json: [UInt8]
  }

  typealias Encoder = (Revision) -> [UInt8]
  /// The id of a record that should exist, and its encoder.
  typealias Wanted = (id: String, json: Encoder)

  private(set) var revision = Revision(1)
  private(set) var records: [Record] = []
  /// Whether a watch or a read needs the records; otherwise only the revision is kept up to date.
  private(set) var isActive = false

  mutating func activate(_ wanted: [Wanted]) {
    assert(!isActive && records.isEmpty, "a directory that is active")
    isActive = true
    records = wanted.map { Record(id: $0.id, version: revision, json: $0.json(revision)) }
  }

  /// Stops keeping records; a client that watches again gets a snapshot.
  mutating func deactivate() {
    assert(isActive, "a directory that is not active")
    isActive = false
    records = []
    revision = revision.next
  }

  /// Counts a revision while no records are kept.
  mutating func skip() {
    assert(!isActive && records.isEmpty, "a directory that is active")
    revision = revision.next
  }

  /// Makes the next revision of the records that changed, as a JSON list of changes; nil if nothing
  /// differs.
  ///
  /// O(log records) for each, and O(records) for each that comes or goes. `changed` is in the order
  /// of the names; a record that exists no more has no encoder.
  mutating func update(_ changed: [(id: String, json: Encoder?)]) -> [UInt8]? {
    assert(isActive, "a directory that is not active")
    var changes = JSONWriter()
    changes.beginArray()
    for (id, json) in changed {
      let index = index(of: id)
      let isKept = index < records.count && records[index].id == id
      guard let json else {
        if isKept {
          changes.splice(at: index, removing: id, inserting: nil)
          records.remove(at: index)
        }
        continue
      }
      if isKept, json(records[index].version) == records[index].json { continue }
      let record = Record(id: id, version: revision.next, json: json(revision.next))
      if isKept {
        changes.set(record.json)
        records[index] = record
      } else {
        changes.splice(at: index, removing: nil, inserting: record.json)
        records.insert(record, at: index)
      }
    }
    changes.endArray()
    guard changes.count > 2 else { return nil }
    revision = revision.next
    return changes.bytes
  }

  /// The index of a record, or the one at which it would stand.
  private func index(of id: String) -> Int {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].id.utf8.lexicographicallyPrecedes(id.utf8) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// Makes the next revision of the records that should exist, as a JSON list of changes; nil if
  /// nothing differs.
  ///
  /// O(records). `wanted` is in the order of the names.
  mutating func update(to wanted: [Wanted]) -> [UInt8]? {
    guard let (records, changes) = changes(to: wanted) else { return nil }
    self.records = records
    revision = revision.next
    return changes
  }

  /// Computes the next revision: its records, and the changes to them as a JSON list.
  private func changes(to wanted: [Wanted]) -> (records: [Record], json: [UInt8])? {
    assert(isActive, "a directory that is not active")
    assert(
      zip(wanted, wanted.dropFirst()).allSatisfy {
        $0.id.utf8.lexicographicallyPrecedes($1.id.utf8)
      }, "names out of order")
    var next: [Record] = []
    var changes = JSONWriter()
    changes.beginArray()
    var old = records[...]
    for (id, json) in wanted {
      while let gone = old.first, gone.id.utf8.lexicographicallyPrecedes(id.utf8) {
        changes.splice(at: next.count, removing: gone.id, inserting: nil)
        old.removeFirst()
      }
      guard let kept = old.first, kept.id == id else {
        let record = Record(id: id, version: revision.next, json: json(revision.next))
        changes.splice(at: next.count, removing: nil, inserting: record.json)
        next.append(record)
        continue
      }
      old.removeFirst()
      guard json(kept.version) != kept.json else {
        next.append(kept)
        continue
      }
      let record = Record(id: id, version: revision.next, json: json(revision.next))
      changes.set(record.json)
      next.append(record)
    }
    for gone in old { changes.splice(at: next.count, removing: gone.id, inserting: nil) }
    changes.endArray()
    assert(next.count == wanted.count)
    return changes.count > 2 ? (next, changes.bytes) : nil
  }

  /// The digest's checksum of the records.
  func checksum() -> UInt32 {
    Digest.checksum(
      screens: records.map { ($0.id, $0.version.number) },
      parts: EmptyCollection<(name: String, version: UInt64)>())
  }
}

extension JSONWriter {
  fileprivate mutating func splice(at index: Int, removing: String?, inserting: [UInt8]?) {
    assert(index >= 0)
    assert(removing != nil || inserting != nil, "a splice that changes nothing")
    beginObject()
    member("at", UInt64(index))
    list("del", removing.map { [$0] } ?? [])
    name("ins")
    beginArray()
    if let inserting { raw(inserting) }
    endArray()
    endObject()
  }

  fileprivate mutating func set(_ record: [UInt8]) {
    beginObject()
    member("set", plain: "screen")
    member("to", raw: record)
    endObject()
  }
}
