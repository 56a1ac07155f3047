import NavigationCore
import NavigationHub
import Testing

/// `JournalRecords` against a list of records.
@Suite struct JournalRecordsTests {
  private static func records(_ random: inout SeededGenerator) -> [JournalRecord] {
    (0..<Int.random(in: 0...20, using: &random)).map { place in
      let number = UInt64(place) + 1
      let body = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      guard UInt64.random(in: 0..<4, using: &random) > 0 else {
        return .snapshot(
          SnapshotRow(nav: 1, revision: number, sequence: number, time: 3, body: body))
      }
      return .row(
        JournalRow(
          RowHeader(
            sequence: number, nav: number % 3, revision: number, previous: 0, time: 9,
            kind: .changed, depth: 0, top: nil, needsRecovery: Bool.random(using: &random)),
          body: body))
    }
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `the records come back in order, each with its own body`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let expected = Self.records(&random)
    let found = JournalRecords(expected)
    #expect(Array(found) == expected)
    #expect(found.count == expected.count && found.isEmpty == expected.isEmpty)
    let (rows, bodies) = (found.rows, found.bodies)
    #expect(rows.count + found.snapshots.count == expected.count)
    var next = 0
    for (place, record) in expected.enumerated() {
      switch record {
      case .row(let row):
        #expect(rows[next].header == row.header)
        #expect(Array(bodies[found.body(of: next)]) == row.body)
        next += 1
      case .snapshot(let snapshot):
        let entry = found.snapshots[place - next]
        #expect(entry.rowsBefore == next && entry.snapshot == snapshot)
      }
    }
    #expect(next == rows.count)
  }
}
