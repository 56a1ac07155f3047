@testable import NavigationCore
import Testing

@testable import NavigationClient

@Suite struct ClusterReplicaTests {
  /// A client in a world without a network, whose daemons the test plays.
  struct Rig {
    var client = ClusterReplica(client: ClientID(high: 1, low: 2), name: "t", seed: 7)
    var now: UInt64 = 1000

    mutating func open(
      _ link: LinkID = .first, at place: String? = nil, boot: UInt64? = nil,
      as principal: String? = nil
    ) throws -> [ClusterOutput] {
      let hello = client.connected(link, to: place, at: now)
      guard let member = client.members.first(where: { $0.link == link }),
        case .greeting(let nonce) = member.session.phase
      else { return hello }
      let welcome = Welcome(
        nonce: nonce, boot: Epoch(bits: boot ?? link.number), server: "", heartbeat: 60_000,
        role: "ui", principal: principal, lastOp: 0, window: 1 << 20, maximumBody: 65536)
      return receive(.welcome(welcome), .welcome, from: link)
    }

    mutating func receive(
      _ message: ServerMessage, _ verb: ServerVerb, from link: LinkID = .first
    ) -> [ClusterOutput] {
      client.receive(message, verb: verb, octets: 9, from: link, at: now)
    }

    mutating func refuse(
      _ id: UInt64, _ code: ErrorCode = .moved, to endpoint: String? = nil, after: UInt64? = nil,
      from link: LinkID = .first
    ) -> [ClusterOutput] {
      var refusal = ErrReply(
        id: id, code: code.rawValue, message: "", effect: "none", retry: code.retry.rawValue,
        body: OpaqueJSON(validated: Array("{}".utf8)))
      refusal.daemon = endpoint.map { DaemonAddress(endpoint: $0, key: "k") }
      refusal.reason = code == .busy ? "no-owner" : nil
      refusal.after = after
      return receive(.err(refusal), .err, from: link)
    }

