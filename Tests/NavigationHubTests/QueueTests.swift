import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct QueueTests {
  /// A stage on which a push of B is animated.
  private func busy(_ settings: String = "") throws -> (Stage, Int) {
    let stage = try Stage(["A"], settings)
    return (stage, try stage.animate("B"))
  }

  @Test func `C-290 an op may wait for the transition, and runs behind it`() throws {
    let (stage, id) = try busy()
    try stage.same { () throws in
      let sent = try stage.send(stage.owner, Stage.push("C"), Stage.queued)
      #expect(sent.map(\.verb) == [.queued])
      #expect(sent[0].json["pos"] as? Int == 1)
    }
    let sent = try stage.send(stage.owner, Stage.complete(id))
    #expect(sent.to(stage.owner).map { $0.json["id"] as? Int }.count == 2)
    #expect(
      sent.to(stage.viewer).story == [
        ["didPush(B)", "didHide(A,1)", "didShow(B,1)", "transitionEnded(completed)"],
        ["willHide(B,0)", "willShow(C,0)", "didPush(C)", "didHide(B,0)", "didShow(C,0)"],
      ])
    #expect(stage.stack == ["A", "B", "C"])
  }

  @Test func `waiting ops run in order, each behind the transition of the one before`() throws {
    let (stage, id) = try busy()
    for (index, name) in ["C", "D", "E"].enumerated() {
      let sent = try stage.send(
        stage.owner, Stage.push(name), "\(Stage.queued),\(Stage.animated)")
      #expect(sent[0].json["pos"] as? Int == index + 1)
    }
    try stage.owner.must(Stage.complete(id))
    #expect(stage.stack == ["A", "B", "C"])
    for expected in [["A", "B", "C", "D"], ["A", "B", "C", "D", "E"]] {
      try stage.world.wait(1000)
      #expect(stage.stack == expected)
    }
    try stage.world.wait(1000)
    #expect(stage.isIdle)
  }

  @Test func `an op that waits runs when the deadline ends what it waits for`() throws {
    let (stage, _) = try busy()
    try stage.send(stage.owner, Stage.push("C"), Stage.queued)
    let sent = try stage.world.wait(1000)
    #expect(sent.to(stage.owner).map(\.verb) == [.ok])
    #expect(stage.stack == ["A", "B", "C"])
  }

  @Test func `a guard that fails later refuses that op, and the next still runs`() throws {
    let (stage, id) = try busy()
    try stage.send(stage.owner, Stage.push("C"), Stage.queued)
    try stage.send(stage.owner, Stage.pop, #"\#(Stage.queued),"if":{"top":"B"}"#)
    try stage.send(stage.owner, Stage.push("D"), Stage.queued)
    let sent = try stage.send(stage.owner, Stage.complete(id)).to(stage.owner)
    #expect(sent.codes == ["desync"])
    #expect(sent.first { $0.code != nil }?.json["reason"] as? String == "top")
    #expect(stage.stack == ["A", "B", "C", "D"])
  }

  @Test func `only the epoch is judged before an op waits`() throws {
    let (stage, id) = try busy()
    let epoch = #"\#(Stage.queued),"if":{"epoch":"0123456789abcdef","top":"B"}"#
    #expect(try stage.owner.op(Stage.pop, epoch).code == "desync")
    let top = #"\#(Stage.queued),"if":{"top":"A"}"#
    #expect(try stage.send(stage.owner, Stage.pop, top).map(\.verb) == [.queued])
    #expect(try stage.send(stage.owner, Stage.complete(id)).to(stage.owner).codes == ["desync"])
  }

  @Test func `an op that is due before its turn expires`() throws {
    let (stage, _) = try busy()
    let due = stage.world.now.boot + 999
    try stage.send(stage.owner, Stage.push("C"), #"\#(Stage.queued),"due":\#(due)"#)
    #expect(try stage.world.wait(1000).codes == ["expired"])
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `an op with wrong arguments is refused when its turn comes`() throws {
    let (stage, id) = try busy()
    let body = stage.owner.opBody(Stage.push("A"), Stage.queued)
    #expect(try stage.world.turn([stage.owner.message("op", body)]).map(\.verb) == [.queued])
    let sent = try stage.send(stage.owner, Stage.complete(id))
    #expect(sent.codes == ["duplicate-screen"])
    // It is decided: the same octets have the same answer.
    let again = try stage.owner.ask("op", body)
    #expect(again.body == sent.first { $0.code != nil }?.body)
  }

  @Test func `as many ops wait as the settings say`() throws {
    let (stage, id) = try busy(#""queue":2"#)
    for name in ["C", "D"] { try stage.send(stage.owner, Stage.push(name), Stage.queued) }
    try stage.same { () throws in
      let error = try stage.owner.op(Stage.push("E"), Stage.queued)
      #expect(error.code == "queue-full")
      #expect(error.json["retry"] as? String == "later")
    }
    try stage.owner.must(Stage.complete(id))
    #expect(stage.stack == ["A", "B", "C", "D"])
  }

  @Test func `the same octets wait once, and are told their place again`() throws {
    let (stage, id) = try busy()
    try stage.send(stage.owner, Stage.push("X"), Stage.queued)
    let body = stage.owner.opBody(Stage.push("C"), Stage.queued)
    for _ in 0..<2 {
      let sent = try stage.world.turn([stage.owner.message("op", body)])
      #expect(sent.map(\.verb) == [.queued])
      #expect(sent[0].json["pos"] as? Int == 2)
    }
    try stage.owner.must(Stage.complete(id))
    #expect(stage.stack == ["A", "B", "X", "C"])
  }

  @Test func `the ops of a session that ends do not run`() throws {
    let (stage, id) = try busy()
    let other = try stage.world.client(2)
    let body = other.opBody(Stage.push("C"), Stage.queued)
    try other.send("op", body)
    try stage.send(stage.owner, Stage.push("D"), Stage.queued)
    try stage.world.turn([.closed(other.connection)])
    try stage.owner.must(Stage.complete(id))
    #expect(stage.stack == ["A", "B", "D"])
    // It was never decided.
    try other.hello()
    try other.must(Stage.pop, Stage.any)
    #expect(try other.ask("op", body).verb == .ok)
  }

  @Test func `an op waits for a question and for a gesture too`() throws {
    let stage = try Stage()
    let judge = try stage.world.client(3)
    try stage.delegate(judge, "veto")
    try stage.send(stage.owner, Stage.pop)
    #expect(try stage.send(stage.owner, Stage.push("C"), Stage.queued).map(\.verb) == [.queued])
    // The op that waited is asked about in its turn.
    #expect(try stage.answer(judge, "false").asked == ["shouldPush(C)"])
    try stage.answer(judge, "true")
    #expect(stage.stack == ["A", "B", "C"])
    try stage.delegate(judge)
    try stage.owner.must(Stage.begin, Stage.any)
    #expect(try stage.send(stage.owner, Stage.pop, #"\#(Stage.queued),\#(Stage.any)"#).count == 1)
    try stage.owner.must(Stage.cancel)
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `a button that pops waits, another does not`() throws {
    let stage = try Stage()
    for (name, action) in [("back", "nav.pop"), ("scan", "wifi.scan")] {
      try stage.owner.must(
        #"{"button.create":{"id":"\#(name)","title":"t","action":"\#(action)"}}"#)
    }
    let id = try stage.animate("C")
    try stage.owner.must(#"{"item.set":{"screen":"C","rightItems":["back","scan"]}}"#)
    #expect(
      try stage.owner.op(#"{"button.activate":{"button":"back"}}"#).code
        == "transition-in-progress")
    try stage.owner.must(#"{"button.activate":{"button":"scan"}}"#)
    try stage.owner.must(Stage.complete(id))
    try stage.owner.must(#"{"button.activate":{"button":"back"}}"#)
    #expect(stage.stack == ["A", "B"])
  }

  @Test func `a commit that fails puts the waiting ops back in their order`() throws {
    let (stage, id) = try busy()
    try stage.send(stage.owner, Stage.push("C"), Stage.queued)
    try stage.send(stage.owner, Stage.push("D"), Stage.queued)
    stage.world.journal.isFailing = true
    let body = stage.owner.opBody(Stage.complete(id))
    try stage.same { () throws in #expect(try stage.owner.ask("op", body).code == "storage") }
    stage.world.journal.isFailing = false
    let sent = try stage.world.turn([stage.owner.message("op", body)]).to(stage.owner)
    #expect(sent.map(\.verb) == [.ok, .ok, .ok])
    #expect(stage.stack == ["A", "B", "C", "D"])
  }
}
