import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct PresentationWireTests {
  @Test func `C-086 C-088 the part tells who covers what, and whose context it is`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let replies = try client.send(
      "op",
      client.opBody(
        #"{"present":{"screen":{"id":"m","title":"M"},"style":"overCurrentContext"}},{"present":{"screen":{"id":"n"},"style":"formSheet"}}"#
      ))
    let diff = try #require(replies.first { $0.verb == .diff })
    #expect(
      diff.text.contains(
        #""ch":[{"set":"presented","to":{"ver":2,"chain":[{"screen":{"id":"m","ver":2,"title":"M"},"from":"home","style":"overCurrentContext","covers":"wholeNavigationInterface","contextOwner":"controller"},{"screen":{"id":"n","ver":2},"from":"m","style":"formSheet","covers":"byStyle"}]}}]"#
      ), "\(diff.text)")
    #expect(diff.text.contains(#""visible":"n""#))
    #expect(
      diff.text.contains(
        #""ev":[{"didPresent":{"screen":"m"}},{"didPresent":{"screen":"n"}}]"#), "\(diff.text)")
    let gone = try client.must(#"{"dismiss":{"from":"m"}}"#)
    #expect(gone.text.contains(#""out":[{"dismissed":["n"]}]"#))
    #expect(try client.get("screen", #""screen":"m""#).text.contains(#""title":"M""#))
    #expect(try client.get("verify").text.contains(#""ok":true"#))
  }

  @Test func `an edit of a presented screen is a change of the part`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"present":{"screen":{"id":"m"}}}"#)
    try client.watch()
    let replies = try client.send(
      "op", client.opBody(#"{"screen.set":{"screen":"m","title":"T"}}"#))
    let diff = try #require(replies.first { $0.verb == .diff })
    #expect(
      diff.text.contains(#""to":{"ver":3,"chain":[{"screen":{"id":"m","ver":3,"title":"T"}"#),
      "\(diff.text)")
  }

  @Test func `what led to a revision stands in the diff and in the log`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let any = #""if":{"any":true}"#
    let rows: [(ops: String, cause: String)] = [
      (#"{"segue":{"kind":"show","screen":{"id":"a"}}}"#, "segue"),
      (#"{"ui.backTap":{}}"#, "backButton"),
      (#"{"segue":{"kind":"showDetail","screen":{"id":"d"}}}"#, "segue"),
      (#"{"present":{"screen":{"id":"e"}}}"#, "api"),
      (
        #"{"nav.configure":{"routes":[{"match":"x","screens":["home","b"]}]}},{"open":{"route":"x"}}"#,
        "open"
      ),
      (
        #"{"restore":{"payload":{"v":1,"entries":[{"path":"p","screen":{"id":"c"}}]}}}"#,
        "restore"
      ),
      (#"{"revert":{"rev":1}}"#, "revert"),
      (#"{"dismiss":{}},{"push":{"screen":{"id":"z"}}}"#, "api"),
    ]
    for row in rows {
      let start = world.sent.count
      try client.must(row.ops, any)
      let diff = world.sent[start...].first { $0.verb == .diff }
      #expect(diff?.json["cause"] as? String == row.cause, "\(row.ops)")
    }
    let log = try #require(try client.get("log").json["value"] as? [[String: Any]])
    #expect(log.dropFirst().compactMap { $0["cause"] as? String } == rows.map(\.cause))
  }

  @Test func `C-275 C-053 refusals of these ops change nothing`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"present":{"screen":{"id":"m"}}},{"screen.create":{"id":"n"}}"#)
    let before = try world.standing("kiosk")
    let any = #""if":{"any":true}"#
    let rows: [(code: String, ops: String)] = [
      ("already-presenting", #"{"present":{"screen":"n","from":"home"}}"#),
      ("already-active", #"{"present":{"screen":"home"}}"#),
      ("owned-elsewhere", #"{"push":{"screen":"m"}}"#),
      ("nil-screen", #"{"present":{}}"#),
      ("unknown-screen", #"{"present":{"screen":"q"}}"#),
      ("not-in-stack", #"{"present":{"screen":{"id":"q"},"from":"n"}}"#),
      ("invalid-argument", #"{"present":{"screen":"n","style":7}}"#),
      ("invalid-argument", #"{"present":{"screen":"n","animated":true}}"#),
      ("invalid-argument", #"{"segue":{"kind":"unwind","screen":"n"}}"#),
      ("covered", #"{"ui.backTap":{}}"#),
      ("no-route", #"{"open":{"route":"x"}}"#),
      ("invalid-argument", #"{"open":{}}"#),
      ("invalid-argument", #"{"restore":{}}"#),
      ("invalid-argument", #"{"revert":{"rev":"1"}}"#),
      ("no-root", #"{"restore":{"payload":{}}}"#),
      ("bar-managed", #"{"pushItem":{}}"#),
    ]
    for row in rows {
      #expect(try client.op(row.ops, any).code == row.code, "\(row.ops)")
    }
    for op in ["ui.backTap", "open", "restore", "revert"] {
      let arguments =
        op == "open"
        ? #""route":"x""# : op == "revert" ? #""rev":1"# : op == "restore" ? #""payload":{}"# : ""
      #expect(try client.op(#"{"\#(op)":{\#(arguments)}}"#).code == "guard-required")
    }
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `a payload that is damaged, newer or inconsistent is refused`() throws {
    let world = World()
    let client = try world.kiosk()
    let before = try world.standing("kiosk")
    let entry = #"{"path":"p","screen":{"id":"a"}}"#
    for payload in [
      "7", #"{"entries":[]}"#, #"{"v":2,"entries":[]}"#, #"{"v":1}"#, #"{"v":1,"entries":7}"#,
      #"{"v":1,"entries":[7]}"#, #"{"v":1,"entries":[{"path":"p"}]}"#,
      #"{"v":1,"entries":[\#(entry),\#(entry)]}"#,
      #"{"v":1,"entries":[\#(entry),{"path":"q","screen":{"id":"a"}}]}"#,
    ] {
      let error = try client.op(#"{"restore":{"payload":\#(payload)}}"#, #""if":{"any":true}"#)
      #expect(error.code == "restore-failed", "\(payload)")
    }
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `C-325 what was saved comes back in a fresh daemon`() throws {
    let world = World()
    let client = try world.kiosk()
    #expect(try client.get("restoration").text.hasSuffix(#""value":{}}"#))
    try client.must(
      #"{"nav.configure":{"restorationID":"nav"}},{"screen.set":{"screen":"home","restorationID":"h"}},{"push":{"screen":{"title":"T","restorationID":"t","item":{"rightItems":[{"title":"B"}]}}}}"#
    )
    let saved = try client.get("restoration")
    #expect(
      saved.text.hasSuffix(
        #""value":{"v":1,"entries":[{"path":"nav/h#0","screen":{"id":"home","title":"Home","restorationID":"h"}},{"path":"nav/t#0","screen":{"id":"s2.1","title":"T","restorationID":"t","item":{"rightItems":[{"id":"b2.1","title":"B"}]}}}]}}"#
      ), "\(saved.text)")
    let value = try #require(saved.json["value"])
    let payload = String(
      decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
    let other = try World().kiosk()
    try other.must(#"{"setStack":{"screens":["home",{"id":"x"}]}}"#, #""if":{"any":true}"#)
    let reply = try other.must(#"{"restore":{"payload":\#(payload)}}"#, #""if":{"any":true}"#)
    #expect(reply.text.contains(#""out":[{"ids":["home","s3.1"],"skipped":[]}]"#), "\(reply.text)")
    #expect(try other.world.entry("kiosk").controller.stack.map(\.title) == ["Home", "T"])
  }

  @Test(arguments: [
    #"[7]"#, #"[{"match":"a"}]"#, #"[{"match":7,"screens":[]}]"#, #"[{"match":"","screens":[]}]"#,
    #"[{"match":"a/:","screens":[]}]"#, #"[{"match":":x/:x","screens":[]}]"#,
    #"[{"match":"a","screens":[7]}]"#, #"[{"match":"a","screens":[],"more":1}]"#,
    #"[{"match":"a","screens":[{"route":"{x}"}]}]"#,
    #"[{"match":":x","screens":[{"route":"{x"}]}]"#,
    #"[{"match":":x","screens":[{"route":"x}"}]}]"#,
    #"[{"match":"a","screens":[{"frame":1}]}]"#, #"[{"match":"a","screens":["s1.1"]}]"#,
    #"[{"match":"a","screens":[{"kind":"tabBar"}]}]"#,
  ])
  func `a malformed route is refused when it is configured`(routes: String) throws {
    let world = World()
    let client = try world.kiosk()
    let before = try world.standing("kiosk")
    let error = try client.op(#"{"nav.configure":{"routes":\#(routes)}}"#)
    #expect(error.code == "invalid-argument")
    #expect(try world.standing("kiosk") == before)
    let creation = #"{"nav.create":{"kind":"bar","settings":{"routes":\#(routes)}}}"#
    #expect(try client.op(creation, nav: "bar").code == "invalid-argument")
  }

  @Test func `a route opens with its names filled in`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(
      #"{"nav.configure":{"routes":[{"match":"s/:page/:x","screens":["home",{"route":"s"},{"route":"{x}/{page}-","title":"P"}]}]}}"#
    )
    let any = #""if":{"any":true}"#
    let reply = try client.must(#"{"open":{"route":"s/wifi/1"}}"#, any)
    #expect(reply.text.contains(#""out":[{"popped":[],"ids":["home","s3.1","s3.2"]}]"#))
    let stack = try world.entry("kiosk").controller.stack
    #expect(stack.map(\.route) == [nil, "s", "1/wifi-"])
    #expect(
      try client.must(#"{"open":{"route":"s/wifi/1"}}"#, any).json["changed"] as? Bool == false)
  }
}
