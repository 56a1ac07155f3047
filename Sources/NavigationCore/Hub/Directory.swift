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

  /// The id of a record that should exist, and its encoder, which takes the record's version.
  typealias Wanted = (id: String, json: (Revision) -> [UInt8])

  private(set) var revision = Revision(1)
  private(set) var records: [Record] = []
  /// Whether a watch or a read needs the records; otherwise only the revision is kept up to date.
  private(set) var isActive = false

  /// Begins to keep records.
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

  /// Installs the records of the next revision.
  mutating func advance(to records: [Record]) {
    assert(isActive, "a directory that is not active")
    assert(records.allSatisfy { $0.version <= revision.next }, "a record of a later revision")
    self.records = records
    revision = revision.next
  }

  /// Computes the next revision: its records, and the changes to them as a JSON list.
  ///
  /// O(records).
  ///
  /// - Parameter wanted: the records that should exist, in the order of their names.
  /// - Returns: nil if nothing differs.
  func changes(to wanted: [Wanted]) -> (records: [Record], json: [UInt8])? {
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

  /// The digest of the records.
  func digest() -> Digest {
    Digest(
      screens: records.map { ($0.id, $0.version.number) },
      parts: EmptyCollection<(name: String, version: UInt64)>())
  }
}

extension JSONWriter {
  fileprivate mutating func splice(at index: Int, removing: String?, inserting: [UInt8]?) {
    assert(index >= 0)
    assert(removing != nil || inserting != nil, "a splice that changes nothing")
    beginObject()
    name("at")
    integer(UInt64(index))
    list("del", removing.map { [$0] } ?? [])
    name("ins")
    beginArray()
    if let inserting { raw(inserting) }
    endArray()
    endObject()
  }

  fileprivate mutating func set(_ record: [UInt8]) {
    beginObject()
    name("set")
    plain("screen")
    name("to")
    raw(record)
    endObject()
  }
}
