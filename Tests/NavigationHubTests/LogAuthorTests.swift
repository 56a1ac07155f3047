import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Who the log says has done what no op did.
@Suite struct LogAuthorTests {
  /// The entries of the log behind a revision.
  private func log(_ stage: Stage, after revision: Int) throws -> [[String: Any]] {
    let reply = try stage.viewer.get("log", #""from":\#(revision + 1)"#)
    return try #require(reply.json["value"] as? [[String: Any]])
  }

  private func by(_ entry: [String: Any]) -> NSDictionary? { entry["by"] as? NSDictionary }

  @Test func `a lease is taken by somebody, and given back by the same`() throws {
    let stage = try Stage()
    let before = stage.revision
    try stage.lease(stage.owner)
    let taken = stage.owner.id
    try stage.lease(stage.owner, take: false)
    let entries = try log(stage, after: before)
    #expect(entries.map { $0["cause"] as? String } == ["lease", "lease"])
    for (entry, op) in zip(entries, [taken, taken + 1]) {
      #expect(
        by(entry) == ["name": "c1", "op": op, "principal": "uid:1000", "pid": 4711])
      #expect(entry["override"] == nil)
    }
  }

  @Test func `a display taken by force is taken by somebody, and so is the gesture on it`() throws {
    let stage = try Stage()
    let admin = try stage.world.client(3, user: 0)
    try stage.lease(stage.owner)
    try stage.owner.must(Stage.begin, Stage.any)
    let before = stage.revision
    try stage.lease(admin, force: true)
    let entries = try log(stage, after: before)
    #expect(entries.map { $0["cause"] as? String } == ["cancel", "lease"])
    #expect(by(entries[0]) == ["name": "c3", "principal": "uid:0", "pid": 4711])
    #expect(by(entries[1])?["name"] as? String == "c3")
    #expect(by(entries[1])?["op"] as? Int == admin.id)
    #expect(entries[1]["override"] as? Bool == true)
  }

  @Test func `a lease that ends with a session is given back by who had it`() throws {
    let stage = try Stage()
    try stage.lease(stage.owner)
    let before = stage.revision
    try stage.world.turn([.closed(stage.owner.connection)])
    let entries = try log(stage, after: before)
    #expect(entries.map { $0["cause"] as? String } == ["lease"])
    #expect(by(entries[0]) == ["name": "c1", "principal": "uid:1000", "pid": 4711])
  }

  @Test func `so is one that ends while the journal takes nothing`() throws {
    let stage = try Stage()
    let other = try stage.world.client(2)
    try stage.lease(stage.owner)
    let before = stage.revision
    stage.world.journal.isFailing = true
    try other.op(Stage.push("C"))
    try stage.world.turn([.closed(stage.owner.connection)])
    stage.world.journal.isFailing = false
    try stage.world.wait(1000)
    let entries = try log(stage, after: before)
    #expect(entries.map { $0["cause"] as? String } == ["lease"])
    #expect(by(entries[0])?["name"] as? String == "c1")
    // Nothing of it is kept, and the next lease has its own author.
    try stage.lease(other)
    #expect(by(try #require(try log(stage, after: before).last))?["name"] as? String == "c2")
  }

  @Test func `orientations come from somebody, and go with the same`() throws {
    let stage = try Stage()
    let before = stage.revision
    try stage.delegate(
      stage.owner, "orientation", more: #","orientations":{"supported":["portrait"]}"#)
    try stage.world.turn([.closed(stage.owner.connection)])
    let entries = try log(stage, after: before)
    #expect(entries.map { $0["cause"] as? String } == ["api", "lease"])
    #expect(entries.map { by($0)?["name"] as? String } == ["c1", "c1"])
  }

  @Test(arguments: [(HistoryLoss.backup, "backup"), (.crash, "crash")])
  func `the row of a new epoch says why there is one`(loss: HistoryLoss, cause: String)
    throws
  {
    let stage = try Stage()
    try stage.world.restart(renewsEpochs: true, because: loss)
    let reply = try Client(stage.world, 20).get("log")
    let entry = try #require((reply.json["value"] as? [[String: Any]])?.last)
    #expect(entry["cause"] as? String == cause)
    #expect(entry["epoch"] as? String == (try stage.world.entry("kiosk").epoch.text))
  }

  @Test func `a revision of the future is called so, one of the past is not`() throws {
    let stage = try Stage()
    let future = try stage.owner.get("state", #""at":99"#)
    #expect(future.code == "compacted")
    #expect(future.json["future"] as? Bool == true)
    #expect(future.json["msg"] as? String == "revision 99 does not exist yet: the newest is 1")
    let revert = try stage.owner.op(#"{"revert":{"rev":99}}"#, Stage.any)
    #expect(revert.code == "compacted")
    #expect(revert.json["future"] as? Bool == true)
    #expect(try stage.owner.get("state", #""at":0"#).json["future"] == nil)
    #expect(try stage.owner.op(#"{"revert":{"rev":0}}"#, Stage.any).json["future"] == nil)
  }
}
