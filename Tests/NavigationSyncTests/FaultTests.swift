import Foundation
import Navigation
import Testing

@testable import NavigationHub
@testable import NavigationProtocol
@testable import NavigationReplica

/// What becomes of a nav in which a fault of the daemon was found.
@Suite struct FaultTests {
  /// A stage whose nav is found unsound once a screen is called bug, or c3 holds the display.
  private func stage(_ stack: [String] = ["A", "B"], _ settings: String = "") throws -> Stage {
    let world = World {
      $0.inspection = { nav in
        let isWrong =
          nav.stack.contains { $0.title == "bug" } || nav.environment.content.owner == "c3"
        return isWrong ? ["INV-0 planted"] : []
      }
    }
    return try Stage(stack, settings, world: world)
  }

  private static let bug = #"{"screen.set":{"screen":"A","title":"bug"}}"#

  @Test func `what waits behind a fault is told that the nav is frozen`() throws {
    let stage = try stage()
    let id = try stage.animate("C")
    try stage.send(stage.viewer, Stage.push("D"), Stage.queued)
    try stage.same { () throws in
      let sent = try stage.send(stage.owner, Self.bug)
      #expect(sent.to(stage.viewer).codes == ["frozen"])
      #expect(sent.to(stage.owner).codes == ["internal"])
      #expect(try stage.owner.op(Stage.complete(id)).code == "frozen")
      // Nothing ends in it by itself either.
      #expect(try stage.world.wait(100_000).allSatisfy { $0.verb == .mark })
    }
  }

  @Test func `a question about a nav that is frozen is over`() throws {
    let stage = try stage()
    let judge = try stage.world.client(4)
    try stage.delegate(judge, "veto")
    try stage.same { () throws in
      try stage.send(stage.viewer, Stage.pop)
      let sent = try stage.send(stage.owner, Self.bug)
      #expect(sent.to(judge).settled == ["denied"])
      #expect(sent.to(stage.viewer).codes == ["frozen"])
      #expect(try stage.answer(judge, "true").isEmpty)
    }
  }

  @Test func `what the daemon does by itself is looked at too`() throws {
    let stage = try stage()
    let third = try stage.world.client(3)
    try stage.same { () throws in #expect(try stage.lease(third).code == "frozen") }
    #expect(stage.displayOwner == nil)
    try stage.refused(.frozen, Stage.pop)
  }

  @Test func `a nav that would be born unsound is not made`() throws {
    let stage = try stage()
    let before = stage.world.journal.rows.count
    let error = try stage.owner.op(
      #"{"nav.create":{"root":{"id":"Z","title":"bug"}}}"#, nav: "other")
    #expect(error.code == "internal")
    #expect(error.json["effect"] as? String == "none")
    #expect(stage.world.hub.navs.slot(of: "other") == nil)
    #expect(stage.world.journal.rows.count == before)
  }

  @Test func `a nav that is verified and found wrong is only read from then on`() throws {
    let stage = try Stage()
    let slot = try #require(stage.world.hub.navs.slot(of: "kiosk"))
    #expect(try stage.owner.get("verify").text.contains(#""ok":true"#))
    let other = NavigationController(revision: Revision(1))
    stage.world.hub.navs.slots[slot].shown = ShownBar(other)
    #expect(try stage.owner.get("verify").text.contains(#""ok":false"#))
    #expect(stage.world.notices.contains { $0.text.contains("INV-9") })
    try stage.refused(.frozen, Stage.pop)
    #expect(try stage.viewer.get("state").verb == .ok)
    // The journal never heard of it.
    try stage.world.restart()
    try stage.owner.hello()
    try stage.owner.must(Stage.pop, Stage.any)
  }

  @Test func `a frozen nav can be closed, and its name be used again`() throws {
    let stage = try stage()
    try stage.send(stage.owner, Self.bug)
    #expect(try stage.owner.op(#"{"nav.close":{}}"#).code == "guard-required")
    let sent = try stage.send(stage.owner, #"{"nav.close":{}}"#)
    #expect(sent.to(stage.viewer).map(\.verb) == [.end])
    try stage.owner.must(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#)
    try stage.owner.must(Stage.push("B"))
  }
}
