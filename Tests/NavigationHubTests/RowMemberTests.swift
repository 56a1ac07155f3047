import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The members of states in the journal: which a start needs, and which it does without.
@Suite struct RowMemberTests {
  /// A nav with everything in its rows: a queue of ops, a button that nobody shows, a transition.
  static func world(snapshotEvery: UInt64) throws -> World {
    let world = World { $0.snapshotEvery = snapshotEvery }
    let stage = try Stage(["A", "B", "C"], world: world)
    try stage.owner.must(#"{"button.create":{"id":"b","title":"t"}}"#)
    try stage.owner.must(Stage.pop, Stage.any)
    try stage.owner.must(
      #"{"push":{"screen":{"id":"D","item":{"leftItems":["b"]}},"sender":{"who":"me"}}}"#)
    try stage.owner.must(#"{"present":{"screen":{"id":"P"},"style":"overCurrentContext"}}"#)
    try stage.owner.must(#"{"bar.set":{"tintColor":"red"}},{"env.set":{"vCompact":true}}"#)
    try stage.lease(stage.owner)
    try stage.owner.must(#"{"screen.release":{"screen":"C"}}"#)
    return world
  }

  /// The members of an object, with their octets.
  private static func members(_ body: [UInt8]) throws -> [(name: String, json: [UInt8])] {
    var tape = JSONTape()
    try tape.read(body, maximumDepth: 48)
    var members: [(name: String, json: [UInt8])] = []
    tape.forEachMember(of: tape.root) { name, value in members.append((name, tape.raw(value))) }
    return members
  }

  private static func object(_ members: [(name: String, json: [UInt8])]) -> [UInt8] {
    let texts = members.map { #""\#($0.name)":"# + String(decoding: $0.json, as: UTF8.self) }
    return Array("{\(texts.joined(separator: ","))}".utf8)
  }

  /// What a start makes of a journal; nil if it refuses it.
  static func replayed(_ journal: MemoryJournal) throws -> NavigationController? {
    let world = World()
    world.journal = journal
    do {
      let hub = try world.replayed(finishes: false)
      return hub.navs.slot(of: "kiosk").map { hub.navs[$0].controller }
    } catch is HubReplayError {
      return nil
    }
  }

  @Test func `a state needs its members but those that tell of its past`() throws {
    let world = try Self.world(snapshotEvery: 1)
    let last = try #require(world.journal.snapshots.indices.last)
    let expected = try world.entry("kiosk").controller
    let members = try Self.members(world.journal.snapshots[last].body)
    let spare: Set<String> = ["since", "open", "seq", "t", "ends"]
    let needed = [
      "nav", "kind", "epoch", "owner", "depth", "top", "rev", "dig", "screens", "detached", "bar",
      "toolbar",
      "presented", "transition", "environment", "settings",
    ]
    #expect(Set(members.map(\.name)).isSuperset(of: needed))
    for (place, member) in members.enumerated() {
      var journal = world.journal
      var others = members
      others.remove(at: place)
      journal.snapshots[last].body = Self.object(others)
      let found = try Self.replayed(journal)
      if needed.contains(member.name) {
        #expect(found == nil, "a state without \(member.name)")
      } else {
        #expect(found == expected && spare.contains(member.name), "\(member.name)")
      }
    }
  }

  @Test func `members that this version does not know are no hindrance`() throws {
    let world = try Self.world(snapshotEvery: 4)
    let expected = try world.entry("kiosk").controller
    var journal = world.journal
    let more: [(name: String, json: [UInt8])] = [
      ("zz", Array(#"{"rev":1,"diff":[]}"#.utf8)), ("Diff", Array("7".utf8)),
    ]
    for place in journal.rows.indices where journal.rows[place].kind != .changed {
      let members = try Self.members(journal.rows[place].body)
      journal.rows[place].body = Self.object(more + members + [("yy", Array("null".utf8))])
    }
    #expect(try Self.replayed(journal) == expected)
  }
}
