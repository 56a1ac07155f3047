import Conformance
import ConformanceSupport
import Testing

/// The runner must find what is wrong; that it finds nothing else is what all other rows show.
@Suite struct RunnerTests {
  private func failure(_ script: String...) throws -> ConformanceFailure? {
    let text = "C-900 X\n  Given g\n  When w\n  Then t\n" + script.map { "  \($0)\n" }.joined()
    let row = try #require(try TableReader.read(text, file: "t").first)
    var driver = HubDriver()
    do {
      try ConformanceRunner.run(row, on: &driver)
      return nil
    } catch let failure as ConformanceFailure {
      return failure
    }
  }

  @Test func `a row that holds passes`() throws {
    let failure = try failure(
      "nav [A,B]", "op pop", "ok+", "out popped = \"B\"", "stack [A]", "top A", "back nil",
      "ev [willHide(B,0),willShow(A,0),didPop(B),didHide(B,0),didShow(A,0)]", "touches [stack]",
      "L []")
    #expect(failure == nil)
  }

  @Test(arguments: [
    "ok=", "err desync", "err guard-required {}", "pending", "queued 1", "stack [A,B]", "top B",
    "back A", "ev []", "ev [willShow(A,0)]", "revisions 2", "touches [bar]", "L [back]", "same",
    "out popped = \"A\"", "out popped ~ {\"id\":\"A\"}", "state rev = 1", "diff cause = \"segue\"",
    "resolved left absent", "state screens != [{\"id\":\"A\",\"ver\":1}]", "nonav",
    "ephemeral [buttonActivated(x,y)]", "event didPop {\"screen\":\"A\"}", "asked 1 [shouldPop(B)]",
    "settled 1 [denied]", "log cause = \"segue\"", "got 1 [diff(1,2)]", "reply changed = false",
  ])
  func `a wrong expectation fails at its line`(expectation: String) throws {
    let failure = try #require(try failure("nav [A,B]", "op pop", "ok", expectation))
    #expect(failure.line == 8)
    #expect(failure.id == "C-900")
  }

  @Test(arguments: [
    "ok+", "err guard-required", "err desync {\"reason\":\"rev\"}", "ok",
  ])
  func `a refusal is no success and must be the one that is expected`(expectation: String) throws {
    let failure = try failure("nav [A,B]", "op if {\"top\":\"A\"} pop", expectation)
    #expect(failure?.line == 7)
  }

  @Test func `a set-up that is refused fails`() throws {
    let failure = try failure("nav [A]", "do popTo Z", "stack [A]")
    #expect(failure?.line == 6)
  }

  @Test(arguments: [
    // What the bar does not show, a state that is not that of its records or its diffs, a daemon that
    // finds fault with itself, an event that tells of nothing, a transition that has not ended.
    (nil, #""hairline":"1/2""#, #""hairline":"1/3""#),
    ("ok", #""id":"A","ver":2"#, #""id":"A","ver":1"#),
    ("diff", #""title":"T""#, #""title":"U""#), ("ok", #"{"ok":true"#, #"{"ok":false"#),
    ("diff", "willShow", "transitionBegan"), ("diff", #""transitionEnded""#, #""ended""#),
    ("diff", #""tid":"#, #""tid":1"#),
  ])
  func `what a daemon must not say is found`(verb: String?, said: String, instead: String) throws {
    let text = """
      C-900 X
        Given g
        When w
        Then t
        nav [A]
        op screen.set {"screen":"A","title":"T"}
        ok
        op animated push @B
        ok
        op transition.complete {"tid":$tid}
        ok
      """
    let row = try #require(try TableReader.read(text, file: "t").first)
    var driver = LyingDriver(verb: verb, said: said, instead: instead)
    #expect(throws: ConformanceFailure.self) { try ConformanceRunner.run(row, on: &driver) }
    #expect(driver.lies > 0)
    var honest = LyingDriver(verb: verb, said: said, instead: said)
    try ConformanceRunner.run(row, on: &honest)
  }
}

/// A hub whose messages are changed on their way.
private struct LyingDriver: ConformanceDriver {
  private var hub = HubDriver()
  /// The verb of the messages; nil for all.
  private let verb: String?
  private let said: String
  private let instead: String
  private(set) var lies = 0

  init(verb: String?, said: String, instead: String) {
    self.verb = verb
    self.said = said
    self.instead = instead
  }

  mutating func connect(_ name: String) throws { try hub.connect(name) }
  mutating func disconnect(_ name: String) throws { try hub.disconnect(name) }
  mutating func restart() throws { try hub.restart() }
  mutating func setStorage(failing: Bool) throws { try hub.setStorage(failing: failing) }

  mutating func send(_ name: String, verb: String, body: [UInt8]) throws {
    try hub.send(name, verb: verb, body: body)
  }

  mutating func advance(milliseconds: UInt64) throws {
    try hub.advance(milliseconds: milliseconds)
  }

  mutating func receive(_ name: String) throws -> ReceivedMessage? {
    guard var message = try hub.receive(name) else { return nil }
    let text = String(decoding: message.body, as: UTF8.self)
    guard verb == nil || message.verb == verb, text.contains(said) else { return message }
    lies += 1
    message.body = Array(text.replacing(said, with: instead).utf8)
    return message
  }
}
