import NavigationCore
import NavigationClient
import Testing

@Suite struct ReplicaTests {
  /// A replica that follows a nav.
  static func following(_ nav: FakeNav) throws -> Replica {
    var replica = Replica(nav: nav.name)
    _ = replica.beginWatch()
    _ = replica.receive(try ok(nav.watched(2, mode: "snap")))
    guard case .replaced = replica.receive(try snap(nav.snapshot())) else {
      throw Unexpected(what: "snapshot not taken")
    }
    return replica
  }

  @Test func `a snapshot makes a mirror whose digest is proved`() throws {
    let nav = FakeNav()
    let replica = try Self.following(nav)
    #expect(replica.isSynced)
    #expect(replica.mirror?.position == nav.position)
    #expect(replica.mirror?.screens.map(\.id) == ["home"])
  }

  @Test(arguments: 1...5)
  func `a snapshot in parts is taken whole or not at all`(size: Int) throws {
    var nav = FakeNav()
    let before = try Self.following(nav)
    for id in ["a", "b", "c", "d"] { _ = nav.push(id) }
    var replica = before
    let parts = nav.snapshots(of: size, why: "lag")
    for part in parts.dropLast() {
      #expect(replica.receive(try snap(part)) == .wait)
      #expect(replica.mirror == before.mirror)
      #expect(!replica.isSynced)
    }
    let last = try snap(#require(parts.last))
    #expect(replica.receive(last) == .replaced(why: "lag"))
    #expect(replica.mirror?.position == nav.position)
    #expect(replica.isSynced)
  }

  @Test func `a missing part of a snapshot makes the mirror suspect`() throws {
    var nav = FakeNav()
    for id in ["a", "b", "c"] { _ = nav.push(id) }
    var replica = try Self.following(nav)
    let parts = nav.snapshots(of: 1)
    _ = replica.receive(try snap(parts[0]))
    guard case .rewatch(from: nil, _) = replica.receive(try snap(parts[2])) else {
      Issue.record("not asked again")
      return
    }
    #expect(replica.isSuspect)
  }

  @Test func `diffs in a row carry the mirror on`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    for _ in 0..<3 {
      for id in ["a", "b"] {
        guard case .applied = replica.receive(try diff(nav.push(id))) else {
          Issue.record("push of \(id) not applied")
          return
        }
      }
      for _ in 0..<2 { _ = replica.receive(try diff(nav.pop())) }
      #expect(replica.mirror?.position == nav.position)
    }
    #expect(replica.isSynced)
  }

  @Test func `a set replaces one record and keeps members nobody knows`() throws {
    var nav = FakeNav()
    _ = nav.push("wifi")
    var replica = try Self.following(nav)
    nav.revision += 1
    nav.screens[0].ver = nav.revision
    let record = #"{"id":"home","ver":\#(nav.revision),"future":[1]}"#
    let change = #"{"set":"screen","to":\#(record)}"#
    guard case .applied = replica.receive(try diff(nav.diff(change, event: "x", "home"))) else {
      Issue.record("not applied")
      return
    }
    #expect(replica.mirror?.screens[0].json.bytes == Array(record.utf8))
    #expect(replica.mirror?.position == nav.position)
  }