    mutating func perform(_ nav: String) -> (id: UInt64, outputs: [ClusterOutput]) {
      client.perform(OpRequest(id: 0, nav: nav), operations: [Array(#"{"pop":{}}"#.utf8)])
    }

    /// Watches a nav up to its snapshot.
    mutating func follow(_ nav: String, from link: LinkID = .first) throws {
      let id = try #require(client.watch(nav).sent.first?.id)
      var answer = OkReply(id: id, nav: nav)
      answer.watchMode = "snap"
      _ = receive(.ok(answer), .ok, from: link)
      var part = NaiveNav().snapshot(of: 9)[0]
      part.nav = nav
      _ = receive(.snap(part), .snap, from: link)
      #expect(client.replica(of: nav)?.isSynced == true)
    }

    /// Opens a session with a second daemon, which has a nav.
    mutating func second(_ nav: String = "far", at endpoint: String = "tcp://b") throws -> LinkID {
      let (id, _) = perform(nav)
      let link = try #require(refuse(id, to: endpoint).connected.first?.link)
      _ = try open(link, at: endpoint)
      _ = receive(.ok(OkReply(id: id, nav: nav)), .ok, from: link)
      return link
    }
  }

  @Test("rule 3: an op that may have run goes to no daemon that knows the client by another name")
  func principals() throws {
    for (former, latter, isRepeated) in [
      ("uid:1@m", "uid:1@m", true), ("uid:1@a", "uid:1@b", false), ("till", "till", true),
    ] {
      var rig = Rig()
      _ = try rig.open(as: former)
      let (id, _) = rig.perform("kiosk")
      _ = rig.client.disconnected(.first, at: rig.now)
      #expect(try rig.open(as: former).sent.contains { $0.id == id })
      let (read, _) = rig.client.get(GetRequest(id: 0, nav: "kiosk"))
      let link = try #require(rig.refuse(id, to: "tcp://b").connected.first?.link)
      let outputs = try rig.open(link, at: "tcp://b", as: latter)
      #expect(outputs.sent.contains { $0.id == id } == isRepeated, "\(former), \(latter)")
      let refusal = outputs.failed.first
      #expect((refusal == nil) == isRepeated)
      if let refusal {
        #expect(refusal.id == id && refusal.code == "op-too-old" && refusal.effect == "unknown")
        // A read has no effect, so it goes on.
        #expect(outputs.sent.contains { $0.id == read })
      }
    }
  }

  @Test("rule 3: an op that a daemon refused as moved goes on under another name")
  func principalOfRefused() throws {
    var rig = Rig()
    _ = try rig.open(as: "uid:1@a")
    let (id, _) = rig.perform("kiosk")
    let link = try #require(rig.refuse(id, to: "tcp://b").connected.first?.link)
    #expect(try rig.open(link, at: "tcp://b", as: "uid:1@b").sent.contains { $0.id == id })
  }

  @Test func `one daemon costs nothing but its session`() throws {
    var rig = Rig()
    _ = try rig.open()
    try rig.follow("kiosk")
    let (id, outputs) = rig.perform("kiosk")
    #expect(outputs.sent.map(\.link) == [.first])
    #expect(rig.receive(.ok(OkReply(id: id)), .ok).answered == [id])
    #expect(rig.client.members.count == 1 && rig.client.navLinks.isEmpty)
    // A daemon that is away is waited for, however long that is.
    _ = rig.client.disconnected(.first, at: rig.now)
    for _ in 0..<50 { #expect(rig.client.failed(.first, at: rig.now).isEmpty) }
    #expect(rig.client.wakeAt == nil)
    #expect(rig.client.failed(.first, isFinal: true, at: rig.now).isEmpty)
  }

  @Test func `an op goes to the daemon that has its nav, with its octets and its key`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, outputs) = rig.perform("kiosk")
    let (next, more) = rig.perform("kiosk")
    #expect(more.sent.count == 1)
    let connects = rig.refuse(id, to: "tcp://b").connected
    let link = try #require(connects.first?.link)
    #expect(connects.first?.address == DaemonAddress(endpoint: "tcp://b", key: "k"))
    // The second one's refusal comes too late to matter.
    #expect(rig.refuse(next, to: "tcp://b").isEmpty)
    let sent = try rig.open(link).sent
    #expect(sent.map(\.id) == [id] && sent.allSatisfy { $0.link == link })
    #expect(sent.first?.body == outputs.sent.first?.body)
    // The next one waits until it is known that the daemon has the nav.
    let answered = rig.receive(.ok(OkReply(id: id)), .ok, from: link)
    #expect(answered.answered == [id] && answered.sent.map(\.id) == [next])
    // The nav stays there, and ids rise over both sessions.
    let (third, later) = rig.perform("kiosk")
    #expect(third > next && later.sent.map(\.link) == [link])
    let (fourth, here) = rig.perform("other")
    #expect(fourth > third && here.sent.map(\.link) == [.first])
  }

  @Test func `a watch moves with its mirror, and another nav's is not touched`() throws {
    var rig = Rig()
    _ = try rig.open()
    try rig.follow("kiosk")
    try rig.follow("lobby")
    let position = try #require(rig.client.replica(of: "kiosk")?.mirror?.position)
    let end = WatchEnd(
      nav: "kiosk", view: "full", epoch: Epoch(bits: 1), revision: Revision(1), why: "moved",
      daemon: DaemonAddress(endpoint: "tcp://b"))
    let outputs = rig.receive(.end(end), .end)
    #expect(rig.client.replica(of: "kiosk")?.isSynced == false)
    #expect(rig.client.replica(of: "lobby")?.isSynced == true)
    let sent = try rig.open(try #require(outputs.connected.first?.link)).sent
    #expect(sent.map(\.verb) == [.watch])
    #expect(sent[0].body.contains(#""rev":\#(position.revision.number)"#))
    #expect(outputs.sent.isEmpty)
    // Without a nav, a request is the seed's.
    let stats = rig.client.get(GetRequest(id: 0, nav: nil, what: .stats)).outputs
    #expect(stats.sent.map(\.link) == [.first])
  }

  @Test func `roles and a kept lease are requested again, questions are void`() throws {
    var rig = Rig()
    _ = try rig.open()
    let lease = rig.client.lease("kiosk", .take, isKept: true).sent[0].id
    _ = rig.receive(.ok(OkReply(id: lease, nav: "kiosk", leaseOwner: "t")), .ok)
    let roles = rig.client.delegate("kiosk", DelegateRegistration(roles: [.veto])).sent[0].id
    _ = rig.receive(.ok(OkReply(id: roles, nav: "kiosk")), .ok)
    let (id, _) = rig.perform("kiosk")
    let outputs = rig.refuse(id, to: "tcp://b")
    #expect(
      outputs.duties == [
        .interrupted(nav: "kiosk"), .leaseLost(nav: "kiosk", isTakenAgain: true),
      ])
    let link = try #require(outputs.connected.first?.link)
    #expect(try rig.open(link).sent.map(\.verb) == [.delegate, .lease, .op])
  }

  @Test func `roles and a lease without a watch move with their nav`() throws {
    var rig = Rig()
    _ = try rig.open()
    let lease = rig.client.lease("kiosk", .take, isKept: true).sent[0].id
    let end = WatchEnd(
      nav: "kiosk", view: "full", epoch: Epoch(bits: 1), revision: Revision(3), why: "moved",
      daemon: DaemonAddress(endpoint: "tcp://b", key: "k"))
    // Its own answer decides about a request under way.
    #expect(rig.receive(.end(end), .end).isEmpty)
    _ = rig.receive(.ok(OkReply(id: lease, nav: "kiosk", leaseOwner: "t")), .ok)
    let roles = rig.client.delegate("kiosk", DelegateRegistration(roles: [.veto])).sent[0].id
    _ = rig.receive(.ok(OkReply(id: roles, nav: "kiosk")), .ok)
    // Also while a watch is unanswered, which the end is not about.
    _ = rig.client.watch("kiosk")
    let outputs = rig.receive(.end(end), .end)
    #expect(
      outputs.duties == [
        .interrupted(nav: "kiosk"), .leaseLost(nav: "kiosk", isTakenAgain: true),
      ])
    let link = try #require(outputs.connected.first?.link)
    #expect(try rig.open(link).sent.map(\.verb) == [.watch, .delegate, .lease])
  }

