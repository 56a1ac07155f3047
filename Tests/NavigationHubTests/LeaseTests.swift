import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct LeaseTests {
  @Test func `the display is taken and given back, each by a commit`() throws {
    let stage = try Stage()
    #expect(try stage.lease(stage.owner).json["owner"] as? String == "c1")
    #expect(stage.displayOwner == "c1")
    try stage.same { () throws in
      #expect(try stage.lease(stage.owner).json["owner"] as? String == "c1")
    }
    let sent = try stage.world.turn([
      stage.owner.message("lease", #"{"id":\#(stage.owner.nextID()),"nav":"kiosk","take":false}"#)
    ])
    #expect(sent.to(stage.viewer).causes == ["lease"])
    #expect((sent.to(stage.viewer).diffs[0]["by"] as? [String: Any])?["name"] as? String == "c1")
    #expect(stage.displayOwner == nil)
    try stage.same { () throws in #expect(try stage.lease(stage.owner, take: false).verb == .ok) }
  }

  @Test func `a held display is not taken, but by force of an admin`() throws {
    let stage = try Stage()
    let guest = try stage.world.client(2, user: 1001)
    let admin = try stage.world.client(3, user: 0)
    try stage.lease(stage.owner)
    try stage.same { () throws in
      let error = try stage.lease(guest)
      #expect(error.code == "lease-lost")
      #expect(error.json["rev"] as? Int == stage.revision)
      #expect(error.json["owner"] as? String == "c1")
      #expect(try stage.lease(guest, force: true).code == "forbidden")
      #expect(try stage.lease(admin).code == "lease-lost")
      #expect(try stage.lease(guest, take: false).verb == .ok)
    }
    #expect(try stage.lease(admin, force: true).json["owner"] as? String == "c3")
    #expect(stage.displayOwner == "c3")
    #expect(try stage.lease(stage.owner).code == "lease-lost")
  }

  @Test func `the session that a display is taken from is told, at once and alone`() throws {
    let stage = try Stage()
    let admin = try stage.world.client(3, user: 0)
    let force = #"{"id":9,"nav":"kiosk","take":true,"force":true}"#
    for commits in [false, true] {
      try stage.lease(stage.owner)
      stage.world.journal.isFailing = !commits
      let sent = try stage.world.turn([admin.message("lease", force)])
      stage.world.journal.isFailing = false
      let lost = sent.filter { $0.verb == .lost }
      #expect(lost.map(\.connection) == (commits ? [stage.owner.connection] : []))
      guard commits else { continue }
      #expect(
        lost[0].json as? [String: String] == [
          "nav": "kiosk", "of": "lease", "code": "lease-lost", "owner": "c3",
          "msg": "another session has taken the display",
        ])
    }
    #expect(try stage.lease(stage.owner).code == "lease-lost")
  }

  @Test func `the end of a nav is announced to sessions with roles or the display of it`() throws {
    let stage = try Stage()
    let judge = try stage.world.client(2)
    try stage.delegate(judge, "veto")
    try stage.lease(stage.owner)
    let sent = try stage.world.turn([
      stage.owner.message(
        "op",
        #"{"id":\#(stage.owner.nextID()),"nav":"kiosk","if":{"any":true},"do":[{"nav.close":{}}]}"#)
    ])
    let lost = sent.filter { $0.verb == .lost }
    #expect(lost.to(judge).map { $0.json["of"] as? String } == ["delegate"])
    #expect(lost.to(stage.owner).map { $0.json["of"] as? String } == ["lease"])
    #expect(lost.count == 2 && lost.allSatisfy { $0.code == "no-nav" })
  }

  @Test func `a display taken by force cancels the gesture on it`() throws {
    let stage = try Stage()
    let admin = try stage.world.client(3, user: 0)
    try stage.lease(stage.owner)
    try stage.owner.must(Stage.begin, Stage.any)
    try stage.lease(admin, force: true)
    #expect(stage.isIdle)
    #expect(stage.displayOwner == "c3")
    #expect(try stage.owner.op(Stage.finish).code == "invalid-argument")
  }

  @Test func `C-373 only the holder acts for the display`() throws {
    let stage = try Stage()
    let other = try stage.world.client(2)
    try stage.lease(stage.owner)
    let id = try stage.animate("C")
    try stage.same { () throws in
      #expect(try other.op(Stage.complete(id)).code == "lease-lost")
      #expect(try other.op(Stage.begin, Stage.any).code == "lease-lost")
      let error = try other.op(#"{"env.set":{"vCompact":true}}"#)
      #expect(error.code == "lease-lost")
      #expect(error.json["rev"] as? Int == stage.revision)
      #expect(error.json["owner"] as? String == "c1")
      #expect(error.json["retry"] as? String == "resync")
    }
    try stage.owner.must(Stage.complete(id))
    try other.must(Stage.push("D"))
    try stage.lease(stage.owner, take: false)
    try other.must(Stage.begin, Stage.any)
  }

  @Test func `the display is free when its holder's session ends`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    let sent = try stage.world.turn([.closed(stage.owner.connection)]).to(stage.viewer)
    #expect(sent.causes == ["lease"])
    #expect(sent.diffs[0]["by"] == nil)
    #expect(stage.displayOwner == nil)
  }

  @Test func `the display is free when its holder says bye, and hello again`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    try stage.owner.hello()
    #expect(stage.displayOwner == nil)
    try stage.lease(stage.owner)
    try stage.owner.send("bye", #"{"id":1}"#)
    #expect(stage.displayOwner == nil)
  }

  @Test func `the gesture of a holder that goes is cancelled`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    try stage.owner.must(Stage.begin, Stage.any)
    let sent = try stage.world.turn([.closed(stage.owner.connection)]).to(stage.viewer)
    #expect(sent.causes == ["cancel", "lease"])
    #expect(stage.isIdle)
  }

  @Test func `a holder that dies while the journal takes nothing is gone when it does`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    stage.world.journal.isFailing = true
    try stage.same { () throws in try stage.world.turn([.closed(stage.owner.connection)]) }
    stage.world.journal.isFailing = false
    // Nobody holds it any more, whatever the state still says.
    let other = try stage.world.client(2)
    let sent = try stage.world.wait(1000).to(stage.viewer)
    #expect(sent.causes == ["lease"])
    #expect(stage.displayOwner == nil)
    #expect(try stage.lease(other).json["owner"] as? String == "c2")
  }

  @Test func `a lease whose commit fails is not held`() throws {
    let stage = try Stage()
    let other = try stage.world.client(2)
    stage.world.journal.isFailing = true
    try stage.same { () throws in #expect(try stage.lease(stage.owner).code == "storage") }
    stage.world.journal.isFailing = false
    try stage.same { () throws in try stage.world.wait(1000) }
    #expect(try stage.lease(other).json["owner"] as? String == "c2")
  }

  @Test func `a lease is lost with a daemon`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    try stage.world.restart()
    #expect(stage.displayOwner == nil)
    let other = try stage.world.client(2)
    #expect(try stage.lease(other).verb == .ok)
  }
}
