import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct DirectoryTests {
  private static func wanted(_ values: [String: Int]) -> [VirtualNavRecords.WantedRecord] {
    values.sorted { $0.key < $1.key }.map { id, value in
      (id, { Array(#"{"id":"\#(id)","ver":\#($0.number),"value":\#(value)}"#.utf8) })
    }
  }

  /// A mirror's records after the changes of a diff: ids, and versions.
  private static func apply(
    _ changes: [UInt8], to mirror: inout [(id: String, version: Int)]
  ) throws {
    func record(_ value: Any?) throws -> (id: String, version: Int) {
      let object = try #require(value as? [String: Any])
      return (try #require(object["id"] as? String), try #require(object["ver"] as? Int))
    }
    let list = try JSONSerialization.jsonObject(with: Data(changes)) as? [[String: Any]]
    for change in try #require(list) {
      if let at = change["at"] as? Int {
        for id in try #require(change["del"] as? [String]) {
          #expect(mirror.remove(at: at).id == id)
        }
        let inserted = try #require(change["ins"] as? [Any]).map { try record($0) }
        mirror.insert(contentsOf: inserted, at: at)
      } else {
        let new = try record(change["to"])
        let index = try #require(mirror.firstIndex { $0.id == new.id })
        mirror[index] = new
      }
    }
  }

  @Test(arguments: UInt64(1)...6)
  func `the changes make of a mirror what was wanted`(seed: UInt64) throws {
    var directory = VirtualNavRecords()
    var values: [String: Int] = [:]
    var mirror: [(id: String, version: Int)] = []
    var random = SeededGenerator(seed: seed)
    directory.keep(Self.wanted(values))
    for _ in 0..<300 {
      let before = values
      for _ in 0..<random.next() % 4 {
        let id = "n\(random.next() % 12)"
        values[id] = random.next() % 3 == 0 ? nil : Int(random.next() % 3)
      }
      let former = directory
      // Both ways lead to the same records: by all of them, and by those that may have changed.
      var other = directory
      let changes = directory.update(to: Self.wanted(values))
      let ids = Set(before.keys).union(values.keys).union(["n5"])
      let alone = other.update(
        ids.filter { values[$0] != before[$0] || $0 == "n5" }.sorted().map { id in
          (id, values[id].flatMap { Self.wanted([id: $0]).first?.json })
        })
      #expect(other.records == directory.records && other.revision == directory.revision)
      #expect((changes == nil) == (values == before))
      #expect((alone == nil) == (changes == nil))
      guard let changes, let alone else { continue }
      #expect(directory.revision == former.revision.next)
      var second = mirror
      try Self.apply(alone, to: &second)
      try Self.apply(changes, to: &mirror)
      #expect(
        second.map(\.id) == mirror.map(\.id) && second.map(\.version) == mirror.map(\.version))
      #expect(mirror.map(\.id) == values.keys.sorted())
      #expect(directory.records.map(\.id) == mirror.map(\.id))
      #expect(directory.records.map { Int($0.version.number) } == mirror.map(\.version))
      for record in directory.records {
        let isNew = record.version == directory.revision
        #expect(isNew == (values[record.id] != before[record.id]))
        #expect(isNew || former.records.contains(record))
      }
    }
  }

  @Test func `a directory without records counts revisions only`() {
    var directory = VirtualNavRecords()
    directory.advanceRevision()
    #expect(directory.revision == Revision(2) && directory.records.isEmpty)
    directory.keep(Self.wanted(["a": 1]))
    #expect(directory.areKept && directory.records.map(\.version) == [Revision(2)])
    #expect(directory.checksum() != VirtualNavRecords().checksum())
    directory.drop()
    #expect(!directory.areKept && directory.revision == Revision(3))
    #expect(directory.checksum() == VirtualNavRecords().checksum())
  }
}