  @Test func `an old or doubled diff is ignored`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let first = try diff(nav.push("a"))
    let second = try diff(nav.push("b"))
    _ = replica.receive(first)
    _ = replica.receive(second)
    let mirror = replica.mirror
    #expect(replica.receive(first) == .ignore)
    #expect(replica.receive(second) == .ignore)
    #expect(replica.mirror == mirror)
    #expect(replica.isSynced)
  }

  @Test func `another digest at the mirror's revision makes it suspect`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    var other = nav
    _ = replica.receive(try diff(nav.push("a")))
    let action = replica.receive(try diff(other.push("b")))
    let bad = MirrorPosition(
      epoch: nil, revision: nav.position.revision, digest: nav.position.digest)
    #expect(action == .rewatch(bad: bad))
    #expect(replica.isSuspect)
  }

  @Test func `a gap resumes from the mirror and touches nothing`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let position = nav.position
    let mirror = replica.mirror
    let lost = try diff(nav.push("a"))
    let next = try diff(nav.push("b"))
    #expect(replica.receive(next) == .rewatch(from: position))
    #expect(replica.mirror == mirror)
    #expect(!replica.isSynced)
    let asked = replica.beginWatch()
    #expect(asked.from == position)
    #expect(asked.bad == nil)
    #expect(replica.receive(next) == .ignore)
    #expect(replica.receive(try ok(nav.watched(3, mode: "resume"))) == .resumed)
    #expect(replica.receive(lost) == .applied(lost))
    #expect(replica.receive(next) == .applied(next))
    #expect(replica.isSynced)
  }

  @Test func `a diff of another epoch is a gap`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let position = nav.position
    nav.epoch = "00000000deadbeef"
    #expect(replica.receive(try diff(nav.push("a"))) == .rewatch(from: position))
  }

  @Test(arguments: [
    #"{"at":1,"del":["other"],"ins":[]}"#, #"{"at":7,"del":[],"ins":[]}"#,
    #"{"at":0,"del":["home","x"],"ins":[]}"#, #"{"set":"screen","to":{"id":"nobody","ver":2}}"#,
    #"{"set":"nopart","to":{"ver":2}}"#,
  ])
  func `a change that does not fit makes the mirror suspect and leaves it`(
    change: String
  ) throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let mirror = replica.mirror
    nav.revision += 1
    guard
      case .rewatch(from: nil, let bad?) = replica.receive(
        try diff(nav.diff(change, event: "x", "x")))
    else {
      Issue.record("applied")
      return
    }
    #expect(bad.epoch == nil)
    #expect(replica.mirror == mirror)
    #expect(replica.beginWatch().from == nil)
  }

  @Test func `a wrong digest reports what was computed and keeps the mirror`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let mirror = replica.mirror
    let good = nav.push("a")
    let right = nav.digest
    let wrong = good.replacing(right, with: "00000000" + right.dropFirst(8))
    let bad = MirrorPosition(
      epoch: nil, revision: Revision(nav.revision), digest: try #require(Digest(right)))
    #expect(replica.receive(try diff(wrong)) == .rewatch(bad: bad))
    #expect(replica.mirror == mirror)
    #expect(replica.guards(for: .top) == nil)
    #expect(replica.beginWatch().bad == bad)
    _ = replica.receive(try ok(nav.watched(3, mode: "snap")))
    #expect(replica.isSuspect)
    #expect(replica.receive(try snap(nav.snapshot(why: "digest"))) == .replaced(why: "digest"))
    #expect(!replica.isSuspect)
    #expect(replica.isSynced)
  }

  @Test func `after a fault the digest is computed from the mirror that stayed`() throws {
    var nav = FakeNav()
    for id in ["a", "b", "c"] { _ = nav.push(id) }
    var replica = try Self.following(nav)
    var strange = nav
    strange.screens[1].ver = 99
    _ = replica.receive(
      try diff(strange.diff(#"{"at":4,"del":[],"ins":[]}"#, event: "x", "x")))
    _ = replica.beginWatch()
    _ = replica.receive(try ok(nav.watched(3, mode: "snap")))
    _ = replica.receive(try snap(nav.snapshot()))
    let next = try diff(nav.pop())
    #expect(replica.receive(next) == .applied(next))
  }

  @Test func `a mark ahead of the mirror makes it suspect, an equal one proves it`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    #expect(replica.receive(try mark(nav.mark)) == .ignore)
    #expect(replica.isSynced)
    let old = try mark(nav.mark)
    _ = replica.receive(try diff(nav.push("a")))
    #expect(replica.receive(old) == .ignore)
    _ = nav.push("b")
    guard case .rewatch(from: nil, _?) = replica.receive(try mark(nav.mark)) else {
      Issue.record("not suspect")
      return
    }
    #expect(replica.isSuspect)
  }

  @Test func `an end drops the mirror`() throws {
    let nav = FakeNav()
    var replica = try Self.following(nav)
    #expect(replica.receive(try end(nav.end())) == .ended(.ended(why: "closed", endpoint: nil)))
    #expect(replica.mirror == nil)
    #expect(replica.phase == .idle)
    #expect(replica.receive(try snap(nav.snapshot())) == .ignore)
  }

  @Test func `guards are built only while synced`() throws {
    let nav = FakeNav()
    var replica = Replica(nav: nav.name)
    #expect(replica.guards(for: .top) == nil)
    _ = replica.beginWatch()
    #expect(replica.guards(for: .top) == nil)
    _ = replica.receive(try ok(nav.watched(1, mode: "snap")))
    #expect(replica.guards(for: .top) == nil)
    _ = replica.receive(try snap(nav.snapshot()))
    let guards = try #require(replica.guards(for: .top))
    #expect(guards.top == .some("home"))
    #expect(guards.epoch == nav.position.epoch)
    #expect(replica.guards(for: .stack)?.stack == ["home"])
    #expect(replica.guards(for: .revision)?.revision == Revision(1))
    #expect(replica.guards(for: .digest)?.digest == nav.position.digest)
    _ = replica.beginWatch()
    #expect(replica.guards(for: .top) == nil)
    #expect(!replica.isSynced)
  }

  @Test func `a resumption that was not asked for is not believed`() throws {
    var nav = FakeNav()
    var replica = Replica(nav: nav.name)
    _ = replica.beginWatch()
    #expect(replica.receive(try ok(nav.watched(1, mode: "resume"))) == .rewatch())
    replica = try Self.following(nav)
    _ = replica.beginWatch()
    nav.epoch = "00000000deadbeef"
    guard case .rewatch(from: nil, _?) = replica.receive(try ok(nav.watched(2, mode: "resume")))
    else {
      Issue.record("believed")
      return
    }
  }

  @Test func `a snapshot with a wrong digest is not shown`() throws {
    var nav = FakeNav()
    var replica = try Self.following(nav)
    let mirror = replica.mirror
    _ = nav.push("a")
    let wrong = nav.snapshot().replacing(nav.digest, with: "00000000" + nav.digest.dropFirst(8))
    guard case .rewatch(from: nil, _?) = replica.receive(try snap(wrong)) else {
      Issue.record("shown")
      return
    }
    #expect(replica.mirror == mirror)
  }

  @Test func `a diff or a mark before the awaited snapshot means that it is lost`() throws {
    var nav = FakeNav()
    var replica = Replica(nav: nav.name)
    _ = replica.beginWatch()
    _ = replica.receive(try ok(nav.watched(1, mode: "snap")))
    #expect(replica.receive(try mark(nav.mark)) == .rewatch())
    _ = replica.beginWatch()
    _ = replica.receive(try ok(nav.watched(2, mode: "snap")))
    #expect(replica.receive(try diff(nav.push("a"))) == .rewatch())
  }

  @Test func `a nav without parts, and one without screens, is proved too`() throws {
    let digest = Digest(
      checksum: Digest.checksum(screens: [("kiosk", 1)], parts: []), chain: 5
    ).text
    let record = #"{"id":"kiosk","ver":1,"kind":"controller","epoch":"c0ffee12c0ffee12"}"#
    let directory =
      #"{"nav":"$navs","epoch":"5d0c8f1e77aa92b4","rev":1,"i":0,"last":true,"screens":[\#(record)],"dig":"\#(digest)"}"#
    var replica = Replica(nav: "$navs")
    _ = replica.beginWatch()
    _ = replica.receive(
      try ok(#"{"id":1,"nav":"$navs","mode":"snap","epoch":"5d0c8f1e77aa92b4","rev":1}"#))
    #expect(replica.receive(try snap(directory)) == .replaced(why: nil))
    var nav = FakeNav()
    nav.screens = []
    let empty = try Self.following(nav)
    #expect(empty.guards(for: .top)?.top == .some(nil))
  }

  @Test func `a refused watch leaves the replica idle, and without a mirror if the nav is gone`()
    throws
  {
    func refusal(_ code: String) throws -> ErrReply {
      let body = #"{"id":3,"code":"\#(code)","msg":"","effect":"none","retry":"later"}"#
      guard case .err(let refusal) = try read(.err, body) else { throw Unexpected(what: body) }
      return refusal
    }
    var replica = try Self.following(FakeNav())
    _ = replica.beginWatch()
    #expect(replica.receive(try refusal("busy")) == .ended(.refused(try refusal("busy"))))
    #expect(replica.phase == .idle)
    #expect(replica.mirror != nil)
    _ = replica.beginWatch()
    _ = replica.receive(try refusal("no-nav"))
    #expect(replica.mirror == nil)
  }
}
