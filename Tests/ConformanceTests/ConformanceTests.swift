import Conformance
import ConformanceSupport
import Testing

@Suite struct ConformanceTests {
  @Test(arguments: Table.scripted)
  func `a hub keeps the row`(id: String) throws {
    let row = try #require(try Table.row(id))
    var driver = HubDriver()
    do {
      try ConformanceRunner.run(row, on: &driver)
    } catch let failure as ConformanceFailure {
      Issue.record("\(failure)")
    }
  }

  @Test(arguments: CodeRow.mirrors)
  func `a mirror keeps the row`(row: CodeRow) throws {
    try MirrorRows.check(row, on: HubDriver())
  }

  /// The seeds of random runs, whose steps are 10 000 together.
  private static let seeds: [UInt64] = Array(1...10)
  private static let steps = 1000

  @Test(.timeLimit(.minutes(5)), arguments: seeds)
  func `random ops keep the rows`(seed: UInt64) throws {
    let violations = try RandomRows.run(
      seed: seed, steps: Self.steps, pace: RandomPace(), on: HubDriver(seed: seed))
    for row in CodeRow.random {
      let found = violations[row] ?? []
      #expect(found.isEmpty, "\(row.rawValue): \(found.prefix(3))")
    }
  }

  @Test(arguments: seeds)
  func `two hubs with the same history show the same octets`(seed: UInt64) throws {
    try RandomRows.equalDaemons(
      seed: seed, steps: Self.steps / 10, pace: RandomPace(), HubDriver(seed: seed),
      HubDriver(seed: seed + 1000))
  }

  @Test func `every id has exactly one row, and every row that is code a test`() throws {
    let rows = try Table.rows.get()
    let ids = rows.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.sorted() == (try Table.ids()))
    #expect(Set(rows.filter(\.isCode).map(\.id)) == Set(CodeRow.allCases.map(\.rawValue)))
    #expect(Set(CodeRow.mirrors + CodeRow.random + [.equalDaemons]) == Set(CodeRow.allCases))
    #expect(Table.scripted.count == rows.count - CodeRow.allCases.count)
  }
}
