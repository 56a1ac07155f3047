@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct AccessTests {
  private let nobody = Peer.local(user: 1000, group: 1000, process: 1)
  private let key = Peer.key(name: "panel", address: "192.0.2.1")

  private func access(_ change: (inout Access) throws -> Void) rethrows -> Access {
    var access = Access(daemonUser: 7)
    try change(&access)
    return access
  }

  private func grant(_ who: Access.Subject, _ navs: String, _ rights: Rights) throws
    -> Access.Grant
  {
    Access.Grant(who, try #require(NavGlob(navs)), rights)
  }

  @Test(arguments: [0, 7] as [UInt32])
  func `root and the daemon's own user do everything, whatever lines say`(user: UInt32) throws {
    let peer = Peer.local(user: user, group: 5, process: 1)
    let access = try access {
      $0.roles = [Access.RoleRule(.ui, [.user(user)])]
      $0.grants = [try grant(.user(user), "x", .read)]
    }
    #expect(access.role(of: peer) == .admin)
    for nav in ["kiosk", "$navs", "$clients"] {
      #expect(access.rights(of: peer, on: nav, owner: "uid:1000") == .all)
    }
  }

  @Test(arguments: [7, 65534] as [UInt32])
  func `users outside the user namespace own nothing, and have only what a line names`(
    daemonUser: UInt32
  ) throws {
    let outside = Peer.local(user: 65534, group: 65534, process: 1)
    let all = try #require(NavGlob("*"))
    let admin = try #require(SessionActor(name: "a", role: .admin, navs: [all]))
    let actor = Peer.actor(admin, of: outside)
    var access = Access(daemonUser: daemonUser, unmappedUser: 65534)
    #expect(access.role(of: outside) == .none && !access.admits(outside))
    #expect(!access.administers(outside) && !access.maySpeakForActors(outside))
    #expect(access.rights(of: outside, on: "kiosk", owner: "uid:65534") == [])
    #expect(access.owner(createdBy: outside) == nil)
    #expect(access.role(of: nobody) == .ui && access.owner(createdBy: nobody) == "uid:1000")
    access.roles = [Access.RoleRule(.ui, [.user(65534)])]
    access.gateways = [.user(65534)]
    #expect(access.role(of: outside) == .ui && access.admits(outside))
    for owner in ["uid:65534", "", nil] {
      #expect(access.rights(of: outside, on: "kiosk", owner: owner) == [.read, .push, .pop])
    }
    #expect(access.owner(createdBy: actor) == nil)
    #expect(access.rights(of: actor, on: "kiosk", owner: actor.principal) == [.read, .push, .pop])
    // Where all users are mapped, it is a user as any other.
    access = Access(daemonUser: 7)
    #expect(access.rights(of: outside, on: "kiosk", owner: "uid:65534") == .all)
    #expect(Access(daemonUser: 65534).role(of: outside) == .admin)
  }

  @Test func `other users of the machine have the role ui out of the box`() {
    let access = Access(daemonUser: 7)
    #expect(access.role(of: nobody) == .ui)
    #expect(access.rights(of: nobody, on: "kiosk", owner: "uid:1") == [.read, .push, .pop])
    #expect(access.rights(of: nobody, on: "kiosk", owner: nil) == [.read, .push, .pop])
    #expect(access.rights(of: nobody, on: "$navs", owner: "") == .read)
    #expect(access.rights(of: nobody, on: "$clients", owner: "") == [])
    #expect(access.rights(of: nobody, on: "kiosk", owner: "uid:1000") == .all)
  }

  @Test func `a grant to anybody takes ui from users whom no line names`() throws {
    let access = try access { $0.grants = [try grant(.key("panel"), "hud", .read)] }
    #expect(access.role(of: nobody) == .none)
    #expect(access.rights(of: nobody, on: "kiosk", owner: "uid:1000") == [])
    #expect(!access.admits(nobody))
  }

  @Test func `a role line alone leaves ui to all others`() {
    let access = access { $0.roles = [Access.RoleRule(Role("operator"), [.user(4)])] }
    #expect(access.role(of: nobody) == .ui)
    #expect(access.role(of: .local(user: 4, group: 4, process: 1)) == Role("operator"))
  }

  @Test func `what is granted to role ui replaces what is built in`() throws {
    let access = try access {
      $0.roles = [Access.RoleRule(.ui, [.user(1000)])]
      $0.grants = [try grant(.role(.ui), "hud*", .read)]
    }
    #expect(access.rights(of: nobody, on: "kiosk", owner: nil) == [])
    #expect(access.rights(of: nobody, on: "hud-1", owner: nil) == .read)
    #expect(access.rights(of: nobody, on: "$navs", owner: "") == [])
  }

  @Test func `a role with a grant keeps what is built in when something is granted elsewhere`()
    throws
  {
    let access = try access {
      $0.roles = [Access.RoleRule(.ui, [.user(1000)])]
      $0.grants = [try grant(.user(1000), "kiosk", .admin)]
    }
    #expect(access.rights(of: nobody, on: "kiosk", owner: nil) == .all)
    #expect(access.rights(of: nobody, on: "hud", owner: nil) == [.read, .push, .pop])
  }

  @Test func `an unknown key has nothing, even if it is granted something by name`() throws {
    let access = try access {
      $0.roles = [Access.RoleRule(.admin, [.key("panel")])]
      $0.grants = [try grant(.key("panel"), "*", .all)]
    }
    #expect(access.role(of: key) == .none)
    #expect(access.rights(of: key, on: "kiosk", owner: "panel") == [])
    #expect(!access.admits(key))
  }

  @Test func `an authorised key without a role and a grant has nothing`() {
    let access = access { $0.keys.updateValue(nil, forKey: "panel") }
    #expect(access.role(of: key) == .none)
    #expect(access.rights(of: key, on: "kiosk", owner: "panel") == [])
    #expect(!access.admits(key))
  }

  @Test func `the role in a key's file goes before role lines`() {
    let access = access {
      $0.keys = ["panel": .ui]
      $0.roles = [Access.RoleRule(.admin, [.key("panel")])]
    }
    #expect(access.role(of: key) == .ui)
  }

  @Test func `the first role line that names a peer decides`() {
    let access = access {
      $0.roles = [
        Access.RoleRule(Role("a"), [.user(1), .group(1000)]),
        Access.RoleRule(.admin, [.user(1000)]),
      ]
    }
    #expect(access.role(of: nobody) == Role("a"))
    #expect(access.rights(of: nobody, on: "kiosk", owner: "uid:1000") == [])
  }

  @Test func `an owner has all rights only while he may push`() throws {
    let pusher = try access { $0.grants = [try grant(.user(1000), "kiosk", .push)] }
    #expect(pusher.rights(of: nobody, on: "kiosk", owner: "uid:1000") == .all)
    #expect(pusher.rights(of: nobody, on: "kiosk", owner: "uid:1") == .push)
    let reader = try access { $0.grants = [try grant(.user(1000), "kiosk", [.read, .pop])] }
    #expect(reader.rights(of: nobody, on: "kiosk", owner: "uid:1000") == [.read, .pop])
  }

  @Test func `the principal of a key is never that of a user`() {
    #expect(Peer.key(name: "uid", address: "").principal != "uid:1")
    #expect(Peer.local(user: 1, group: 1, process: 1).principal == "uid:1")
  }

  static let globs: [(String, [String], [String])] = [
    ("*", ["kiosk", "a/b"], ["$navs", "$clients"]), ("$*", ["$navs", "$clients"], ["navs"]),
    ("?navs", ["xnavs"], ["$navs"]), ("$navs", ["$navs"], ["$nav", "$navss"]),
    ("k?osk", ["kiosk", "kxosk"], ["kosk", "kiiosk"]),
    ("a*b*c", ["abc", "aXXbYbc"], ["ab", "acb"]),
    ("a**", ["a", "ab"], ["b"]), ("kiosk", ["kiosk"], ["kiosk2", "kios", "Kiosk"]),
    ("[a-z]*", [], ["a"]), ("a.c", ["a.c"], ["abc"]),
  ]

  @Test(arguments: globs) func `a pattern means what the manual says`(
    pattern: String, yes: [String], no: [String]
  ) throws {
    let glob = try #require(NavGlob(pattern))
    for name in yes { #expect(glob.matches(name), "\(pattern) \(name)") }
    for name in no { #expect(!glob.matches(name), "\(pattern) \(name)") }
  }

  @Test func `a pattern with many stars takes no time to fail`() throws {
    let glob = try #require(NavGlob(String(repeating: "a*", count: 127) + "b"))
    #expect(!glob.matches(String(repeating: "a", count: 128)))
    #expect(NavGlob("") == nil)
    #expect(NavGlob(String(repeating: "a", count: 257)) == nil)
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a quarter of a million rights are those of the manual`(part: UInt64) {
    var source = SeededGenerator(seed: 0x5EED_0000 + part)
    var checks = 0
    while checks < 250_000 {
      let sample = AccessSample(using: &source)
      let owners = [nil, "uid:1000", "panel", "uid:7"]
      for (somebody, peer) in sample.everybody(using: &source) {
        let role = sample.twin.role(of: somebody)
        if sample.access.role(of: peer) != Role(role ?? "none") {
          Issue.record("role of \(somebody) under \(sample.twin)")
        }
        for nav in AccessSample.navs {
          let owner = owners.randomElement(using: &source) ?? nil
          let rights = sample.access.rights(of: peer, on: nav, owner: owner)
          for (word, right) in Self.rights {
            checks += 1
            let expected = sample.twin.may(somebody, word, on: nav, owner: owner)
            guard rights.contains(right) != expected else { continue }
            Issue.record("\(somebody) \(word) \(nav) of \(owner ?? "-") under \(sample.twin)")
          }
        }
      }
    }
  }

  private static let rights: [(String, Rights)] = [
    ("read", .read), ("push", .push), ("pop", .pop), ("admin", .admin),
  ]
}
