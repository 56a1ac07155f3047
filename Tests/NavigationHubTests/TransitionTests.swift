import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct TransitionTests {
  @Test func `C-014 C-015 C-265 an animated push shows at once and is told as done at the end`()
    throws
  {
    let stage = try Stage(["A"])
    let begun = try stage.send(stage.owner, Stage.push("B"), Stage.animated).to(stage.viewer)
    #expect(stage.stack == ["A", "B"])
    #expect(begun.story == [["willHide(A,1)", "willShow(B,1)", "transitionBegan(push,A,B)"]])
    let part = try #require(
      (begun.diffs[0]["ch"] as? [[String: Any]])?.last?["to"] as? [String: Any])
    #expect(part["tid"] as? Int == 2)
    #expect(part["phase"] as? String == "animating")
    let ended = try stage.send(stage.owner, Stage.complete(2)).to(stage.viewer)
    #expect(
      ended.story == [["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(completed)"]])
    #expect(ended.causes == ["complete"])
    #expect(stage.isIdle)
  }

  @Test func `who asked for a push is in the log`() throws {
    let stage = try Stage(["A"])
    try stage.owner.must(#"{"push":{"screen":{"id":"B"},"sender":{"row":7}}}"#)
    #expect(try stage.owner.get("log").text.contains(#""sender":{"row":7}"#))
  }

  @Test func `C-025 show is animated by default`() throws {
    let stage = try Stage(["A"])
    let show = #"{"show":{"screen":{"id":"B"},"sender":"row7"}}"#
    #expect(
      try stage.send(stage.owner, show).to(stage.viewer).story == [
        ["willHide(A,1)", "willShow(B,1)", "transitionBegan(push,A,B)"]
      ])
    #expect(try stage.owner.get("log").text.contains(#""sender":"row7""#))
  }

  @Test(arguments: [
    (["A", "B", "C"], #"["A"]"#, "transitionBegan(pop,C,A)", "back"),
    (["A"], #"["A",{"id":"X"},{"id":"Y"}]"#, "transitionBegan(push,A,Y)", "new"),
    (["A", "B"], #"[{"id":"X"}]"#, "transitionBegan(push,B,X)", "new"),
  ])
  func `C-061 C-063 C-064 a replacement animates by where its top was`(
    stack: [String], screens: String, began: String, relation: String
  ) throws {
    let stage = try Stage(stack)
    let sent = try stage.send(
      stage.owner, #"{"setStack":{"screens":\#(screens)}}"#, "\(Stage.any),\(Stage.animated)"
    ).to(stage.viewer)
    #expect(sent.story[0].last == began)
    #expect(sent.story[0].count == 3)
    #expect(sent.diffs[0]["relation"] as? String == relation)
    let ended = try stage.world.wait(1000).to(stage.viewer)
    #expect(ended.story[0].map { $0.prefix(7) } == ["didHide", "didShow", "transit"])
  }

  @Test(arguments: [
    Stage.push("C"), Stage.pop, #"{"setStack":{"screens":["A"]}}"#, #"{"popToRoot":{}}"#,
    #"{"popTo":{"screen":"A"}}"#, #"{"attach":{}},{"pop":{}}"#,
  ])
  func `C-286 C-287 nothing touches the stack while it animates`(ops: String) throws {
    let stage = try Stage(["A"])
    let id = try stage.animate("B")
    try stage.same { () throws in
      let error = try stage.owner.op(ops, Stage.any)
      #expect(error.code == "transition-in-progress")
      #expect(error.json["tid"] as? Int == id)
      #expect(error.json["after"] as? Int == 1000)
      #expect(error.json["retry"] as? String == "later")
    }
    try stage.owner.must(Stage.complete(id))
    try stage.owner.must(ops, Stage.any)
  }

  @Test func `C-288 edits are not blocked, and do not give the transition more time`() throws {
    let stage = try Stage(["A"])
    try stage.animate("B")
    try stage.world.wait(600)
    try stage.owner.must(#"{"item.set":{"screen":"B","title":"T"}}"#)
    #expect(try stage.world.wait(399).to(stage.viewer).story == [])
    #expect(try stage.world.wait(1).to(stage.viewer).story.count == 1)
  }

  /// Found by `torture simulate 154`: nothing ended it, and each later op waited for it.
  @Test func `a gesture that begins in the message that creates the nav has a deadline too`() throws
  {
    let world = World()
    let owner = try world.client(1)
    let viewer = try world.client(9)
    try owner.must(
      #"{"nav.create":{"root":{"id":"A"}}},{"attach":{}},\#(Stage.push("B")),\#(Stage.begin)"#)
    try viewer.watch()
    #expect(try world.wait(9_999).to(viewer).story == [])
    #expect(
      try world.wait(1).to(viewer).story.joined().contains("transitionEnded(cancelled)"))
  }

  @Test func `C-293 a completion that never comes is the deadline's, once`() throws {
    let stage = try Stage(["A"], #""transitionDeadline":300"#)
    try stage.animate("B")
    #expect(try stage.world.wait(299).to(stage.viewer).story == [])
    let ended = try stage.world.wait(1).to(stage.viewer)
    #expect(
      ended.story == [["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(timedOut)"]])
    #expect(ended.causes == ["timeout"])
    #expect(ended.diffs[0]["by"] == nil)
    #expect(try stage.world.wait(1000).to(stage.viewer).story == [])
  }

  @Test func `C-294 a second completion does nothing, an unknown one is an error`() throws {
    let stage = try Stage(["A"])
    let id = try stage.animate("B")
    try stage.owner.must(Stage.complete(id))
    try stage.same { () throws in
      #expect(try stage.owner.must(Stage.complete(id)).json["changed"] as? Bool == false)
      #expect(try stage.owner.must(Stage.complete(1)).json["changed"] as? Bool == false)
      #expect(try stage.owner.op(Stage.complete(id + 2)).code == "invalid-argument")
    }
  }

  @Test func `an older completion leaves the open transition alone`() throws {
    let stage = try Stage(["A"])
    let first = try stage.animate("B")
    try stage.owner.must(Stage.complete(first))
    try stage.animate("C")
    #expect(try stage.owner.must(Stage.complete(first)).json["changed"] as? Bool == false)
    #expect(!stage.isIdle)
  }

  @Test func `closing the nav ends everything in it`() throws {
    let stage = try Stage(["A"])
    try stage.animate("B")
    let late = try stage.send(stage.owner, Stage.push("C"), Stage.queued)
    #expect(late.map(\.verb) == [.queued])
    let sent = try stage.send(stage.owner, #"{"nav.close":{}}"#)
    #expect(sent.codes == ["no-nav"])
    #expect(stage.world.hub.coordinations.isEmpty)
    try stage.world.wait(2000)
  }

  @Test func `a restart ends what was open in one revision with the cause recovery`() throws {
    let stage = try Stage(["A"])
    try stage.lease(stage.owner)
    try stage.delegate(
      stage.owner, "orientation",
      more: #","orientations":{"supported":["portrait"],"preferred":"portrait"}"#)
    let id = try stage.animate("B")
    try stage.world.restart()
    let entry = try stage.world.entry("kiosk")
    #expect(Int(entry.controller.revision.number) == id + 1)
    #expect(entry.controller.environment.content.owner == nil)
    #expect(entry.controller.environment.content.delegateOrientations == nil)
    #expect(stage.isIdle)
    let row = try #require(stage.world.journal.rows.last).text
    #expect(row.contains(#""cause":"recovery""#))
    #expect(row.contains(#""outcome":"timedOut""#))
    #expect(
      row.contains(
        #"{"didPush":{"screen":"B"}},{"didHide":{"screen":"A","animated":true}},{"didShow":"#))
    #expect(!row.contains(#""by":"#))
    // The next start has nothing to end.
    try stage.world.restart()
    #expect(stage.revision == id + 1)
  }

  @Test func `a restart cancels an open gesture`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    let before = stage.revision
    try stage.world.restart(renewsEpochs: true)
    #expect(stage.revision == before + 1)
    #expect(stage.stack == ["A", "B"])
    let row = try #require(stage.world.journal.rows.last).text
    #expect(row.contains(#""ev":[{"transitionEnded":"#))
    #expect(row.contains(#""outcome":"cancelled""#))
  }

  @Test func `an ending that the journal does not take is made up for`() throws {
    let stage = try Stage(["A"])
    try stage.animate("B")
    stage.world.journal.isFailing = true
    try stage.same { () throws in #expect(try stage.world.wait(1000).to(stage.viewer).story == []) }
    try stage.same { () throws in try stage.world.wait(1000) }
    stage.world.journal.isFailing = false
    let ended = try stage.world.wait(1000).to(stage.viewer)
    #expect(
      ended.story == [["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(timedOut)"]])
  }

  @Test func `a start without a journal leaves open what was open, and ends it later`() throws {
    let stage = try Stage(["A"])
    #expect(try stage.lease(stage.owner).verb == .ok)
    try stage.animate("B")
    let before = stage.revision
    stage.world.journal.isFailing = true
    try stage.world.restart()
    for _ in 0..<3 {
      #expect(!stage.isIdle && stage.displayOwner == "c1" && stage.revision == before)
      #expect(stage.world.hub.wakeAt ?? 0 <= stage.world.now.boot + 1000)
      try stage.world.wait(1000)
    }
    stage.world.journal.isFailing = false
    try stage.world.wait(1000)
    #expect(stage.isIdle && stage.displayOwner == nil && stage.stack == ["A", "B"])
    var next = try stage.world.replayed()
    #expect(next.takeRecords().isEmpty)
  }

  @Test func `a commit that fails takes the transition back with it`() throws {
    let stage = try Stage(["A"])
    stage.world.journal.isFailing = true
    let body = stage.owner.opBody(Stage.push("B"), Stage.animated)
    #expect(try stage.owner.ask("op", body).code == "storage")
    stage.world.journal.isFailing = false
    #expect(try stage.owner.must(Stage.push("C")).json["changed"] as? Bool == true)
    #expect(try stage.owner.ask("op", body).verb == .ok)
    #expect(stage.stack == ["A", "C", "B"])
    #expect(try stage.world.wait(1000).to(stage.viewer).story.count == 1)
  }
}
