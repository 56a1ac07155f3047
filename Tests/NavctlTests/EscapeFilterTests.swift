@testable import navctl
import Testing

@Suite struct EscapeFilterTests {
  /// What the filter makes of keys that arrive in batches; `␛` is Escape.
  private func filtered(_ batches: String...) -> [BrowserKey] {
    var filter = EscapeFilter()
    return batches.flatMap { batch in
      filter.filter(batch.unicodeScalars.map { $0 == "␛" ? .escape : BrowserKey($0) })
    }
  }

  @Test(arguments: [
    "␛b", "␛P", "␛\r", "␛\u{7F}", "␛ü", "␛[1;7P", "␛[P", "␛[200~", "␛[[A", "␛[?1;2c", "␛O1;7P",
    "␛OP", "␛␛[1;7P", "␛␛b", "␛[\r",
  ])
  func `a sequence is one other key`(_ sequence: String) {
    #expect(filtered(sequence) == [.other])
    #expect(filtered("x" + sequence + "y") == [.text("x"), .other, .text("y")])
    #expect(filtered(sequence + sequence, "b") == [.other, .other, .text("b")])
  }

  @Test func `Escape alone is a key, also twice`() {
    #expect(filtered("␛") == [.escape])
    #expect(filtered("x␛") == [.text("x"), .escape])
    #expect(filtered("␛", "b") == [.escape, .text("b")])
    #expect(filtered("␛␛") == [.escape])
  }

  @Test func `the rest of a sequence can arrive later`() {
    #expect(filtered("␛[", "1;", "7P", "P") == [.other, .text("P")])
    #expect(filtered("␛[1", "␛", "P") == [.escape, .text("P")])
  }

  @Test func `a cursor key after Escape is its Alt form`() {
    var filter = EscapeFilter()
    #expect(filter.filter([.escape, .up, .up]) == [.other, .up])
  }

  @Test func `the interrupt is a key everywhere`() {
    #expect(filtered("␛\u{3}b") == [.interrupt, .text("b")])
    #expect(filtered("␛[1\u{3}b") == [.interrupt, .text("b")])
  }

  @Test func `other keys pass`() {
    #expect(filtered("p[O\r") == [.text("p"), .text("["), .text("O"), .enter])
  }
}
