import NavigationCore

/// The records of a virtual nav, in the order of their names.
///
/// Law: a client that applies the changes which `update` returns has the same records.
struct VirtualNavRecords: Sendable {
  /// A record as it was encoded last.
  struct Record: Equatable, Sendable {
    var id: String
    var version: Revision
    var json: [UInt8]
  }

  typealias Encoder = (Revision) -> [UInt8]
  /// The id of a record that should exist, and its encoder.
  typealias WantedRecord = (id: String, json: Encoder)
  /// The id of a record that may have changed, and its encoder; nil if the record exists no more.
  typealias RecordChange = (id: String, json: Encoder?)

  private(set) var revision = Revision(1)
  private(set) var records: [Record] = []
  /// Whether a watch or a read needs the records; otherwise only the revision is kept up to date.
  private(set) var areKept = false

  mutating func keep(_ wanted: [WantedRecord]) {
    assert(!areKept && records.isEmpty, "records that are kept")
    areKept = true
    records = wanted.map { Record(id: $0.id, version: revision, json: $0.json(revision)) }
  }

  /// Stops keeping records; a client that watches again gets a snapshot.
  mutating func drop() {
    assert(areKept, "records that are not kept")
    areKept = false
    records = []
    revision = revision.next
  }

  /// Advances the revision while no records are kept.
  mutating func advanceRevision() {
    assert(!areKept && records.isEmpty, "records that are kept")
    revision = revision.next
  }

  /// Makes the next revision of the records that changed, as a JSON list of changes; nil if nothing
  /// differs.
  ///
  /// O(log records) for each changed record, or O(1) if it follows the changed one before;
  /// O(records) if a record is added or removed. `changed` is in the order of the names.
  mutating func update(_ changed: [RecordChange]) -> [UInt8]? {
    assert(areKept, "records that are not kept")
    var changes = JSONWriter()
    changes.beginArray()
    // The next records, up to the last one that comes or goes, and the number of former ones there.
    var (next, taken): ([Record], Int) = ([], 0)
    var place = 0
    for (id, json) in changed {
      place = index(of: id, from: place)
      let former = place < records.count && records[place].id == id ? records[place] : nil
      if let former, let json, json(former.version) == former.json { continue }
      let record = json.map { Record(id: id, version: revision.next, json: $0(revision.next)) }
      if former != nil, let record {
        changes.set(record.json)
        records[place] = record
      } else if former != nil || record != nil {
        next += records[taken..<place]
        changes.splice(at: next.count, removing: former.map(\.id), inserting: record.map(\.json))
        if let record { next.append(record) }
        taken = former == nil ? place : place + 1
      }
    }
    changes.endArray()
    guard changes.count > 2 else { return nil }
    if taken > 0 || !next.isEmpty { records = next + records[taken...] }
    revision = revision.next
    return changes.bytes
  }

  /// The index of a record, or the index for its insertion; the search begins at `low`.
  private func index(of id: String, from low: Int) -> Int {
    var (low, high) = (low, records.count)
    // Records that all change follow each other.
    for _ in 0..<2 where low < high {
      if !(records[low].id < id) { return low }
      low += 1
    }
    while low < high {
      let middle = (low + high) / 2
      if records[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Makes the next revision of the records that should exist, as a JSON list of changes; nil if
  /// nothing differs.
  ///
  /// O(records). `wanted` is in the order of the names.
  mutating func update(to wanted: [WantedRecord]) -> [UInt8]? {
    let ids = Set(wanted.map { Text($0.id) })
    let gone = records.filter { !ids.contains(Text($0.id)) }.map { record -> RecordChange in
      (record.id, nil)
    }
    let changed = gone + wanted.map { record -> RecordChange in (record.id, record.json) }
    return update(changed.sorted { $0.id < $1.id })
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
    object { json in
      json.member("at", UInt64(index))
      json.strings("del", removing.map { [$0] } ?? [])
      json.array("ins", inserting.map { [$0] } ?? []) { $0.raw($1) }
    }
  }

  fileprivate mutating func set(_ record: [UInt8]) {
    object { json in
      json.member("set", word: "screen")
      json.member("to", raw: record)
    }
  }
}