  @Test func `a lease that is not kept is lost with the move`() throws {
    var rig = Rig()
    _ = try rig.open()
    let lease = rig.client.lease("kiosk", .take).sent[0].id
    _ = rig.receive(.ok(OkReply(id: lease, nav: "kiosk", leaseOwner: "t")), .ok)
    let (id, _) = rig.perform("kiosk")
    let outputs = rig.refuse(id, to: "tcp://b")
    #expect(outputs.duties == [.leaseLost(nav: "kiosk", isTakenAgain: false)])
    #expect(try rig.open(try #require(outputs.connected.first?.link)).sent.map(\.verb) == [.op])
  }

  @Test func `a nav without an owner is asked for again when the daemon said`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform("kiosk")
    #expect(rig.refuse(id, .busy, after: 200).isEmpty)
    // Meanwhile, a further op waits behind it, and one of another nav does not.
    let (next, outputs) = rig.perform("kiosk")
    #expect(outputs.isEmpty)
    #expect(rig.perform("lobby").outputs.sent.count == 1)
    let (dropped, _) = rig.perform("kiosk")
    #expect(rig.client.forget(dropped).mayHaveHappened == false)
    let wakeAt = try #require(rig.client.wakeAt)
    #expect(wakeAt >= rig.now + 200 && wakeAt < rig.now + 300)
    #expect(rig.client.tick(at: wakeAt - 1).isEmpty)
    #expect(rig.client.tick(at: wakeAt).sent.map(\.id) == [id])
    let answered = rig.receive(.ok(OkReply(id: id)), .ok)
    #expect(answered.sent.map(\.id) == [next])
  }

  @Test func `only a lost session makes a guard unreachable, and not the wait for an owner`() throws
  {
    var rig = Rig()
    _ = try rig.open()
    try rig.follow("kiosk")
    #expect(rig.client.guardRefusal(for: "kiosk") == nil)
    let (id, _) = rig.perform("kiosk")
    _ = rig.refuse(id, .busy, after: 200)
    #expect(rig.client.memberIndex(ofNav: "kiosk") == nil)
    let doubt = rig.client.guardRefusal(for: "kiosk")
    #expect(doubt?.code == "desync" && doubt?.reason == "mirror")
    #expect(rig.client.guardRefusal(for: "lobby")?.code == "desync")
    _ = rig.client.disconnected(.first, at: rig.now)
    #expect(rig.client.guardRefusal(for: "lobby")?.code == "unreachable")
  }

