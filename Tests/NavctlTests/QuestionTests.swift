@testable import navctl
import NavigationCore
import Testing

/// The answers of `why` and `diff`, and what `dump --redact` leaves out.
@Suite struct QuestionTests {
  private func value(_ text: String) throws -> JSONValue { try JSONValue(Array(text.utf8)) }

  private func entries(_ text: String) throws -> [JSONValue] { try value("[\(text)]").elements }

  private static let log = #"""
    {"rev":1,"t":0,"cause":"api","do":["nav.create"],"ins":[{"id":"home"}],"dig":"0"},
    {"rev":2,"t":1000,"cause":"api","by":{"name":"shell","principal":"uid:7","pid":9},"do":["push"],"ins":[{"id":"a","route":"r/a"}],"dig":"0"},
    {"rev":3,"t":2000,"cause":"backButton","by":{"name":"remote"},"do":["ui.backTap"],"del":["a"],"dig":"0"},
    {"rev":4,"t":3000,"cause":"api","do":["present"],"presented":[{"id":"p"}],"dig":"0"},
    {"rev":5,"t":4000,"cause":"api","do":["present"],"presented":[{"id":"p"},{"id":"q"}],"dig":"0"},
    {"rev":6,"t":5000,"cause":"api","do":["push"],"ins":[{"id":"a"}],"dig":"0"},
    {"rev":7,"t":6000,"cause":"api","do":["dismiss"],"presented":[],"dig":"0"}
    """#

  private func origin(_ screen: String, pages: Int = 1) throws -> ScreenOrigin {
    let all = try entries(Self.log)
    var origin = ScreenOrigin(of: screen)
    if pages == 1 {
      _ = origin.endsSearch(reading: all)
    } else {
      // A page of one entry each, but the first one.
      var rest = all[...]
      while !rest.isEmpty, !origin.endsSearch(reading: Array(rest.suffix(1))) { rest.removeLast() }
    }
    origin.endSearch()
    return origin
  }

  @Test(arguments: [1, 2])
  func `why names the newest revision that put a screen there`(pages: Int) throws {
    let a = try origin("a", pages: pages)
    #expect(a.arrival?["rev"]?.integer == 6 && a.removal == nil)
    let home = try origin("home", pages: pages)
    #expect(home.arrival?["rev"]?.integer == 1 && home.removal == nil)
    let p = try origin("p", pages: pages)
    #expect(p.arrival?["rev"]?.integer == 4 && p.removal?["rev"]?.integer == 7 && p.isPresented)
    let q = try origin("q", pages: pages)
    #expect(q.arrival?["rev"]?.integer == 5 && q.removal?["rev"]?.integer == 7)
    #expect(try !origin("nothing", pages: pages).isFound)
  }

  @Test func `why names author, time, operation and route`() throws {
    var origin = ScreenOrigin(of: "a")
    _ = origin.endsSearch(reading: Array(try entries(Self.log)[..<3]))
    let lines = origin.lines(nav: "kiosk", oldestRevision: 1)
    #expect(
      lines == [
        "a was put on the stack at rev 2, 1970-01-01T00:00:01Z, by shell (uid:7, pid 9): push",
        "route r/a",
        "it was taken away at rev 3, 1970-01-01T00:00:02Z, by remote: ui.backTap, cause backButton",
      ])
    let none = ScreenOrigin(of: "zz").lines(nav: "kiosk", oldestRevision: 4)
    #expect(none[0] == "zz was not put on kiosk since rev 4, the oldest that navd has")
  }

  @Test func `diff names what changed of the stack, of screens and of parts`() throws {
    let before = try value(
      #"{"screens":[{"id":"a","ver":1,"title":"A"},{"id":"b","ver":1}],"bar":{"ver":1}}"#)
    let after = try value(
      #"{"screens":[{"id":"a","ver":3,"title":"Å","route":"r"}],"bar":{"ver":2,"hidden":true}}"#)
    let comparison = StateComparison(before, after)
    #expect(
      comparison.differences == [
        .init(subject: "stack", before: "[a b]", after: "[a]"),
        .init(subject: "screen a title", before: #""A""#, after: #""Å""#),
        .init(subject: "screen a route", before: nil, after: #""r""#),
        .init(subject: "bar hidden", before: nil, after: "true"),
      ])
    #expect(comparison.lines.map(\.plain).first == "stack")
    #expect(StateComparison(after, after).differences.isEmpty)
  }

  @Test func `what another program answers becomes a record too`() throws {
    for (body, text) in [
      (#" {"a":1}"#, #"{"type":"state","a":1}"#), ("{ }", #"{"type":"state" }"#),
      ("7", #"{"type":"state","value":7}"#), ("{", #"{"type":"state","value":null}"#),
      ("", #"{"type":"state","value":null}"#),
    ] {
      let record = JSONRecord(.state, Array(body.utf8))
      #expect(String(decoding: record.bytes, as: UTF8.self) == text)
      #expect(throws: Never.self) { try JSONValue(record.bytes) }
    }
  }

  @Test func `redaction keeps the structure, and no text of a user`() throws {
    let state = try value(
      #"{"nav":"kiosk","screens":[{"id":"a","title":"Ada Lovelace","route":"patients/17","args":{"id":"17","name":"Ada","calls":{"+49 170":3}},"item":{"prompt":"x","rightItems":[{"id":"b","title":"Call","action":"call:+49"}]}}],"rev":3,"on":true}"#
    )
    let text = String(decoding: Redaction.redacted(state).bytes, as: UTF8.self)
    #expect(!text.contains("Ada") && !text.contains("+49"))
    #expect(
      text
        == #"{"nav":"kiosk","screens":[{"id":"a","title":"(12 characters)","route":"(11 characters)","args":{"m0":"(2 characters)","m1":"(3 characters)","m2":{"m0":3}},"item":{"prompt":"(1 characters)","rightItems":[{"id":"b","title":"(4 characters)","action":"(8 characters)"}]}}],"rev":3,"on":true}"#
    )
  }
}
