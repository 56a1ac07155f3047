import NavigationSync
import Testing

@testable import Journal

@Suite struct JournalTests {
  @Test func `what was committed is replayed in order`() throws {
    let directory = try TemporaryDirectory()
    var writer = Writer(seed: 1)
    var journal = try Journal.open(directory.path)
    #expect(try journal.contents() == Contents())
    for size in [1, 7, 100, 3] { try journal.commit(writer.batch(size)) }
    let first = writer.snapshot(nav: 2)
    let other = writer.snapshot(nav: 1)
    try journal.commit([.snapshot(first), .snapshot(other)] + writer.batch(5))
    #expect(journal.walPages > 0)
    try journal.close()

    journal = try Journal.open(directory.path)
    let contents = try journal.contents()
    #expect(contents.rows == writer.rows)
    #expect(contents.snapshots == [other, first])
    #expect(journal.lastSequence == 116)
    try journal.commit(writer.batch(2))
    try journal.close()
  }
}
