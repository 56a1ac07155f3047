import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The members of journal rows: which a start needs, and which it does without.
@Suite struct RowMemberTests {
  /// A nav with everything in its rows: a queue of ops, a button that nobody shows, a transition.
  private static func world(snapshotEvery: UInt64) throws -> World {
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
  private static func replayed(_ journal: MemoryJournal) throws -> NavigationController? {
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

  @Test func `a row needs its change, and not who made it`() throws {
    let world = try Self.world(snapshotEvery: 1000)
    let expected = try world.entry("kiosk").controller
    #expect(try Self.replayed(world.journal) == expected)
    for place in world.journal.rows.indices where world.journal.rows[place].kind == .changed {
      let members = try Self.members(world.journal.rows[place].body)
      for (index, member) in members.enumerated() {
        var journal = world.journal
        var others = members
        others.remove(at: index)
        journal.rows[place].body = Self.object(others)
        let found = try Self.replayed(journal)
        switch member.name {
        case "diff": #expect(found == nil, "row \(place)")
        // Without them the detached records may be others, but not the stack.
        case "det", "gone": #expect(found == nil || found?.stack == expected.stack)
        default: #expect(found == expected, "row \(place) \(member.name)")
        }
      }
    }
  }

  @Test func `a change needs its revision, its digest and its list`() throws {
    let world = try Self.world(snapshotEvery: 1000)
    let expected = try world.entry("kiosk").controller
    for place in world.journal.rows.indices where world.journal.rows[place].kind == .changed {
      let members = try Self.members(world.journal.rows[place].body)
      let diff = try #require(members.firstIndex { $0.name == "diff" })
      let inner = try Self.members(members[diff].json)
      for (index, member) in inner.enumerated() {
        var (journal, others, row) = (world.journal, inner, members)
        others.remove(at: index)
        row[diff].json = Self.object(others)
        journal.rows[place].body = Self.object(row)
        let found = try Self.replayed(journal)
        if ["rev", "dig", "ch"].contains(member.name) {
          #expect(found == nil, "row \(place) without \(member.name)")
        } else {
          #expect(found == expected, "row \(place) without \(member.name)")
        }
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
    for place in journal.rows.indices {
      let members = try Self.members(journal.rows[place].body)
      journal.rows[place].body = Self.object(more + members + [("yy", Array("null".utf8))])
    }
    #expect(try Self.replayed(journal) == expected)
  }
}