  @Test func `after the wait for an owner, the client follows at once`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform("kiosk")
    for _ in 0..<9 {
      _ = rig.refuse(id, .busy, after: 50)
      rig.now = try #require(rig.client.wakeAt)
      #expect(rig.client.tick(at: rig.now).sent.map(\.id) == [id])
    }
    #expect(rig.refuse(id, to: "tcp://b").connected.map(\.at) == [rig.now])
  }

  @Test func `a nav that moves often is followed at once, if it is found in between`() throws {
    var rig = Rig()
    _ = try rig.open()
    var link = LinkID.first
    for number in 0..<9 {
      let (id, _) = rig.perform("kiosk")
      let outputs = rig.refuse(id, to: number % 2 == 0 ? "tcp://b" : "tcp://c", from: link)
      if let new = outputs.connected.first?.link { _ = try rig.open(new) }
      link = rig.client.members[try #require(rig.client.memberIndex(ofNav: "kiosk"))].link
      #expect(rig.receive(.ok(OkReply(id: id)), .ok, from: link).answered == [id])
    }
  }

  @Test func `daemons that name each other are followed more slowly, up to half a second`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform("kiosk")
    var waits: [UInt64] = []
    var link = LinkID.first
    for number in 0..<14 {
      let outputs = rig.refuse(id, to: number % 2 == 0 ? "tcp://b" : "tcp://c", from: link)
      var sent = outputs
      let start = rig.now
      if rig.client.memberIndex(ofNav: "kiosk") == nil {
        rig.now = try #require(rig.client.pauses["kiosk"]?.until)
        sent = rig.client.tick(at: rig.now)
      }
      waits.append(rig.now - start)
      if let new = sent.connected.first?.link { _ = try rig.open(new) }
      link = rig.client.members[try #require(rig.client.memberIndex(ofNav: "kiosk"))].link
    }
    #expect(waits.prefix(2) == [0, 0])
    // Not without a limit: until its lease ends, the others name a daemon that was lost.
    #expect(waits.dropFirst(2).allSatisfy { (1...500).contains($0) })
    #expect(waits.reduce(0, +) > 1500)
  }

  @Test func `navs of a daemon that cannot be reached are asked for at the seed`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform("kiosk")
    let link = try #require(rig.refuse(id, to: "tcp://b").connected.first?.link)
    var outputs: [ClusterOutput] = []
    for _ in 0..<ClusterReplica.unreachableFailures {
      #expect(outputs.isEmpty)
      outputs = rig.client.failed(link, at: rig.now)
    }
    #expect(outputs.sent.map(\.id) == [id] && outputs.sent.map(\.link) == [.first])
    #expect(outputs.closed == [link])
    #expect(rig.client.failed(link, at: rig.now).isEmpty)
    // A daemon that takes connections and does not answer is as good as away.
    rig.now += ClusterReplica.quickMoveMilliseconds
    let start = rig.now
    let hung = try #require(rig.refuse(id, to: "tcp://c").connected.first?.link)
    _ = rig.client.connected(hung, at: rig.now)
    rig.now = try #require(rig.client.wakeAt)
    #expect(rig.now == start + ClusterReplica.unreachableMilliseconds)
    #expect(rig.client.tick(at: rig.now).closed == [hung])
  }

  @Test func `when the seed is away, another daemon takes its place`() throws {
    var rig = Rig()
    _ = try rig.open()
    try rig.follow("kiosk")
    let link = try rig.second()
    let lost = rig.client.disconnected(.first, at: rig.now)
    #expect(lost.statuses == ["lost"])
    rig.now += ClusterReplica.unreachableMilliseconds
    let outputs = rig.client.tick(at: rig.now)
    #expect(outputs.statuses == ["opened"] && outputs.closed == [.first])
    #expect(outputs.sent.map(\.verb) == [.watch] && outputs.sent.map(\.link) == [link])
    // And when that one is away too, the configured addresses are asked again.
    _ = rig.client.disconnected(link, at: rig.now)
    rig.now += ClusterReplica.unreachableMilliseconds
    let again = rig.client.tick(at: rig.now).connected
    #expect(again.map(\.link) == [link] && again[0].address == nil)
  }

  @Test func `a session that no nav needs ends after a while`() throws {
    var rig = Rig()
    _ = try rig.open()
    let link = try rig.second("kiosk")
    #expect(rig.client.tick(at: rig.now).isEmpty)
    rig.now += ClusterReplica.idleMilliseconds - 1
    #expect(rig.client.tick(at: rig.now).isEmpty)
    let (id, outputs) = rig.perform("kiosk")
    #expect(outputs.sent.map(\.link) == [link])
    rig.now += 1
    #expect(rig.client.tick(at: rig.now).isEmpty)
    _ = rig.receive(.ok(OkReply(id: id, nav: "kiosk")), .ok, from: link)
    _ = rig.client.tick(at: rig.now)
    rig.now += ClusterReplica.idleMilliseconds
    #expect(rig.client.wakeAt.map { $0 <= rig.now } == true)
    let farewell = rig.client.tick(at: rig.now)
    #expect(farewell.sent.map(\.verb) == [.bye] && farewell.closed == [link])
    #expect(rig.perform("kiosk").outputs.sent.map(\.link) == [.first])
  }

  @Test func `two addresses of one daemon become one session`() throws {
    for isFencedFirst in [false, true] {
      var rig = Rig()
      _ = try rig.open(boot: 77)
      try rig.follow("kiosk")
      let (id, _) = rig.perform("far")
      let link = try #require(rig.refuse(id, to: "tcp://alias").connected.first?.link)
      var outputs: [ClusterOutput] = []
      if isFencedFirst {
        _ = rig.client.connected(link, at: rig.now)
        outputs += rig.receive(.bye(why: "fenced", after: nil), .bye)
        #expect(outputs.statuses == ["lost"])
      }
      outputs += try rig.open(link, boot: 77)
      #expect(outputs.closed == [.first] && outputs.statuses.last == "opened")
      #expect(Set(outputs.sent.filter { $0.verb != .hello }.map(\.verb)) == [.op, .watch])
      #expect(rig.client.members.map(\.link) == [link])
    }
  }

  @Test func `the seed that comes to a daemon with a session yields to it`() throws {
    var rig = Rig()
    _ = try rig.open(at: "tcp://a")
    try rig.follow("kiosk")
    let link = try rig.second()
    try rig.follow("far", from: link)
    _ = rig.client.disconnected(.first, at: rig.now)
    let outputs = rig.client.connected(.first, to: "tcp://b", at: rig.now)
    #expect(outputs.sent.map(\.verb) == [.watch] && outputs.sent.map(\.link) == [link])
    #expect(outputs.closed == [.first] && outputs.statuses == ["opened"])
    #expect(rig.client.replica(of: "far")?.isSynced == true)
  }

  @Test func `another process with the identity of the client ends it`() throws {
    var rig = Rig()
    _ = try rig.open()
    let outputs = rig.receive(.bye(why: "fenced", after: nil), .bye)
    #expect(outputs.statuses == ["closed"] && rig.client.phase == .closed)
    #expect(rig.perform("kiosk").outputs.isEmpty)
  }

  @Test func `a second daemon that refuses the client does not end it`() throws {
    var rig = Rig()
    _ = try rig.open()
    let link = try rig.second("kiosk")
    let (id, _) = rig.perform("kiosk")
    let outputs = rig.receive(.bye(why: "revoked", after: nil), .bye, from: link)
    #expect(outputs.closed == [link] && outputs.statuses.isEmpty)
    #expect(outputs.sent.map(\.id) == [id] && outputs.sent.map(\.link) == [.first])
  }

  @Test func `homes of navs that nobody uses are forgotten when they are many`() throws {
    var rig = Rig()
    _ = try rig.open()
    let link = try rig.second("n0")
    for number in 1...ClusterReplica.minimumNavLinksLimit + 1 {
      let (id, _) = rig.perform("n\(number)")
      _ = rig.refuse(id, to: "tcp://b")
      _ = rig.receive(.ok(OkReply(id: id)), .ok, from: link)
    }
    #expect(rig.client.navLinks.count < ClusterReplica.minimumNavLinksLimit)
  }
}

