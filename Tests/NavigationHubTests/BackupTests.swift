import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct BackupTests {
  private static let made = BackupOutcome.made(path: "/s/b/a.db", bytes: 8192, navs: 1, sequence: 2)

  /// A world with an admin's session.
  private func world() throws -> (World, Client) {
    let world = World()
    return (world, try world.client(1, user: 0))
  }

  private func progress(_ client: Client) throws -> [String: Int]? {
    (try client.get("stats", nav: nil).json["value"] as? [String: Any])?["backup"]
      as? [String: Int]
  }

  @Test func `an admin's backup is asked of the shell, and answered when it is back`() throws {
    let (world, admin) = try world()
    #expect(try progress(admin) == nil)
    #expect(try admin.send("get", #"{"id":7,"what":"backup"}"#).isEmpty)
    #expect(world.backups == 1)
    #expect(try progress(admin) == ["done": 0, "total": 0])
    try world.turn([.backupProgress(BackupProgress(done: 3, total: 8))])
    let other = try world.client(2)
    #expect(try progress(other) == ["done": 3, "total": 8])
    let sent = try world.turn([.backup(Self.made)])
    #expect(
      sent.map(\.text) == [#"{"id":7,"value":"/s/b/a.db","bytes":8192,"navs":1,"seq":2}"#])
    #expect(sent.map(\.verb) == [.ok])
    #expect(sent.map(\.connection) == [admin.connection])
    #expect(try progress(admin) == nil)
    // One that nobody waits for is dropped.
    #expect(try world.turn([.backup(Self.made)]).isEmpty)
  }

  @Test func `one backup at a time`() throws {
    let (world, admin) = try world()
    let second = try world.client(2, user: 0)
    try admin.send("get", #"{"id":7,"what":"backup"}"#)
    let refusal = try second.get("backup", nav: nil)
    #expect(refusal.code == "busy")
    #expect(refusal.json["after"] as? Int == 1000)
    #expect(world.backups == 1)
    try world.turn([.backup(Self.made)])
    try second.send("get", #"{"id":8,"what":"backup"}"#)
    #expect(world.backups == 2)
  }

  @Test func `a backup that fails is a fault of the storage`() throws {
    let (world, admin) = try world()
    try admin.send("get", #"{"id":7,"what":"backup"}"#)
    let answer = try #require(try world.turn([.backup(.failed("no space"))]).first)
    #expect(answer.code == "storage")
    #expect(answer.id == 7)
    #expect(answer.text.contains("no backup was made: no space"))
    #expect(try progress(admin) == nil)
  }

  @Test func `others may not, and it is of all navs`() throws {
    let world = World()
    let client = try world.kiosk()
    #expect(try client.get("backup", nav: nil).code == "forbidden")
    let admin = try world.client(2, user: 0)
    #expect(try admin.get("backup").code == "invalid-argument")
    #expect(world.backups == 0)
  }

  @Test func `a backup is answered that ended in a failed batch in which the next one began`()
    throws
  {
    let (world, admin) = try world()
    try admin.send("get", #"{"id":7,"what":"backup"}"#)
    world.decidesTwice = true
    let sent = try world.turn([
      .backup(Self.made), admin.message("get", #"{"id":8,"what":"backup"}"#),
    ])
    #expect(sent.map(\.id) == [7])
    #expect(world.backups == 2)
    #expect(try world.turn([.backup(Self.made)]).map(\.id) == [8])
  }

  @Test func `a batch that is taken back begins and ends a backup once`() throws {
    let world = World()
    let client = try world.kiosk()
    let admin = try world.client(2, user: 0)
    func op(_ id: String) -> HubEvent {
      client.message("op", client.opBody(#"{"push":{"screen":{"id":"\#(id)"}}}"#))
    }
    world.journal.isFailing = true
    try world.turn([op("a"), admin.message("get", #"{"id":7,"what":"backup"}"#)])
    #expect(world.backups == 1)
    let sent = try world.turn([op("b"), .backup(Self.made)])
    #expect(sent.filter { $0.connection == admin.connection }.map(\.id) == [7])
    #expect(world.hub.reads.backup == nil)
  }

  @Test func `ops go on while a backup is made, also ahead of a commit`() throws {
    let world = World()
    let client = try world.kiosk()
    let admin = try world.client(2, user: 0)
    try admin.send("get", #"{"id":7,"what":"backup"}"#)
    #expect(world.hub.mayDecideDuringCommit)
    try client.must(#"{"push":{"screen":{"id":"a"}}}"#)
  }
}
