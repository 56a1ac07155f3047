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

  @Test(.timeLimit(.minutes(5)), arguments: CodeRow.allCases)
  func `code keeps the row`(row: CodeRow) throws {
    try row.check()
  }

  @Test func `every id has exactly one row, and every row that is code a test`() throws {
    let rows = try Table.rows.get()
    let ids = rows.map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.sorted() == (try Table.ids()))
    #expect(Set(rows.filter(\.isCode).map(\.id)) == Set(CodeRow.allCases.map(\.rawValue)))
    #expect(Table.scripted.count == rows.count - CodeRow.allCases.count)
  }
}
