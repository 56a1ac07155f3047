import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct DelegateTests {
  /// A stage with one veto delegate.
  private func judged(
    _ stack: [String] = ["A", "B"], _ settings: String = ""
  ) throws -> (Stage, Client) {
    let stage = try Stage(stack, settings)
    let judge = try stage.world.client(3)
    try stage.delegate(judge, "veto")
    return (stage, judge)
  }

  @Test func `C-266 a push that the delegate does not want is vetoed`() throws {
    let (stage, judge) = try judged()
    try stage.same { () throws in
      let asked = try stage.send(stage.owner, Stage.push("C"))
      #expect(asked.map(\.verb) == [.ask])
      #expect(asked.to(judge).asked == ["shouldPush(C)"])
      #expect(asked[0].json["within"] as? Int == 2000)
      #expect(asked[0].json["rev"] as? Int == stage.revision)
      let sent = try stage.answer(judge, "false")
      #expect(sent.to(stage.owner).codes == ["vetoed"])
      #expect(sent.to(stage.owner)[0].json["by"] as? String == "c3")
      #expect(sent.to(stage.owner)[0].json["screen"] as? String == "C")
      #expect(sent.to(judge).settled == ["denied"])
      #expect(sent.to(judge)[0].json["by"] as? String == "c3")
      #expect(sent.to(stage.viewer).isEmpty)
    }
  }

  @Test func `C-267 a pop that the delegate does not want is vetoed`() throws {
    let (stage, judge) = try judged()
    try stage.same { () throws in
      let asked = try stage.send(stage.owner, Stage.pop)
      #expect(asked.asked == ["shouldPop(B)"])
      #expect(asked[0].text.contains(#""cause":"api""#))
      #expect(try stage.answer(judge, "false").codes == ["vetoed"])
    }
  }

  @Test(arguments: [
    (Stage.pop, "api"), (#"{"popToRoot":{}}"#, "api"), (#"{"ui.backTap":{}}"#, "backButton"),
    (Stage.begin, "gesture"), (#"{"revert":{"rev":1}}"#, "revert"),
  ])
  func `a delegate is told why a screen would go`(ops: String, cause: String) throws {
    // The second revision adds a screen, so that the first can be gone back to.
    let (stage, judge) = try judged(["A"])
    try stage.send(stage.owner, Stage.push("B"))
    try stage.answer(judge, "true")
    let asked = try stage.send(stage.owner, ops)
    #expect(asked.asked == ["shouldPop(B)"])
    #expect(asked.first?.text.contains(#""cause":"\#(cause)""#) == true, "\(asked.map(\.text))")
  }

  @Test func `an allowed op goes on, and the asked are told`() throws {
    let (stage, judge) = try judged()
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.answer(judge, "true")
    #expect(sent.to(judge).settled == ["allowed"])
    #expect(sent.to(stage.owner).map(\.verb) == [.ok])
    #expect(
      sent.to(stage.viewer).story == [
        ["willHide(B,0)", "willShow(A,0)", "didPop(B)", "didHide(B,0)", "didShow(A,0)"]
      ])
  }

  @Test func `C-270 silence is a no`() throws {
    let (stage, judge) = try judged(["A", "B"], #""veto":{"deadline":200,"policy":"deny"}"#)
    try stage.same { () throws in
      let body = stage.owner.opBody(Stage.pop, Stage.any)
      try stage.owner.send("op", body)
      #expect(try stage.world.wait(199).isEmpty)
      let sent = try stage.world.wait(1)
      #expect(sent.to(stage.owner).codes == ["delegate-timeout"])
      #expect(sent.to(stage.owner)[0].json["retry"] as? String == "same")
      #expect(sent.to(judge).settled == ["timeout"])
      // An answer after the deadline is ignored.
      let late = sent.to(judge)[0].json["ask"] as? Int
      #expect(try stage.answer(judge, "true", to: late).isEmpty)
      // The same octets ask again.
      #expect(try stage.world.turn([stage.owner.message("op", body)]).asked == ["shouldPop(B)"])
    }
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
  }

  @Test func `silence may count as a yes, and the log says so`() throws {
    let (stage, judge) = try judged(["A", "B"], #""veto":{"deadline":200,"policy":"allow"}"#)
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.world.wait(200)
    #expect(sent.to(judge).settled == ["timeout"])
    #expect(sent.to(stage.owner).map(\.verb) == [.ok])
    #expect(stage.stack == ["A"])
    #expect(try stage.owner.get("log").text.contains(#""vetoSkipped":true"#))
  }

  @Test(arguments: ["deny", "allow"])
  func `C-274 a delegate that leaves during the question is silent at once`(policy: String) throws {
    let (stage, judge) = try judged(["A", "B"], #""veto":{"policy":"\#(policy)"}"#)
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.world.turn([.closed(judge.connection)])
    #expect(sent.to(stage.owner).codes == (policy == "deny" ? ["delegate-timeout"] : []))
    #expect(stage.stack == (policy == "deny" ? ["A", "B"] : ["A"]))
  }

  @Test func `a delegate that gives up its role is silent at once`() throws {
    let (stage, judge) = try judged()
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.world.turn([
      judge.message("delegate", #"{"id":\#(judge.nextID()),"nav":"kiosk","roles":[]}"#)
    ])
    #expect(sent.to(stage.owner).codes == ["delegate-timeout"])
    #expect(sent.to(stage.owner).map(\.text).joined().contains("is no veto delegate any more"))
    #expect(sent.to(judge).map(\.verb) == [.settled, .ok])
  }

  @Test func `a required delegate that is not there is silent`() throws {
    let stage = try Stage(["A", "B"], #""veto":{"required":true}"#)
    try stage.same { () throws in
      #expect(try stage.owner.op(Stage.pop, Stage.any).code == "delegate-timeout")
    }
    try stage.owner.must(#"{"item.set":{"screen":"B","title":"T"}}"#)
    try stage.owner.must(#"{"nav.configure":{"veto":{"required":true,"policy":"allow"}}}"#)
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator")
    let asked = try stage.send(stage.owner, Stage.pop, "\(Stage.any),\(Stage.animated)")
    #expect(asked.asked == ["animatorFor(pop,B,A)"])
    #expect(try stage.answer(artist, "null").to(stage.owner).map(\.verb) == [.ok])
    #expect(try stage.owner.get("log").text.contains(#""vetoSkipped":true"#))
  }

  @Test func `delegates are asked in order, and the first no counts`() throws {
    let (stage, first) = try judged()
    let second = try stage.world.client(4)
    try stage.delegate(second, "veto")
    try stage.same { () throws in
      #expect(try stage.send(stage.owner, Stage.pop).to(first).asked == ["shouldPop(B)"])
      #expect(try stage.answer(first, "true").to(second).asked == ["shouldPop(B)"])
      let sent = try stage.answer(second, "false")
      #expect(sent.to(stage.owner)[0].json["by"] as? String == "c4")
      #expect(sent.to(first).settled == ["denied"])
      #expect(sent.to(second).settled == ["denied"])
    }
  }

  @Test func `several screens are asked about top first, and one no keeps all`() throws {
    let (stage, judge) = try judged(["A", "B", "C"])
    try stage.same { () throws in
      #expect(try stage.send(stage.owner, #"{"popToRoot":{}}"#).asked == ["shouldPop(C)"])
      #expect(try stage.answer(judge, "true").asked == ["shouldPop(B)"])
      let sent = try stage.answer(judge, "false")
      #expect(sent.to(stage.owner)[0].json["screen"] as? String == "B")
      #expect(sent.to(judge).settled == ["denied", "denied"])
    }
  }

  @Test func `a batch is one round, screens that go before screens that come`() throws {
    let (stage, judge) = try judged()
    #expect(
      try stage.send(stage.owner, "\(Stage.pop),\(Stage.push("X"))").asked == ["shouldPop(B)"])
    #expect(try stage.answer(judge, "true").asked == ["shouldPush(X)"])
    #expect(try stage.answer(judge, "true").to(stage.viewer).story.count == 1)
    #expect(stage.stack == ["A", "X"])
  }

  @Test(arguments: [("pushpop", []), ("all", ["shouldPop(B)"])])
  func `a replacement asks only in the wide scope`(
    scope: String, asked: [String]
  ) throws {
    let (stage, _) = try judged(["A", "B"], #""vetoScope":"\#(scope)""#)
    let ops = #"{"setStack":{"screens":["A",{"id":"X"}]}}"#
    #expect(try stage.send(stage.owner, ops).asked == asked)
  }

  @Test func `nothing is asked about what changes nothing, or is wrong`() throws {
    let (stage, _) = try judged(["A"])
    #expect(try stage.owner.must(Stage.pop, Stage.any).json["changed"] as? Bool == false)
    #expect(try stage.owner.op(Stage.push("A")).code == "duplicate-screen")
    #expect(try stage.owner.must(#"{"item.set":{"screen":"A","title":"T"}}"#).verb == .ok)
  }

  @Test func `the stack is locked during the question, even for the asked`() throws {
    let (stage, judge) = try judged()
    try stage.send(stage.owner, Stage.pop)
    let error = try judge.op(Stage.push("X"))
    #expect(error.code == "transition-in-progress")
    #expect(error.json["tid"] == nil)
    #expect(error.json["after"] as? Int == 2000)
    #expect(try stage.owner.op(Stage.begin, Stage.any).json["reason"] as? String == "active")
    // Edits are free, and the op goes on with what is there now.
    try stage.owner.must(#"{"item.set":{"screen":"B","title":"T"}}"#)
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
    #expect(stage.stack == ["A"])
  }

  @Test func `who asks may be asked`() throws {
    let stage = try Stage()
    try stage.delegate(stage.owner, "veto")
    #expect(try stage.send(stage.owner, Stage.pop).to(stage.owner).asked == ["shouldPop(B)"])
    let sent = try stage.answer(stage.owner, "true").to(stage.owner)
    #expect(sent.map(\.verb) == [.settled, .ok])
  }

  @Test func `the same octets are not asked about twice`() throws {
    let (stage, judge) = try judged()
    let body = stage.owner.opBody(Stage.pop, Stage.any)
    #expect(try stage.world.turn([stage.owner.message("op", body)]).asked.count == 1)
    #expect(try stage.world.turn([stage.owner.message("op", body)]).isEmpty)
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
    #expect(stage.stack == ["A"])
    #expect(try stage.world.turn([stage.owner.message("op", body)]).map(\.verb) == [.ok])
  }

  @Test func `the op of a client that leaves during the question goes on`() throws {
    let (stage, judge) = try judged()
    let body = stage.owner.opBody(Stage.pop, Stage.any)
    try stage.owner.send("op", body)
    try stage.world.turn([.closed(stage.owner.connection)])
    try stage.answer(judge, "true")
    #expect(stage.stack == ["A"])
    try stage.owner.hello()
    #expect(try stage.owner.ask("op", body).json["changed"] as? Bool == true)
  }

  @Test(
    arguments: ["null", #"{"animator":"fade"}"#], [#""policy":"deny""#, #""policy":"allow""#])
  func `a delegate that cannot answer is silent at once`(value: String, policy: String) throws {
    let (stage, judge) = try judged(["A", "B"], #""veto":{\#(policy)}"#)
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.answer(judge, value)
    #expect(sent.to(judge).settled == ["timeout"])
    let isDenied = policy.contains("deny")
    #expect(sent.to(stage.owner).codes == (isDenied ? ["delegate-timeout"] : []))
    #expect(stage.stack == (isDenied ? ["A", "B"] : ["A"]))
  }

  @Test func `an answer of somebody else is ignored`() throws {
    let (stage, judge) = try judged()
    try stage.send(stage.owner, Stage.pop)
    #expect(try stage.answer(stage.viewer, "true", to: 1).isEmpty)
    #expect(try stage.answer(judge, "true", to: 77).isEmpty)
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
  }

  @Test func `closing the nav ends the question`() throws {
    let (stage, judge) = try judged()
    try stage.send(stage.owner, Stage.pop)
    let sent = try stage.send(stage.owner, #"{"nav.close":{}}"#)
    #expect(sent.to(judge).settled == ["denied"])
    #expect(Set(sent.to(stage.owner).map(\.verb)) == [.err, .ok])
    #expect(sent.filter { $0.verb == .err }.codes == ["no-nav"])
    #expect(try stage.answer(judge, "true").isEmpty)
    try stage.world.wait(3000)
  }

  @Test func `a commit that fails behind an answer is refused with storage`() throws {
    let (stage, judge) = try judged()
    let body = stage.owner.opBody(Stage.pop, Stage.any)
    try stage.owner.send("op", body)
    stage.world.journal.isFailing = true
    try stage.same { () throws in
      #expect(try stage.answer(judge, "true").to(stage.owner).codes == ["storage"])
    }
    stage.world.journal.isFailing = false
    #expect(try stage.world.turn([stage.owner.message("op", body)]).asked == ["shouldPop(B)"])
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
  }

  @Test func `C-276 an animator is asked about a transition and named in it`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator")
    let asked = try stage.send(stage.owner, Stage.push("B"), Stage.animated)
    #expect(asked.to(artist).asked == ["animatorFor(push,A,B)"])
    #expect(asked[0].json["within"] as? Int == 250)
    let sent = try stage.answer(artist, #"{"animator":"fade","duration":500}"#)
    let text = try #require(sent.to(stage.viewer).first).text
    #expect(
      text.contains(
        #""transitionBegan":{"tid":2,"op":"push","from":"A","to":"B","animator":"fade","duration":500}"#
      ))
    #expect(text.contains(#""animator":"fade","duration":500,"deadline":1000"#))
    #expect(sent.to(artist).settled == ["allowed"])
  }

  @Test func `C-277 an animator is not asked where nothing is animated`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator", "interaction")
    #expect(try stage.send(stage.owner, Stage.push("B")).asked == [])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `C-283 who drives the animation is asked behind the animator`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    let driver = try stage.world.client(5)
    try stage.delegate(artist, "animator")
    try stage.delegate(driver, "interaction")
    try stage.send(stage.owner, Stage.push("B"), Stage.animated)
    let asked = try stage.answer(artist, #"{"animator":"swipe"}"#)
    #expect(asked.to(driver).asked == ["interactionFor(swipe)"])
    let sent = try stage.answer(driver, #"{"driver":"drive"}"#)
    #expect(
      sent.to(stage.viewer).story == [
        ["willHide(A,1)", "willShow(B,1)", "transitionBegan(push,A,B,interactive)"]
      ])
    #expect(sent.to(stage.viewer)[0].text.contains(#""driver":"drive""#))
    // It ends as any animation does.
    try stage.owner.must(Stage.complete(2))
  }

  @Test func `without an animator nobody is asked who drives`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator", "interaction")
    try stage.send(stage.owner, Stage.push("B"), Stage.animated)
    #expect(try stage.answer(artist, "null").asked == [])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `the latest animator is asked, behind the veto, and silence is no answer`() throws {
    let (stage, judge) = try judged(["A"])
    let early = try stage.world.client(4)
    let late = try stage.world.client(5)
    try stage.delegate(early, "animator")
    try stage.delegate(late, "animator")
    #expect(
      try stage.send(stage.owner, Stage.push("B"), Stage.animated).asked == ["shouldPush(B)"])
    let asked = try stage.answer(judge, "true")
    #expect(asked.to(judge).settled == ["allowed"])
    #expect(asked.to(late).asked == ["animatorFor(push,A,B)"])
    let sent = try stage.world.wait(250)
    #expect(sent.to(late).settled == ["timeout"])
    #expect(sent.to(stage.owner).map(\.verb) == [.ok])
    #expect(!sent.to(stage.viewer)[0].text.contains("animator"))
  }

  @Test func `an animation gets the time that it says it takes, and a little more`() throws {
    let stage = try Stage(["A"])
    let artist = try stage.world.client(4)
    try stage.delegate(artist, "animator")
    try stage.send(stage.owner, Stage.push("B"), Stage.animated)
    try stage.answer(artist, #"{"animator":"slow","duration":3000}"#)
    #expect(try stage.world.wait(3499).to(stage.viewer).story == [])
    #expect(try stage.world.wait(1).to(stage.viewer).story.count == 1)
  }

  @Test func `C-281 an edit that follows willShow gets a later revision`() throws {
    let stage = try Stage(["A"])
    let shown = try stage.send(stage.owner, Stage.push("B")).to(stage.viewer)
    #expect(shown.story[0].prefix(2) == ["willHide(A,0)", "willShow(B,0)"])
    let reply = try stage.viewer.must(#"{"item.set":{"screen":"B","title":"X"}}"#)
    #expect(reply.revision == 3)
    #expect(try stage.world.entry("kiosk").controller.top?.item.title == "X")
  }

  @Test func `C-280 the managed bar has no delegate of its own`() throws {
    let stage = try Stage(["A"])
    try stage.same { () throws in
      #expect(
        try stage.owner.op(#"{"bar.set":{"delegate":"x"}}"#).code == "bar-delegate-managed")
    }
  }

  @Test func `C-318 orientations are given, replaced and gone with their client`() throws {
    let stage = try Stage(["A"])
    let turner = try stage.world.client(4)
    try stage.delegate(
      turner, "orientation",
      more: #","orientations":{"supported":["portrait"],"preferred":"portrait"}"#)
    var value = try stage.world.entry("kiosk").controller.environment.content.delegateOrientations
    #expect(value?.supported == [.portrait])
    #expect(value?.preferred == .portrait)
    let body =
      #"{"id":\#(turner.nextID()),"nav":"kiosk","roles":["orientation"],"orientations":{"supported":["portrait"],"preferred":"landscapeLeft"}}"#
    try stage.same { () throws in
      #expect(try turner.ask("delegate", body).code == "invalid-argument")
    }
    let sent = try stage.world.turn([.closed(turner.connection)])
    #expect(sent.to(stage.viewer).causes == ["lease"])
    value = try stage.world.entry("kiosk").controller.environment.content.delegateOrientations
    #expect(value == nil)
  }

  @Test func `orientations are taken back with a commit that fails`() throws {
    let stage = try Stage(["A"])
    let turner = try stage.world.client(4)
    stage.world.journal.isFailing = true
    let body =
      #"{"id":\#(turner.nextID()),"nav":"kiosk","roles":["orientation"],"orientations":{"supported":["portrait"]}}"#
    try stage.same { () throws in #expect(try turner.ask("delegate", body).code == "storage") }
    #expect(
      try stage.world.hub.coordinations[#require(stage.world.hub.navs.slot(of: "kiosk"))] == nil)
    stage.world.journal.isFailing = false
    try stage.same { () throws in try stage.world.wait(1000) }
  }
}
