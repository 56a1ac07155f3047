import NavigationCore
import Testing

@testable import navctl

/// How a refused guard is explained by the last change of the top.
@Suite struct TopChangeTextTests {
  private static let by = #","by":{"name":"remote","principal":"uid:1000","pid":4711}"#

  private func desync(
    _ since: String, reason: String = "top", expected: String = "\"wifi\"", top: String = "home"
  ) -> String {
    #"""
    {"id":46,"code":"desync","reason":"\#(reason)","expected":\#(expected),
     "msg":"top is home, not wifi","effect":"none","retry":"resync",
     "since":{"rev":9,"t":1000000,"cause":"api"\#(since)},"nav":"kiosk",
     "epoch":"c0ffee12c0ffee12","rev":9,"dig":"9bd5ea7a0000000000000000","depth":1,"top":"\#(top)"}
    """#
  }

  private func lines(
    _ body: String, seen: SeenState? = nil, after milliseconds: Int64 = 2000
  ) throws -> [String] {
    ErrorText.lines(
      try refusal(body), nav: nil, seen: seen, now: UInt64(1_000_000 + milliseconds))
  }

  @Test func `a refused pop says who popped what, and when`() throws {
    #expect(
      try lines(desync(#"\#(Self.by),"popped":"wifi""#), seen: try seen()) == [
        "desync: wifi is not on top any more: popped by remote (uid 1000, pid 4711) 2 s ago, rev 9",
        "seen rev 18, top wifi; now rev 9, top home, depth 1",
        "try: see the present state: navctl show kiosk",
      ])
  }

  @Test func `a screen that others cover is not called popped`() throws {
    #expect(
      try lines(desync(#"\#(Self.by),"covered":"wifi""#, top: "dns"))[0]
        == "desync: wifi is not on top any more: covered with dns by remote (uid 1000, pid 4711) "
        + "2 s ago, rev 9")
  }

  @Test func `a change of another screen is not told as one of this`() throws {
    let lines = try lines(desync(#"\#(Self.by),"popped":"dns""#))
    #expect(lines[0] == "desync: top is home, not wifi")
    #expect(lines[1] == "the top is home since rev 9, by remote (uid 1000, pid 4711) 2 s ago")
    #expect(lines[2] == "now rev 9, top home, depth 1")
  }

  @Test func `a guard by the revision is explained if what was seen on top is gone`() throws {
    let body = desync(#"\#(Self.by),"popped":"wifi""#, reason: "rev", expected: "8")
    #expect(try lines(body).count == 3)
    let explained = try lines(body, seen: try seen(rev: 8))
    #expect(explained[0] == "desync: top is home, not wifi")
    #expect(explained[1].hasPrefix("wifi is not on top any more: popped by remote"))
    // The top is as it was, so that it explains nothing.
    #expect(try lines(body, seen: try seen(rev: 8, top: "home")).count == 3)
  }

  @Test(arguments: [
    (#","by":{"name":"","principal":"uid:0","pid":1}"#, "by uid 0, pid 1 "),
    (#","by":{"name":"panel","principal":"hall"}"#, "by panel (key hall) "),
    ("", "by navd itself "),
  ])
  func `everybody is named by what is known`(by: String, text: String) throws {
    let line = try lines(desync(#"\#(by),"popped":"wifi""#))[0]
    #expect(line.contains(text), "\(line)")
  }

  @Test func `a name does not reach the terminal as it came`() throws {
    let by = #","by":{"name":"\u001b[2J","principal":"hall"}"#
    #expect(!(try lines(desync(#"\#(by),"popped":"wifi""#))[0].contains("\u{1B}")))
  }

  @Test(arguments: [
    (Int64(0), "0 s ago"), (59_999, "59 s ago"), (3_600_000, "1h 0m ago"),
    (-1, "at 1970-01-01T00:16:40Z"),
  ])
  func `the age is that of the daemon's time by this clock`(after: Int64, text: String) throws {
    #expect(try lines(desync(#","popped":"wifi""#), after: after)[0].contains(text))
  }

  @Test func `how the user went back is said`() throws {
    for (cause, text) in [
      ("backButton", "popped with the back button by navd"),
      ("gesture", "popped with a gesture by"), ("revert", "popped (revert) by"),
    ] {
      let body = desync(#","popped":"wifi""#)
        .replacing(#""cause":"api""#, with: #""cause":"\#(cause)""#)
      #expect(try lines(body)[0].contains(text))
    }
  }

  @Test func `a revision of the future is followed by the newest one`() throws {
    let lines = ErrorText.lines(
      try refusal(
        #"""
        {"id":1,"code":"compacted","future":true,
         "msg":"revision 99 does not exist yet: the newest is 12","effect":"none","retry":"no",
         "floor":1,"nav":"kiosk","epoch":"c0ffee12c0ffee12","rev":12,"dig":"9bd5ea7a0000000000000000","depth":1}
        """#), nav: nil, seen: nil)
    #expect(
      lines == [
        "compacted: revision 99 does not exist yet: the newest is 12",
        "try: draw the newest revision: navctl history kiosk --at 12",
      ])
  }

  @Test func `a new epoch in the log says why there is one`() throws {
    let rows = try value(
      #"""
      [{"rev":3,"t":0,"cause":"backup","epoch":"c0ffee12c0ffee12"},
       {"rev":4,"t":0,"cause":"crash","epoch":"c0ffee12c0ffee12"},
       {"rev":5,"t":0,"epoch":"c0ffee12c0ffee12"}]
      """#
    ).elements
    let log = Tables.log(rows)
    #expect(log[1].contains("restored from a backup, new epoch c0ffee12c0ffee12"))
    #expect(log[2].contains("revisions may be lost, new epoch c0ffee12c0ffee12"))
    #expect(log[3].contains("  new epoch c0ffee12c0ffee12"))
    let history = Tables.history(rows, tops: [nil, nil, nil], columns: 120)
    #expect(history[1].contains("restored from a backup, new epoch c0ffee12c0ffee12"))
  }
}
