import Foundation
import Testing

@testable import NavigationCore
@testable import NavigationHub

/// How the states that ops make are inspected.
enum InspectionScope: CaseIterable {
  /// The whole state, as in debug builds.
  case whole
  /// What the commit touched, as in release builds.
  case touched
}

/// What becomes of a nav in which a fault of the daemon was found.
@Suite struct FaultTests {
  /// A stage whose nav is found unsound once a screen is called bug, or c3 holds the display.
  ///
  /// Where only what was touched is inspected, the nav is corrupted too, for good unless it comes back
  /// from the journal.
  private func stage(
    _ scope: InspectionScope = .whole, _ stack: [String] = ["A", "B"], _ settings: String = ""
  ) throws -> Stage {
    var inspections = Inspections()
    inspections.stateInspection = { nav in
      let isWrong =
        nav.stack.contains { $0.title == "bug" } || nav.environment.content.owner == "c3"
      return isWrong ? ["planted"] : []
    }
    if scope == .touched {
      inspections.commitInspection = { nav, commit in
        guard nav.stack.contains(where: { $0.title == "bug" }) else { return [] }
        nav.stack.append(nav.stack[0])
        #expect(!nav.violatedInvariants().isEmpty)
        return ["planted"]
      }
    }
    return try Stage(stack, settings, world: World(inspections: inspections))
  }

  private static let bug = #"{"screen.set":{"screen":"A","title":"bug"}}"#

