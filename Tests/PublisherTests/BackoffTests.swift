import NavigationCore
import Testing

@testable import NavigationPublisher

/// The pauses between attempts, as docs/publish.md states them.
@Suite struct BackoffTests {
  @Test(arguments: 0..<20 as Range<UInt64>)
  func `pauses double up to 30 s, and their second half is random`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var backoff = Backoff()
    var now: UInt64 = 1000
    for failures in 1...20 as ClosedRange<UInt64> {
      let chance = Double(random.next() >> 11) / Double(1 << 53 as UInt64)
      backoff.noteFailure(at: now, random: chance)
      let whole: UInt64 = min(250 << (failures - 1), 30_000)
      #expect(backoff.retryAt >= now + whole / 2 && backoff.retryAt <= now + whole)
      now = backoff.retryAt
    }
    backoff.noteSuccess()
    #expect(backoff.retryAt == 0)
    backoff.wait(until: now + 7)
    #expect(backoff.retryAt == now + 7)
  }

  @Test func `the next piece of a row begins where this one ends`() throws {
    let piece = #"[{"rev":2,"t":1,"kind":"state","size":9,"at":3,"text":"ä\"x"}]"#
    let rows = try CarriedRows(Array(piece.utf8))
    #expect(!rows.isEmpty && rows.nextOffset == 7)
    let last = try CarriedRows(Array(piece.replacing("\"size\":9", with: "\"size\":7").utf8))
    #expect(!last.isEmpty && last.nextOffset == nil)
    let whole = try CarriedRows(Array(#"[{"rev":2,"t":1,"kind":"epoch","body":{}}]"#.utf8))
    #expect(!whole.isEmpty && whole.nextOffset == nil)
    #expect(try CarriedRows(Array("[]".utf8)).isEmpty)
  }
}
