import Foundation
@testable import NavigationCore
import Testing

extension Stage {
  /// What the bar shows.
  func shown() throws -> [String: Any] {
    try #require(try owner.get("bar").json["value"] as? [String: Any])
  }

  /// The names of the events of each revision.
  static func kinds(_ sent: [Sent]) -> [[String]] {
    sent.diffs.map { diff in
      (diff["ev"] as? [[String: Any]] ?? []).flatMap { $0.keys.sorted() }
    }
  }
}

/// What the features promise beside the operations themselves.
@Suite struct FeatureTests {
  @Test func `what led to a change stands in the diff and in the log`() throws {
    let stage = try Stage(["A", "B", "C", "D"])
    var causes = try stage.done(Stage.pop).causes
    causes += try stage.done(#"{"ui.backTap":{}}"#).causes
    causes += try stage.done(#"{"segue":{"kind":"show","screen":{"id":"S"}}}"#).causes
    let id = stage.revision
    #expect(id == 4)
    causes += try stage.done(Stage.begin).causes
    causes += try stage.done(Stage.finish).causes
    #expect(causes == ["api", "backButton", "segue", "gesture", "gesture"])
    let log = try #require(try stage.owner.get("log").json["value"] as? [[String: Any]])
    #expect(log.compactMap { $0["cause"] as? String }.suffix(5) == causes[...])
  }

  @Test func `an item and its toolbar travel with the screen`() throws {
    let stage = try Stage(["A", "B"])
    try stage.done(
      #"{"item.set":{"screen":"B","prompt":"p","rightItems":[{"id":"r","title":"R"}]}},{"screen.set":{"screen":"B","toolbarItems":[{"id":"t","title":"T"}]}}"#
    )
    let before = try stage.shown()
    try stage.done(Stage.pop)
    #expect(try (stage.shown()["right"] as? [Any])?.isEmpty == true)
    try stage.done(#"{"push":{"screen":"B"}}"#)
    #expect(try stage.shown() as NSDictionary == before as NSDictionary)
  }

  @Test func `containers and simultaneous gestures are kept and do nothing`()
    throws
  {
    let stage = try Stage()
    let before = try stage.shown()
    let sent = try stage.done(
      #"{"nav.configure":{"container":{"tab":3},"simultaneous":[["pan","tap"]]}}"#)
    #expect(sent.diffs[0]["resolved"] == nil)
    #expect(sent[0].text.contains(#""container":{"tab":3}"#))
    #expect(sent[0].text.contains(#""simultaneous":[["pan","tap"]]"#))
    #expect(try stage.shown() as NSDictionary == before as NSDictionary)
  }

  @Test func `a toolbar is shown and hidden while a transition runs`() throws {
    let stage = try Stage(["A"])
    try stage.animate("B")
    let sent = try stage.done(#"{"toolbar.setHidden":{"hidden":false}}"#)
    #expect(Stage.kinds(sent) == [["barsVisibilityChanged"]])
    #expect((try stage.shown()["toolbar"] as? [String: Any])?["visible"] as? Bool == true)
  }

  @Test func `the preferred orientation is one of the supported`() throws {
    let stage = try Stage()
    try stage.same { () throws in
      let body =
        #"{"id":\#(stage.owner.nextID()),"nav":"kiosk","roles":["orientation"],"orientations":{"supported":["portrait"],"preferred":"landscapeLeft"}}"#
      #expect(try stage.owner.ask("delegate", body).code == "invalid-argument")
    }
  }

  @Test func `an animated presentation is a transition that the stack does not tell of`()
    throws
  {
    let stage = try Stage()
    let sent = try stage.done(Stage.present("M"), Stage.animated)
    #expect(Stage.kinds(sent) == [["transitionBegan"]])
    #expect(try stage.shown()["visible"] as? String == "M")
    #expect(try stage.shown()["top"] as? String == "B")
    let ended = try stage.done(Stage.complete(stage.revision))
    #expect(Stage.kinds(ended) == [["didPresent", "transitionEnded"]])
    let dismissed = try stage.done(#"{"dismiss":{}}"#)
    #expect(Stage.kinds(dismissed) == [["didDismiss"]])
  }

  @Test func `an animator is asked about pushes and pops only`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator")
    for (op, question) in [
      (Stage.push("B"), "animatorFor(push,A,B)"), (Stage.pop, "animatorFor(pop,B,A)"),
      (Stage.setStack("B"), "animatorFor(push,A,B)"),
    ] {
      let asked = try stage.send(stage.owner, op, "\(Stage.any),\(Stage.animated)")
      #expect(asked.asked == [question])
      #expect(try stage.answer(artist, "null").to(stage.owner).map(\.verb) == [.ok])
      try stage.done(Stage.complete(stage.revision))
    }
    // A presentation is none of the stack's delegate's.
    let presented = try stage.send(stage.owner, Stage.present("M"), Stage.animated)
    #expect(presented.asked == [])
    #expect(presented.to(stage.owner).map(\.verb) == [.ok])
  }

  @Test func `spaces may stand in a list again, other buttons may not`() throws {
    let stage = try Stage(["A"])
    for (index, space) in ["flexibleSpace", "fixedSpace"].enumerated() {
      let id = "space\(index)"
      try stage.done(#"{"button.create":{"id":"\#(id)","systemItem":"\#(space)"}}"#)
      try stage.done(
        #"{"screen.set":{"screen":"A","toolbarItems":["\#(id)",{"title":"x"},"\#(id)"]}}"#)
    }
    try stage.done(#"{"button.create":{"id":"b","title":"b"}}"#)
    try stage.refused(
      .duplicateItem, #"{"screen.set":{"screen":"A","toolbarItems":["b","space0","b"]}}"#)
  }

  @Test func `a title view is shown alone, large titles or not`() throws {
    let stage = try Stage(["A"])
    try stage.done(
      #"{"bar.set":{"prefersLargeTitles":true}},{"item.set":{"screen":"A","title":"T"}}"#)
    #expect((try stage.shown()["middle"] as? [String: Any])?["placement"] as? String == "large")
    try stage.done(#"{"item.set":{"screen":"A","titleView":{"view":"v"}}}"#)
    let middle = try #require(try stage.shown()["middle"] as? [String: Any])
    #expect(middle["title"] == nil)
    #expect(middle["placement"] == nil)
  }

  @Test func `a view given later shows on a button, never on a back button`() throws {
    let stage = try Stage(["A", "B"])
    try stage.done(
      #"{"item.set":{"screen":"B","rightItems":[{"id":"r","title":"R"}]}},{"item.set":{"screen":"A","backBarButtonItem":{"id":"k","title":"K"}}}"#
    )
    try stage.done(
      #"{"button.set":{"button":"r","customView":"v"}},{"button.set":{"button":"k","customView":"v"}}"#
    )
    let right = try #require((try stage.shown()["right"] as? [[String: Any]])?.first)
    #expect(right["customView"] as? String == "v")
    #expect(right["tintApplies"] as? Bool == false)
    func back() throws -> [String: Any]? {
      (try stage.shown()["left"] as? [[String: Any]])?.first?["back"] as? [String: Any]
    }
    #expect(try back()?["text"] as? String == "K")
    try stage.done(
      #"{"item.set":{"screen":"A","backBarButtonItem":{"id":"w","customView":"v"}}}"#)
    #expect(try back()?["source"] as? String == "backItem")
    #expect(try back()?["text"] is String == false)
  }

  @Test func `the landscape image is for a phone held sideways`() throws {
    let stage = try Stage(["A"])
    try stage.done(
      #"{"item.set":{"screen":"A","rightItems":[{"id":"r","image":"up","landscapeImage":"side"}]}}"#
    )
    for (environment, image) in [
      (#""vCompact":true"#, "side"), (#""idiom":"pad""#, "up"), (#""vCompact":false"#, "up"),
    ] {
      try stage.done(#"{"env.set":{\#(environment)}}"#)
      let right = try #require((try stage.shown()["right"] as? [[String: Any]])?.first)
      #expect(right["image"] as? String == image, "\(environment): \(right)")
    }
  }

  @Test func `the exact slot is read, the fallback is shown`() throws {
    let stage = try Stage(["A"])
    try stage.done(#"{"bar.set":{"backgroundImages":{"any/default":"d","top/defaultPrompt":"p"}}}"#)
    #expect(try stage.shown()["background"] as? String == "d")
    try stage.done(
      #"{"env.set":{"vCompact":true,"barPosition":"top"}},{"item.set":{"screen":"A","prompt":"x"}}"#
    )
    #expect(try stage.shown()["metrics"] as? String == "compactPrompt")
    #expect(try stage.shown()["background"] as? String == "p")
    let bar = try stage.owner.get("state").text
    #expect(!bar.contains("compactPrompt\":\""))
  }

  @Test func `a detached controller changes without a word`() throws {
    let stage = try Stage(["A"])
    try stage.done(#"{"detach":{}}"#)
    for (ops, more) in [
      (Stage.push("B"), "\(Stage.any),\(Stage.animated)"), (Stage.pop, Stage.any),
      (Stage.setStack(), Stage.any), (Stage.push("C"), Stage.any),
    ] {
      let sent = try stage.done(ops, more)
      #expect(Stage.kinds(sent) == [[]], "\(ops)")
      #expect(stage.isIdle)
    }
    let attached = try stage.done(#"{"attach":{}}"#)
    #expect(attached.story == [["willShow(C,0)", "didShow(C,0)"]])
  }

  @Test func `a standalone bar tells of its items only`() throws {
    let stage = try Stage()
    try stage.owner.must(#"{"nav.create":{"kind":"bar"}}"#, nav: "hud")
    try stage.owner.watch(nav: "hud")
    for (op, events) in [
      (#"{"pushItem":{"item":{"id":"i"}}}"#, ["didPush"]),
      (#"{"bar.setHidden":{"hidden":true}}"#, []), (#"{"bar.setHidden":{"hidden":false}}"#, []),
      (#"{"setItems":{"items":["i",{"id":"j"}]}}"#, []), (#"{"popItem":{}}"#, ["didPop"]),
    ] {
      let sent = try stage.owner.send("op", stage.owner.opBody(op, nav: "hud", Stage.any))
      #expect(Stage.kinds(sent) == [events], "\(op)")
    }
  }

  @Test func `a transition that a detached controller took along still ends`() throws {
    let stage = try Stage(["A"])
    let id = try stage.animate("B")
    try stage.done(#"{"detach":{}}"#)
    try stage.done(Stage.complete(id))
    #expect(stage.isIdle)
    try stage.done(Stage.pop)
    #expect(stage.stack == ["A"])
  }
}
