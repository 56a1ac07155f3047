import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct StandaloneNavTests {
  private let any = #""if":{"any":true}"#

  @Test func `a nav of kind bar begins empty and takes items`() throws {
    let world = World()
    let client = try world.client()
    try client.must(
      #"{"nav.create":{"kind":"bar"}},{"pushItem":{"item":{"id":"i","item":{"title":"Owen"}}}}"#,
      nav: "hud")
    let snap = try #require(try client.watch(nav: "hud").first { $0.verb == .snap })
    #expect(snap.json["kind"] as? String == "bar")
    #expect(snap.text.contains(#""screens":[{"id":"i","ver":1,"item":{"title":"Owen"}}]"#))
    #expect(try client.get("bar", nav: "hud").text.contains("Owen"))
    let replies = try client.send(
      "op", client.opBody(#"{"pushItem":{"item":{"id":"j"}}}"#, nav: "hud"))
    let diff = try #require(replies.first { $0.verb == .diff })
    #expect(diff.text.contains(#""ev":[{"didPush":{"screen":"j"}}]"#))
    let popped = try client.must(#"{"popItem":{}}"#, nav: "hud", any)
    #expect(popped.text.contains(#""out":[{"popped":"j"}]"#))
    let set = try client.must(#"{"setItems":{"items":null}}"#, nav: "hud", any)
    #expect(set.text.contains(#""out":[{"popped":["i"],"ids":[]}]"#))
    #expect(
      try client.must(#"{"popItem":{}}"#, nav: "hud", any).json["changed"] as? Bool == false)
    #expect(try client.op(#"{"popItem":{}}"#, nav: "hud").code == "guard-required")
    #expect(try client.get("verify", nav: "hud").text.contains(#""ok":true"#))
  }

  @Test func `5 other ops, and wrong items, are refused on a bar`() throws {
    let world = World()
    let client = try world.client()
    try client.must(
      #"{"nav.create":{"kind":"bar"}},{"pushItem":{"item":{"id":"i"}}}"#, nav: "hud")
    let before = try world.standing("hud")
    for op in [
      #"{"push":{"screen":{"id":"a","route":"r"}}}"#, #"{"popToRoot":{}}"#, #"{"attach":{}}"#,
      #"{"dismiss":{}}"#, #"{"present":{"screen":{"id":"a"}}}"#,
      #"{"setStack":{"screens":[{"id":"a","canPop":false}]}}"#,
      #"{"screen.create":{"id":"a"}}"#, #"{"screen.set":{"screen":"i","title":"x"}}"#,
      #"{"open":{"route":"x"}}"#, #"{"restore":{"payload":{}}}"#,
      #"{"pushItem":{"item":{"id":"a","route":"r"}}}"#, #"{"setItems":{}}"#,
      #"{"push":{"screen":{"id":"a","kind":"content"}}}"#,
      #"{"pushItem":{"item":{"kind":"tabBar"}}}"#,
      #"{"setStack":{"screens":["i",{"id":"a","kind":"navigation"}]}}"#,
      #"{"setItems":{"items":[{"kind":"content"}]}}"#,
      #"{"bar.set":{"delegate":1}}"#, #"{"segue":{"kind":"show","screen":"i"}}"#,
    ] {
      #expect(try client.op(op, nav: "hud", any).code == "invalid-argument", "\(op)")
    }
    for (code, op) in [
      ("unknown-item", #"{"pushItem":{"item":"z"}}"#), ("nil-screen", #"{"pushItem":{}}"#),
      ("duplicate-item", #"{"pushItem":{"item":"i"}}"#),
      ("duplicate-item", #"{"setItems":{"items":["i","i"]}}"#),
      ("no-back-button", #"{"ui.backTap":{}}"#),
    ] {
      #expect(try client.op(op, nav: "hud", any).code == code, "\(op)")
    }
    #expect(try world.standing("hud") == before)
    let creations = [
      #"{"nav.create":{"kind":"bar","root":{"id":"a"}}}"#, #"{"nav.create":{"kind":"stack"}}"#,
      #"{"nav.create":{"kind":"bar","classes":{}}}"#,
      #"{"nav.create":{"kind":"bar"}},{"attach":{}}"#,
    ]
    for creation in creations {
      #expect(try client.op(creation, nav: "other").code == "invalid-argument", "\(creation)")
    }
    #expect(
      try client.op(#"{"nav.create":{"root":{"id":"a"}}},{"popItem":{}}"#, nav: "other").code
        == "bar-managed")
  }

  @Test func `13 the kind stands in $navs and survives a restart`() throws {
    let world = World { $0.snapshotEvery = 3 }
    let client = try world.client()
    try client.watch(nav: "$navs")
    let start = world.sent.count
    try client.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "hud")
    #expect(world.sent[start...].contains { $0.text.contains(#""id":"hud","ver":2,"kind":"bar""#) })
    for index in 0..<5 {
      try client.must(#"{"pushItem":{"item":{"id":"i\#(index)"}}}"#, nav: "hud")
    }
    try client.must(#"{"ui.backTap":{}}"#, nav: "hud", any)
    let before = try world.entry("hud").controller
    try world.restart()
    #expect(try world.entry("hud").controller == before)
    #expect(try world.entry("hud").controller.isStandalone)
    try client.hello()
    try client.must(#"{"revert":{"rev":3}}"#, nav: "hud", any)
    #expect(try world.entry("hud").controller.stack.map(\.id.text) == ["i0", "i1"])
  }
}