  @Test(arguments: InspectionScope.allCases)
  func `what waits behind a fault is told that the nav is frozen`(scope: InspectionScope) throws {
    let stage = try stage(scope)
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

  @Test(arguments: InspectionScope.allCases)
  func `a question about a nav that is frozen is over`(scope: InspectionScope) throws {
    let stage = try stage(scope)
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

  @Test(arguments: InspectionScope.allCases)
  func `what the daemon does by itself is looked at too`(scope: InspectionScope) throws {
    let stage = try stage(scope)
    let third = try stage.world.client(3)
    try stage.same { () throws in #expect(try stage.lease(third).code == "frozen") }
    #expect(stage.displayOwner == nil)
    try stage.refused(.frozen, Stage.pop)
  }

  @Test(arguments: InspectionScope.allCases)
  func `a nav that would be born unsound is not made`(scope: InspectionScope) throws {
    let stage = try stage(scope)
    let before = stage.world.journal.rows.count
    let error = try stage.owner.op(
      #"{"nav.create":{"root":{"id":"Z","title":"bug"}}}"#, nav: "other")
    #expect(error.code == "internal")
    #expect(error.json["effect"] as? String == "none")
    #expect(stage.world.hub.navs.slot(of: "other") == nil)
    #expect(stage.world.journal.rows.count == before)
  }

  @Test func `a fault among other ops takes nothing with it but its own op`() throws {
    let stage = try stage(.touched)
    let world = stage.world
    try stage.owner.must(#"{"nav.create":{"root":{"id":"Z"}}}"#, nav: "other")
    let rows = world.journal.rows.count
    let events = [
      (Stage.push("C"), "kiosk"), (Stage.push("Y"), "other"), (Self.bug, "kiosk"),
      (Stage.push("D"), "kiosk"), (Stage.push("X"), "other"),
    ].map { stage.owner.message("op", stage.owner.opBody($0.0, nav: $0.1, Stage.any)) }
    let sent = try world.turn(events).to(stage.owner).filter { $0.verb == .ok || $0.verb == .err }
    #expect(sent.map { $0.code ?? "ok" } == ["ok", "ok", "internal", "frozen", "ok"])
    #expect(world.unsoundBatches == 1)
    #expect(world.journal.rows.count == rows + 3)
    let nav = try world.entry("kiosk")
    #expect(nav.controller.stack.map(\.id.text) == ["A", "B", "C"])
    #expect(nav.controller.violatedInvariants() == [])
    #expect(world.notices.count { $0.text.contains("frozen") } == 1)
    // A start finds it sound, and serves it.
    try world.restart()
    try stage.owner.hello()
    try stage.owner.must(Stage.push("D"), Stage.any)
  }

  @Test func `a fault waits for the batch before it`() throws {
    let stage = try stage(.touched)
    func op(_ text: String) -> HubEvent {
      stage.owner.message("op", stage.owner.opBody(text, Stage.any))
    }
    let (first, second) = try stage.world.overlap(
      [op(Stage.push("C"))], [op(Stage.push("D")), op(Self.bug), op(Stage.push("E"))])
    #expect(first.to(stage.owner).filter { $0.verb == .ok }.count == 1)
    let answers = second.to(stage.owner).filter { $0.verb == .ok || $0.verb == .err }
    #expect(answers.map { $0.code ?? "ok" } == ["ok", "internal", "frozen"])
    let nav = try stage.world.entry("kiosk")
    #expect(nav.controller.stack.map(\.id.text) == ["A", "B", "C", "D"])
    #expect(nav.durable == nav.revision)
  }

  @Test func `a fault and a full disk together leave what was durable`() throws {
    let stage = try stage(.touched)
    stage.world.journal.isFailing = true
    func op(_ text: String) -> HubEvent {
      stage.owner.message("op", stage.owner.opBody(text, Stage.any))
    }
    let (sent, _) = try stage.world.overlap([op(Stage.push("C"))], [op(Self.bug)])
    #expect(sent.to(stage.owner).compactMap(\.code) == ["storage", "storage"])
    #expect(try stage.world.entry("kiosk").fault == nil)
    stage.world.journal.isFailing = false
    // No op is noted that was not decided; the fault is found again.
    #expect(try stage.owner.op(Self.bug, Stage.any).code == "internal")
  }

  @Test func `a nav that is created and corrupted in one batch stays as it was created`() throws {
    let stage = try stage(.touched)
    let events = [
      #"{"nav.create":{"root":{"id":"A"}}}"#, Stage.push("B"), Self.bug, Stage.push("C"),
    ].map { stage.owner.message("op", stage.owner.opBody($0, nav: "new", Stage.any)) }
    let sent = try stage.world.turn(events).to(stage.owner)
    #expect(sent.map { $0.code ?? "ok" } == ["ok", "ok", "internal", "frozen"])
    #expect(try stage.world.entry("new").controller.stack.map(\.id.text) == ["A", "B"])
  }

  @Test func `a nav that is verified and found wrong is only read from then on`() throws {
    let stage = try Stage()
    let slot = try #require(stage.world.hub.navs.slot(of: "kiosk"))
    #expect(try stage.owner.get("verify").text.contains(#""ok":true"#))
    // What was sent of the bar is another bar.
    try stage.viewer.watch()
    #expect(try stage.owner.get("verify").text.contains(#""ok":true"#))
    var json = JSONWriter()
    let other = NavigationController(revision: Revision(1))
    stage.world.hub.navs[slot].followedBar.write(other, &json)
    #expect(try stage.owner.get("verify").text.contains(#""ok":false"#))
    #expect(stage.world.notices.contains { $0.text.contains("resolved differs") })
    try stage.refused(.frozen, Stage.pop)
    #expect(try stage.viewer.get("state").verb == .ok)
    // The journal never heard of it.
    try stage.world.restart()
    try stage.owner.hello()
    try stage.owner.must(Stage.pop, Stage.any)
  }

  @Test(arguments: InspectionScope.allCases)
  func `a frozen nav can be closed, and its name be used again`(scope: InspectionScope) throws {
    let stage = try stage(scope)
    try stage.send(stage.owner, Self.bug)
    #expect(try stage.owner.op(#"{"nav.close":{}}"#).code == "guard-required")
    let sent = try stage.send(stage.owner, #"{"nav.close":{}}"#)
    #expect(sent.to(stage.viewer).map(\.verb) == [.end])
    try stage.owner.must(#"{"nav.create":{"root":{"id":"A"}}},{"attach":{}}"#)
    try stage.owner.must(Stage.push("B"))
  }
}
