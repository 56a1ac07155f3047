import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Ops decided while the batch before them is being committed.
@Suite struct SealTests {
  static func push(_ id: String) -> String { #"{"push":{"screen":{"id":"\#(id)"}}}"# }

  /// `torture simulate 1084032`: the other watch got the body of an answer.
  @Test func `a diff that leaves ahead of a commit is shared with nothing behind it`() throws {
    let world = World()
    let owner = try world.kiosk()
    let viewers = [try world.client(2), try world.client(3)]
    for viewer in viewers { try viewer.watch() }
    try world.turn(viewers.map { .blocked($0.connection) })
    try owner.must(#"{"push":{"screen":{"id":"a"}}}"#)
    try owner.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "other")
    for viewer in viewers { try world.handle(.unblocked(viewer.connection)) }
    let push = owner.opBody(#"{"push":{"screen":{"id":"b"}}}"#, nav: "other")
    try world.handle(owner.message("op", push))
    let records = world.hub.takeRecords()
    world.hub.seal()
    let get = viewers[0].message("get", #"{"id":\#(viewers[0].nextID()),"nav":"kiosk"}"#)
    let output = world.hub.answerAhead(get, at: world.now)
    let ahead = try #require(output).messages
    #expect(ahead.map(\.verb) == [.diff, .ok])
    world.journal.commit(records)
    let behind = world.hub.committed(at: world.now).messages
    let diff = try #require(behind.first { $0.connection == viewers[1].connection })
    #expect(diff.verb == .diff && diff.body == ahead[0].body)
  }

  @Test func `nothing of an early decision leaves before its own commit`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let (first, second) = try world.overlap(
      [client.message("op", client.opBody(Self.push("a")))],
      [client.message("op", client.opBody(Self.push("b")))])
    #expect(first.map(\.verb) == [.diff, .ok])
    #expect(first.map(\.revision) == [2, 2])
    #expect(second.map(\.verb) == [.diff, .ok])
    #expect(second.map(\.revision) == [3, 3])
  }

  @Test func `a read of what is durable is answered before the commit under way, no other`() throws
  {
    let world = World()
    let (client, other) = (try world.kiosk(), try world.client(2))
    try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "calm")
    try client.watch()
    try world.handle(client.message("op", client.opBody(Self.push("a"))))
    let records = world.hub.takeRecords()
    func ahead(_ verb: String, _ members: String) throws -> [Sent]? {
      let event = other.message(verb, "{\"id\":\(other.nextID())\(members)}")
      guard let output = world.hub.answerAhead(event, at: world.now) else { return nil }
      let start = world.sent.count
      try world.take(output)
      return Array(world.sent[start...])
    }
    // Not beside what was decided and is not sealed.
    #expect(try ahead("ping", "") == nil)
    world.hub.seal()
    #expect(try ahead("ping", "")?.map(\.verb) == [.pong])
    let calm = try #require(try ahead("get", #","nav":"calm""#))
    #expect(calm.map(\.verb) == [.ok] && calm[0].revision == 1)
    for members in [#","nav":"kiosk""#, #","nav":"none""#, #","nav":"$navs""#, #","what":"stats""#]
    {
      #expect(try ahead("get", members) == nil, "\(members)")
    }
    #expect(try ahead("get", #","nav":"calm","what":"log""#) == nil)
    #expect(try ahead("watch", #","nav":"calm""#) == nil)
    world.journal.commit(records)
    try world.take(world.hub.committed(at: world.now))
    let last = world.sent.suffix(2)
    #expect(last.map(\.verb) == [.diff, .ok] && last.allSatisfy { $0.revision == 2 })
    #expect(try other.get("state").revision == 2)
  }

  @Test func `a read of the history waits for the commit of what it reads`() throws {
    let world = World()
    let (client, other) = (try world.kiosk(), try world.client(2))
    try world.handle(client.message("op", client.opBody(Self.push("a"))))
    let read = #"{"id":\#(other.nextID()),"nav":"kiosk","what":"log","from":1}"#
    try world.handle(other.message("get", read))
    let records = world.hub.takeRecords()
    world.hub.seal()
    let ping = other.message("ping", "{\"id\":\(other.nextID())}")
    let ahead = world.hub.answerAhead(ping, at: world.now)
    #expect(ahead?.messages.count == 1 && ahead?.requests.isEmpty == true)
    world.journal.commit(records)
    let output = world.hub.committed(at: world.now)
    #expect(output.requests.count == 1)
    try world.take(output)
  }

  @Test(arguments: 0..<8 as Range<UInt64>)
  func `a read ahead shows each nav that is durable, and no other`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let world = World()
    let (client, other) = (try world.client(1), try world.client(2))
    var decided: [String: Int] = [:]
    for nav in ["a", "b", "c"] {
      try client.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: nav)
      decided[nav] = 1
    }
    var durable = decided
    var sealed: [(records: JournalRecords, after: [String: Int])] = []
    for step in 0..<60 {
      if sealed.count < 3, Bool.random(using: &random) {
        let nav = try #require(["a", "b", "c"].randomElement(using: &random))
        try world.handle(client.message("op", client.opBody(Self.push("s\(step)"), nav: nav)))
        decided[nav, default: 0] += 1
        sealed.append((world.hub.takeRecords(), decided))
        world.hub.seal()
      } else if !sealed.isEmpty {
        let batch = sealed.removeFirst()
        world.journal.commit(batch.records)
        try world.take(world.hub.committed(at: world.now))
        durable = batch.after
      }
      for nav in ["a", "b", "c"] {
        let event = other.message("get", #"{"id":\#(other.nextID()),"nav":"\#(nav)"}"#)
        let output = world.hub.answerAhead(event, at: world.now)
        let isAhead = !sealed.isEmpty && durable[nav] == decided[nav]
        #expect((output != nil) == isAhead, "step \(step): \(nav)")
        guard let output else { continue }
        try world.take(output)
        #expect(world.sent.last?.revision == durable[nav], "step \(step): \(nav)")
      }
    }
  }

  @Test func `a failed commit takes the early decisions behind it back too`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let before = try world.standing("kiosk")
    world.journal.isFailing = true
    let (sent, _) = try world.overlap(
      [client.message("op", client.opBody(Self.push("a")))],
      [
        client.message("op", client.opBody(Self.push("b"))),
        client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "other")),
      ])
    #expect(sent.map(\.code) == ["storage", "storage", "storage"])
    #expect(try world.standing("kiosk") == before)
    world.journal.isFailing = false
    #expect(try client.get("state", nav: "other").code == "no-nav")
    #expect(try client.must(Self.push("a")).revision == 2)
    try world.restart()
    #expect(try world.entry("kiosk").controller.stack.map(\.id.text) == ["home", "a"])
  }

  @Test func `an op sent twice runs once, also while its first commit is under way`() throws {
    let world = World()
    let client = try world.kiosk()
    let op = client.message("op", client.opBody(Self.push("a")))
    let (first, second) = try world.overlap([op], [op])
    #expect(first.count == 1)
    #expect(second.map(\.text) == first.map(\.text))
    #expect(try world.entry("kiosk").controller.revision == Revision(2))
  }

  @Test func `a nav closed by a batch is gone for the ops decided early`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    let (first, second) = try world.overlap(
      [client.message("op", client.opBody(#"{"nav.close":{}}"#, #""if":{"rev":1}"#))],
      [
        client.message("op", client.opBody(Self.push("a"))),
        client.message("op", client.opBody(#"{"nav.create":{"root":{"id":"new"}}}"#)),
      ])
    #expect(first.map(\.verb).contains(.end))
    #expect(second.map(\.code) == ["no-nav", nil])
    try world.restart()
    #expect(try world.entry("kiosk").controller.stack.map(\.id.text) == ["new"])
  }

  @Test func `a batch is not sealed if a watched directory has to show what it made`() throws {
    let world = World()
    let client = try world.kiosk()
    let create = #"{"nav.create":{"root":{"id":"r"}}}"#
    func maySealAfter(_ body: String) throws -> Bool {
      world.hub.handle(client.message("op", body), at: world.now)
      defer { world.journal.commit(world.hub.takeRecords()) }
      return world.hub.mayDecideDuringCommit
    }
    #expect(try maySealAfter(client.opBody(create, nav: "one")))
    try world.take(world.hub.committed(at: world.now))
    try client.watch(nav: "$navs")
    #expect(try maySealAfter(client.opBody(Self.push("a"))))
    try world.take(world.hub.committed(at: world.now))
    #expect(try !maySealAfter(client.opBody(create, nav: "two")))
    try world.take(world.hub.committed(at: world.now))
    let admin = try world.client(9, user: 0)
    try admin.watch(nav: "$clients")
    // The lag of sessions is due a quarter of a second after the last revision, and waits for a batch
    // behind which nothing is decided.
    #expect(try maySealAfter(client.opBody(Self.push("b"))))
    try world.take(world.hub.committed(at: world.now))
    world.advance(VirtualNavPace.interval(records: 2))
    #expect(try !maySealAfter(client.opBody(Self.push("c"))))
  }

  /// Found by the simulation (seed 401) when watches of `$clients` no longer kept batches from being
  /// sealed: the answer left before the snapshot.
  @Test(arguments: [true, false])
  func `a watch that needs a snapshot gets it before the answer to an op`(isBlocked: Bool) throws {
    let world = World { $0.resumeRevisions = 2 }
    let client = try world.kiosk(isBlocked ? "" : #","window":16384"#)
    let other = try world.client(2)
    try other.must(#"{"nav.create":{"root":{"id":"r"}}}"#, nav: "other")
    try client.watch(nav: "other")
    try client.watch()
    let text = String(repeating: "x", count: 6000)
    let fill = { (id: String) in #"{"push":{"screen":{"id":"\#(id)","args":"\#(text)"}}}"# }
    let any = #""if":{"any":true}"#
    if isBlocked { try world.turn([.blocked(client.connection)]) }
    for id in ["a", "b", "c", "d", "e", "f"] {
      for nav in ["other", "kiosk"] { try other.must(fill(id), nav: nav, any) }
    }
    let resumes: HubEvent =
      isBlocked
      ? .unblocked(client.connection) : client.message("credit", #"{"upto":9007199254740991}"#)
    world.hub.handle(resumes, at: world.now)
    #expect(!world.hub.mayDecideDuringCommit)
    world.hub.handle(client.message("op", client.opBody(SealTests.push("g"), any)), at: world.now)
    world.journal.commit(world.hub.takeRecords())
    let messages = world.hub.committed(at: world.now).messages.filter {
      $0.connection == client.connection
    }
    let ok = try #require(messages.firstIndex { $0.verb == .ok })
    let snapshots = messages[..<ok].filter {
      $0.verb == .snap && String(decoding: $0.body, as: UTF8.self).contains(#""nav":"kiosk""#)
    }
    #expect(!snapshots.isEmpty)
    // A session that has got everything keeps no batch from being sealed.
    world.hub.handle(.blocked(client.connection), at: world.now)
    try world.take(world.hub.committed(at: world.now))
    world.hub.handle(.unblocked(client.connection), at: world.now)
    #expect(world.hub.mayDecideDuringCommit)
  }

  @Test func `any number of batches may be sealed, and each commit lets one go`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.watch()
    var batches: [JournalRecords] = []
    for id in ["a", "b", "c"] {
      world.hub.handle(client.message("op", client.opBody(Self.push(id))), at: world.now)
      batches.append(world.hub.takeRecords())
      world.hub.seal()
    }
    #expect(world.hub.sealedCount == 3)
    for revision: UInt64 in 2...4 {
      world.journal.commit(batches.removeFirst())
      let sent = world.hub.committed(at: world.now).messages
      #expect(sent.map(\.verb) == [.diff, .ok])
      #expect(
        sent.allSatisfy {
          String(decoding: $0.body, as: UTF8.self).contains("\"rev\":\(revision),")
        })
    }
  }

  @Test
  func `a view of the top is served when all of the nav is durable, and asks for that moment`()
    throws
  {
    let world = World()
    let client = try world.kiosk()
    try client.watch(#""view":"top""#)
    let (first, second) = try world.overlap(
      [client.message("op", client.opBody(Self.push("a")))],
      [client.message("op", client.opBody(Self.push("b")))])
    #expect(first.map(\.verb) == [.ok])
    #expect(second.filter { $0.verb == .latest }.map(\.revision) == [3])
    world.hub.handle(client.message("op", client.opBody(Self.push("c"))), at: world.now)
    let records = world.hub.takeRecords()
    world.hub.seal()
    world.hub.handle(client.message("op", client.opBody(Self.push("d"))), at: world.now)
    world.journal.commit(records)
    _ = world.hub.committed(at: world.now)
    #expect(!world.hub.mayDecideDuringCommit)
    world.journal.commit(world.hub.takeRecords())
    #expect(world.hub.committed(at: world.now).messages.contains { $0.verb == .latest })
    #expect(world.hub.mayDecideDuringCommit)
  }

  @Test
  func
    `a requester gets its diff before the answer, also when the ring is shorter than what is sealed`()
    throws
  {
    let world = World { $0.resumeRevisions = 1 }
    let client = try world.kiosk()
    try client.watch()
    let (first, second) = try world.overlap(
      [client.message("op", client.opBody(Self.push("a")))],
      [
        client.message("op", client.opBody(Self.push("b"))),
        client.message("op", client.opBody(Self.push("c"))),
      ])
    #expect(first.map(\.verb) == [.diff, .ok])
    #expect(second.map(\.verb) == [.diffs, .ok, .ok])
  }

  /// The law: overlapping changes when things leave, never what they say.
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `overlapped batches say the same as batches one by one`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plain = World()
    let sealed = World()
    let clients = (try plain.kiosk(), try sealed.kiosk())
    try clients.0.watch()
    try clients.1.watch()
    for round in 0..<30 {
      var bodies: [[String]] = [[], []]
      for batch in 0..<2 {
        for index in 0..<Int(random.next() % 4) {
          let ops = [
            Self.push("s\(seed)-\(round)-\(batch)-\(index)"), #"{"pop":{}}"#, #"{"popToRoot":{}}"#,
            #"{"item.set":{"screen":"home","title":"t\#(random.next() % 3)"}}"#,
          ]
          let body = clients.0.opBody(ops[Int(random.next() % 4)], #""if":{"any":true}"#)
          bodies[batch].append(body)
        }
      }
      var expected = try plain.turn(bodies[0].map { clients.0.message("op", $0) })
      expected += try plain.turn(bodies[1].map { clients.0.message("op", $0) })
      let (first, second) = try sealed.overlap(
        bodies[0].map { clients.1.message("op", $0) }, bodies[1].map { clients.1.message("op", $0) }
      )
      #expect((first + second).map(\.text) == expected.map(\.text), "seed \(seed)")
    }
    let live = try sealed.entry("kiosk").controller
    #expect(live == (try plain.entry("kiosk").controller))
    try sealed.restart()
    #expect(try sealed.entry("kiosk").controller == live)
  }
}
