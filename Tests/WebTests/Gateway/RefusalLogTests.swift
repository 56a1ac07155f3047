import NavigationCore
import Testing

@testable import Web

@Suite struct RefusalLogTests {
  @Test func `a new reason is logged at once, a repeated one once a minute with its count`() {
    var log = RefusalLog()
    #expect(log.lineToLog("GET /", "a", at: 5000) == "GET / was refused: a")
    for later in [5000, 5001, 64_999] as [UInt64] {
      #expect(log.lineToLog("GET /", "a", at: later) == nil)
    }
    #expect(log.lineToLog("GET /", "b", at: 64_999) == "GET / was refused: b")
    #expect(
      log.lineToLog("POST /x", "a", at: 65_000)
        == "4 more refusals; the last, of POST /x, refused: a")
    #expect(log.lineToLog("GET /", "a", at: 124_999) == nil)
    #expect(
      log.lineToLog("GET /", "b", at: 125_000) == "2 more refusals; the last, of GET /, refused: b")
    #expect(
      log.lineToLog("GET /", "b", at: 500_000) == "1 more refusal; the last, of GET /, refused: b")
  }

  @Test func `reasons that differ only for octets are different`() {
    var log = RefusalLog()
    #expect(log.lineToLog("GET /", "\u{e9}", at: 0) != nil)
    #expect(log.lineToLog("GET /", "e\u{301}", at: 0) != nil)
  }

  @Test func `a minute of other reasons has nine lines, and later ones are logged as well`() {
    var log = RefusalLog()
    var lines: [String] = []
    for second in 0..<600 as Range<UInt64> {
      for place in 0..<10 {
        log.lineToLog("GET /", "host \(second * 10 + UInt64(place))", at: second * 1000).map {
          lines.append($0)
        }
      }
    }
    #expect(lines.count > 60 && lines.count <= 90, "\(lines.count)")
    // Each refusal is a line of its own or counted, but those since the last line.
    let counted = lines.compactMap { line in
      line.contains(" more ") ? Int(line.prefix { $0.isNumber }) : nil
    }
    #expect(counted.reduce(lines.count - counted.count, +) > 5400)
    // What is refused now is named, though the log had many reasons before.
    #expect(log.lineToLog("GET /", "proxy", at: 661_000)?.contains("refused: proxy") == true)
    #expect(log.lineToLog("GET /", "another", at: 661_000) == "GET / was refused: another")
  }
}
