import NavigationCore
import Testing

@testable import navctl

/// The tables of `list`, `log`, `history` and of members, and the lines of `watch`.
@Suite struct TableTextTests {
  private func rows(_ json: String) throws -> [JSONValue] { try value(json).elements }

  @Test func `sessions of this machine and of the network stand in one table`() throws {
    let records = try rows(
      #"""
      [{"id":"6f1c","ver":1,"name":"壳","via":"ipc","uid":1000,"gid":1000,"pid":2820,"role":"ui","watches":2,"behind":0,"stalled":false},
       {"id":"a","ver":2,"name":"","via":"tcp","key":"panel-1","address":"10.0.0.7:5123","role":"ui","watches":0,"behind":41,"stalled":true}]
      """#)
    #expect(
      Tables.clients(records) == [
        "CLIENT  NAME  VIA  UID/KEY  PID/FROM       ROLE  WATCHES  BEHIND",
        "6f1c    壳    ipc  1000     2820           ui    2        0",
        "a             tcp  panel-1  10.0.0.7:5123  ui    0        41, stalled",
      ])
    #expect(Tables.clients([]) == ["CLIENT  NAME  VIA  UID/KEY  PID/FROM  ROLE  WATCHES  BEHIND"])
  }

  @Test func `a report of divergence stands in the log as one`() throws {
    let entries = try rows(
      #"""
      [{"bad":{"rev":7,"dig":"0badcafe0000000000000000"},"t":1732147200000,"by":{"name":"","principal":"hall"}},
       {"rev":8,"cause":"timeout"}]
      """#)
    #expect(
      Tables.log(entries) == [
        "REV  TIME                  CAUSE     BY    OPERATIONS                                  DIGEST",
        #"!    2024-11-21T00:00:00Z  diverged  hall  {"rev":7,"dig":"0badcafe0000000000000000"}  -"#,
        "8    -                     timeout   -     -                                           -",
      ])
    let history = Tables.history(entries, tops: ["a", nil], columns: 100)
    #expect(history[1].contains(#"diverged {"rev":7,"dig":"0badcafe0000000000000000"}"#))
    #expect(
      history[2]
        == "8    -                     -     timeout                                              -"
    )
  }

  @Test(arguments: [40, 60, 80, 120])
  func `the history is as wide as the terminal, whoever did whatever`(columns: Int) throws {
    var texts = SampleTexts(seed: UInt64(columns))
    for _ in 0..<20 {
      var tops: [String?] = []
      let entries = try (1...4).map { rev in
        tops.append(texts.below(3) == 0 ? nil : texts.text(atMost: 30))
        let name = quoted(texts.text(atMost: 30))
        return try value(
          #"{"rev":\#(rev),"t":0,"cause":"api","by":{"name":\#(name)},"do":["push","item.set"]}"#)
      }
      let lines = Tables.history(entries, tops: tops, columns: columns)
      #expect(lines.count == 5)
      // The number, the time and a third for each of the others are always there.
      for line in lines { #expect(TerminalText.width(line) <= max(columns, 43), "\(line)") }
      for (rev, line) in lines.dropFirst().enumerated() {
        #expect(line.hasPrefix("\(rev + 1)    1970-01-01T00:00:00Z  "))
      }
    }
  }

  @Test func `members without a value, and empty objects, are told as they are`() throws {
    #expect(
      Tables.members(try value(#"{"a":{},"b":null,"c":"","ver":3}"#), except: "ver")
        == ["a  {}", "b  null", "c  "])
    #expect(Tables.members(try value("[1]")) == [])
  }

  @Test func `no cell steers the terminal`() throws {
    let records = try rows(
      #"[{"id":"a\u001b[2J","top":"\u202e","owner":"x\ny"}]"#)
    #expect(
      Tables.navs(records)[1]
        == "a\u{FFFD}[2J  -    -      \u{FFFD}    -        -        x\u{FFFD}y")
  }

  @Test(arguments: [
    (UInt64(0), "1970-01-01T00:00:00Z"), (1_709_164_800_000, "2024-02-29T00:00:00Z"),
    (1_735_689_599_999, "2024-12-31T23:59:59Z"), (1_735_689_600_000, "2025-01-01T00:00:00Z"),
    (4_102_444_800_000, "2100-01-01T00:00:00Z"), (13_569_465_600_000, "2400-01-01T00:00:00Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59Z"),
  ])
  func `leap years and turns of years are right`(milliseconds: UInt64, text: String) {
    #expect(Tables.utc(milliseconds: milliseconds) == text)
  }

  @Test func `every day of eight hundred years follows the one before`() {
    // The naive calendar: a day at a time.
    var (year, month, day) = (1970, 1, 1)
    var wrong: [String] = []
    for number in 0..<292_194 as Range<UInt64> {
      let digits = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
      let expected = "\(year)-\(digits(month))-\(digits(day))T00:00:00Z"
      if number.isMultiple(of: 37) || day == 1,
        Tables.utc(milliseconds: number * 86_400_000) != expected
      {
        wrong.append(expected)
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
      day += 1
      if day > lengths[month - 1] { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect(wrong == [])
  }
}

/// The lines of `watch` for the views that skip values, and for events.
@Suite struct WatchViewTests {
  private func message(_ verb: ServerVerb, _ body: String) throws -> ServerMessage {
    var reader = ServerMessageReader()
    return try reader.read(verb: verb.frame, body: Array(body.utf8))
  }

  private func latest(_ view: String, _ json: String) throws -> Latest {
    let body =
      #"{"nav":"kiosk","view":"\#(view)","epoch":"c0ffee12c0ffee12","rev":22,"value":\#(json)}"#
    guard case .latest(let latest) = try message(.latest, body) else {
      throw UsageError("not a latest")
    }
    return latest
  }

  @Test(arguments: [
    ("top", #"{"id":"wifi","ver":3,"title":"无线"}"#, #"rev 22  top wifi  "无线""#),
    ("top", #"{"id":"wifi","ver":3}"#, "rev 22  top wifi"), ("top", "null", "rev 22  top none"),
    ("top", #"{"id":"a","title":"x\u001by"}"#, "rev 22  top a  \"x\u{FFFD}y\""),
    ("bar", #"{"left":[],"right":[]}"#, "rev 22  (an empty bar)"),
    (
      "bar", #"{"left":[{"back":{"text":"Home"}}],"middle":{"title":"Wi-Fi"}}"#,
      "rev 22  ‹ Home                     Wi-Fi"
    ),
  ])
  func `the newest value of a view is a line`(view: String, json: String, text: String) throws {
    var lines = WatchLines()
    #expect(lines.latest(try latest(view, json)) == text)
  }

  @Test func `a view is written as it was read, and the next state is a resync after it`() throws {
    let latest = try latest("top", #"{"id":"wifi","new":[1,2]}"#)
    #expect(
      String(decoding: MirrorText.latest(latest), as: UTF8.self)
        == #"{"nav":"kiosk","view":"top","epoch":"c0ffee12c0ffee12","rev":22,"value":{"id":"wifi","new":[1,2]}}"#
    )
    var lines = WatchLines()
    _ = lines.latest(latest)
    #expect(
      lines.snapshot(try value(#"{"rev":30,"screens":[]}"#), why: "lag", at: 7).text
        == "resync  rev 30  after rev 22  lag  []")
  }

  @Test func `a revision without an author or changes is short`() throws {
    let body =
      #"{"nav":"k","epoch":"c0ffee12c0ffee12","base":1,"rev":2,"seq":2,"cause":"recovery","ch":[],"ev":[],"depth":0,"dig":"000000000000000000000000"}"#
    guard case .diffs(let diffs) = try message(.diff, body), let diff = diffs.first else {
      throw UsageError("not a diff")
    }
    var lines = WatchLines()
    #expect(lines.diff(diff, top: nil) == "rev 2  no change, recovery  depth 0")
  }

  @Test func `a progress of a gesture is a line with its members`() throws {
    let body =
      #"{"nav":"k","epoch":"c0ffee12c0ffee12","rev":2,"ev":[{"transitionProgress":{"tid":2,"value":0.5}},{"x":{}}]}"#
    guard case .event(let event) = try message(.event, body) else {
      throw UsageError("not an event")
    }
    #expect(WatchLines.event(event) == "event  rev 2  transitionProgress tid 2 value 0.5  x")
  }
}
