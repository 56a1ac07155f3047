import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct GestureTests {
  @Test func `C-297 a gesture begins without touching the stack`() throws {
    let stage = try Stage()
    let sent = try stage.send(stage.owner, Stage.begin).to(stage.viewer)
    #expect(
      sent.story == [["willHide(B,1)", "willShow(A,1)", "transitionBegan(pop,B,A,interactive)"]])
    #expect(sent.causes == ["gesture"])
    let changes = try #require(sent.diffs[0]["ch"] as? [[String: Any]])
    #expect(changes.map { $0["set"] as? String } == ["transition"])
    #expect((changes[0]["to"] as? [String: Any])?["owner"] as? String == "c1")
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `C-298 a gesture is followed and finished`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    try stage.same { () throws in
      for value in ["0.3", "0.7"] {
        let sent = try stage.send(stage.owner, Stage.update(value))
        #expect(sent.to(stage.owner).map { $0.json["changed"] as? Bool } == [false])
        #expect(sent.to(stage.viewer).map(\.verb) == [.event])
        #expect(
          sent.to(stage.viewer)[0].text.contains(
            #""transitionProgress":{"tid":2,"value":\#(value)}"#))
      }
    }
    let sent = try stage.send(stage.owner, Stage.finish)
    #expect(
      sent.to(stage.viewer).story == [
        ["didPop(B)", "didHide(B,1)", "didShow(A,1)", "transitionEnded(completed)"]
      ])
    #expect(sent.to(stage.owner)[0].text.contains(#""popped":"B""#))
    #expect(stage.stack == ["A"])
  }

  @Test func `C-299 a cancelled gesture leaves the stack`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    let sent = try stage.send(stage.owner, Stage.cancel).to(stage.viewer)
    #expect(sent.story == [["transitionEnded(cancelled)"]])
    #expect(sent.causes == ["cancel"])
    #expect(
      (sent.diffs[0]["ch"] as? [[String: Any]])?.map { $0["set"] as? String } == ["transition"])
    #expect(stage.stack == ["A", "B"])
  }

  @Test(arguments: [
    (["A"], "", "edge", "5", "root"),
    (["A", "B"], #""interactivePop":{"mode":"fullScreen"}"#, "fullScreen", "-3", "direction"),
    (["A", "B"], #""interactivePop":{"mode":"fullScreen"}"#, "edge", "5", "disabled"),
    (["A", "B"], #""interactivePop":{"enabled":false}"#, "edge", "5", "disabled"),
  ])
  func `C-300 C-301 C-303 a gesture that may not begin says why`(
    stack: [String], settings: String, kind: String, translation: String, reason: String
  ) throws {
    let stage = try Stage(stack, settings)
    try stage.same { () throws in
      let error = try stage.owner.op(
        #"{"gesture.begin":{"kind":"\#(kind)","translation":\#(translation)}}"#, Stage.any)
      #expect(error.code == "gesture-refused")
      #expect(error.json["reason"] as? String == reason)
    }
  }

  @Test func `C-307 an impossible value leaves the gesture open`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    try stage.same { () throws in
      #expect(try stage.owner.op(Stage.update("1.2")).code == "invalid-argument")
      #expect(try stage.owner.op(Stage.complete(2)).code == "invalid-argument")
    }
    try stage.owner.must(Stage.finish)
  }

  @Test func `C-308 nothing touches the stack during a gesture`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    try stage.same { () throws in
      #expect(try stage.owner.op(Stage.push("C")).code == "transition-in-progress")
    }
  }

  @Test func `C-311 the full-screen recogniser is not the client's to set`() throws {
    let stage = try Stage()
    let ops = #"{"nav.configure":{"fullInteractivePopGestureRecognizer":{"enabled":true}}}"#
    #expect(try stage.owner.op(ops).code == "readonly")
  }

  @Test func `without a gesture there is nothing to update, finish or cancel`() throws {
    let stage = try Stage()
    for ops in [Stage.update("0.5"), Stage.finish, Stage.cancel] {
      #expect(try stage.owner.op(ops).code == "invalid-argument")
    }
  }

  @Test func `a gesture is its owner's`() throws {
    let stage = try Stage()
    let other = try stage.world.client(2)
    try stage.owner.must(Stage.begin, Stage.any)
    try stage.same { () throws in
      for ops in [Stage.update("0.5"), Stage.finish, Stage.cancel] {
        #expect(try other.op(ops).code == "gesture-owner")
      }
      let error = try other.op(Stage.begin, Stage.any)
      #expect(error.code == "gesture-refused")
      #expect(error.json["reason"] as? String == "active")
    }
  }

  @Test func `a gesture ends with its owner's session`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    let sent = try stage.world.turn([.closed(stage.owner.connection)]).to(stage.viewer)
    #expect(sent.story == [["transitionEnded(cancelled)"]])
    #expect(sent.causes == ["cancel"])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `a gesture without a sign of life is cancelled, one with goes on`() throws {
    let stage = try Stage(["A", "B"], #""gestureDeadline":500"#)
    try stage.owner.must(Stage.begin, Stage.any)
    for _ in 0..<4 {
      try stage.world.wait(400)
      try stage.owner.must(Stage.update("0.5"))
    }
    #expect(try stage.world.wait(499).to(stage.viewer).story == [])
    #expect(try stage.world.wait(1).to(stage.viewer).story == [["transitionEnded(cancelled)"]])
  }

  @Test func `progress is conflated, and kept nowhere`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    let rows = stage.world.journal.rows.count
    let body = stage.owner.opBody(Stage.update("0.5"))
    let sent = try stage.world.turn(
      ["0.1", "0.2"].map { stage.owner.message("op", stage.owner.opBody(Stage.update($0))) }
        + [stage.owner.message("op", body)])
    let events = sent.to(stage.viewer)
    #expect(events.count == 1)
    #expect(events[0].text.contains(#""value":0.5"#))
    #expect(sent.to(stage.owner).map(\.verb) == [.ok, .ok, .ok])
    #expect(stage.world.journal.rows.count == rows)
    // It is not remembered: the same octets are told again.
    #expect(try stage.world.turn([stage.owner.message("op", body)]).to(stage.viewer).count == 1)
  }

  @Test func `a gesture whose owner dies while the journal takes nothing ends later`() throws {
    let stage = try Stage()
    try stage.owner.must(Stage.begin, Stage.any)
    stage.world.journal.isFailing = true
    try stage.same { () throws in try stage.world.turn([.closed(stage.owner.connection)]) }
    stage.world.journal.isFailing = false
    let sent = try stage.world.wait(1000).to(stage.viewer)
    #expect(sent.story == [["transitionEnded(cancelled)"]])
    #expect(sent.causes == ["cancel"])
  }

  @Test func `a gesture is not begun for a finger that left during the question`() throws {
    let stage = try Stage()
    let judge = try stage.world.client(3)
    try stage.delegate(judge, "veto")
    let asked = try stage.send(stage.owner, Stage.begin).to(judge).asked
    #expect(asked == ["shouldPop(B)"])
    try stage.same { () throws in
      let sent = try stage.world.turn([.closed(stage.owner.connection)])
      #expect(sent.settled == ["denied"])
      #expect(try stage.answer(judge, "true").codes == [])
    }
    #expect(stage.isIdle)
  }

  @Test func `a gesture asks at its beginning and not again`() throws {
    let stage = try Stage()
    let judge = try stage.world.client(3)
    try stage.delegate(judge, "veto")
    try stage.send(stage.owner, Stage.begin)
    #expect(stage.isIdle)
    #expect(try stage.owner.op(Stage.push("C")).code == "transition-in-progress")
    #expect(try stage.answer(judge, "true").to(stage.owner).map(\.verb) == [.ok])
    #expect(try stage.send(stage.owner, Stage.finish).asked == [])
    #expect(stage.stack == ["A"])
  }
}