struct SentMessage {
  var link: LinkID
  var verb: ClientVerb
  var body: String

  var id: UInt64 {
    let digits = body.drop { $0 != ":" }.dropFirst().prefix { $0.isNumber }
    return UInt64(digits) ?? 0
  }
}

extension [ClusterOutput] {
  var sent: [SentMessage] {
    compactMap {
      guard case .send(let link, let verb, let body) = $0 else { return nil }
      return SentMessage(link: link, verb: verb, body: String(decoding: body, as: UTF8.self))
    }
  }

  var connected: [(link: LinkID, address: DaemonAddress?, at: UInt64)] {
    compactMap {
      if case .connect(let link, let address, let at) = $0 { (link, address, at) } else { nil }
    }
  }

  var closed: [LinkID] {
    compactMap { if case .close(let link) = $0 { link } else { nil } }
  }

  var duties: [DutyEvent] {
    compactMap { if case .event(.duty(let event)) = $0 { event } else { nil } }
  }

  var failed: [ErrReply] {
    compactMap { if case .event(.answered(_, .failure(let refusal))) = $0 { refusal } else { nil } }
  }

  var answered: [UInt64] {
    compactMap { if case .event(.answered(let id, _)) = $0 { id } else { nil } }
  }

  /// What the user learns of the seed's session.
  var statuses: [String] {
    compactMap {
      switch $0 {
      case .event(.opened): "opened"
      case .event(.lost): "lost"
      case .event(.closed): "closed"
      default: nil
      }
    }
  }
}
