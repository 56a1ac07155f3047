import NavigationCore
import NavigationClient
import Testing

@Suite struct SessionReplicaTests {
  /// A session in a world without a network.
  struct Rig {
    var session = SessionReplica(client: ClientID(high: 1, low: 2), name: "t", seed: 7)
    var now: UInt64 = 1000

    mutating func receive(_ verb: ServerVerb, _ body: String) throws -> [SessionOutput] {
      session.receive(
        try read(verb, body), verb: verb, octets: body.utf8.count, at: now)
    }

    mutating func open(lastOp: UInt64 = 0, heartbeat: UInt64 = 5000) throws -> [SessionOutput] {
      let hello = try #require(session.connected(at: now).sent.last)
      return try receive(.welcome, Rig.welcome(nonce(hello.body), lastOp, heartbeat))
    }

    static func welcome(_ nonce: String, _ lastOp: UInt64 = 0, _ heartbeat: UInt64 = 5000)
      -> String
    {
      #"{"ver":1,"nonce":"\#(nonce)","boot":"5d0c8f1e77aa92b4","hb":\#(heartbeat),"ops":{"last":\#(lastOp)},"limits":{"window":1048576}}"#
    }

    mutating func perform(_ json: String = #"{"pop":{}}"#) -> (id: UInt64, outputs: [SessionOutput])
    {
      session.perform(
        OpRequest(id: 0, nav: "kiosk"), operations: [Array(json.utf8)])
    }

    /// Follows a nav up to its snapshot.
    mutating func follow(_ nav: FakeNav) throws {
      let watch = try #require(session.watch(nav.name).sent.first)
      _ = try receive(.ok, nav.watched(watch.id, mode: "snap"))
      _ = try receive(.snap, nav.snapshot())
    }
  }

  @Test func `hello is the first message on every connection, with a new nonce`() throws {
    var rig = Rig()
    let first = try #require(rig.session.connected(at: 0).sent.first)
    #expect(first.verb == .hello)
    _ = rig.session.disconnected()
    let second = try #require(rig.session.connected(at: 1).sent.first)
    #expect(second.verb == .hello)
    #expect(nonce(first.body) != nonce(second.body))
  }

  @Test func `everything before the welcome with its own nonce is discarded`() throws {
    var rig = Rig()
    let nav = FakeNav()
    _ = rig.session.watch(nav.name)
    let (id, _) = rig.perform()
    let hello = try #require(rig.session.connected(at: 0).sent.first)
    #expect(try rig.receive(.welcome, Rig.welcome("other")).isEmpty)
    #expect(try rig.receive(.snap, nav.snapshot()).isEmpty)
    #expect(try rig.receive(.ok, nav.ok(id)).isEmpty)
    #expect(try rig.receive(.bye, #"{"why":"fenced"}"#).isEmpty)
    #expect(rig.session.phase != .open)
    let opened = try rig.receive(.welcome, Rig.welcome(nonce(hello.body)))
    #expect(rig.session.phase == .open)
    #expect(opened.sent.map(\.verb) == [.watch, .op])
    #expect(rig.session.grantCredit().isEmpty)
  }

  @Test func `request ids grow strictly, also beyond what the daemon remembers`() throws {
    var rig = Rig()
    _ = try rig.open(lastOp: 41)
    var ids: [UInt64] = []
    for index in 0..<4 {
      ids.append(rig.perform().id)
      ids.append(try #require(rig.session.watch("nav\(index)").sent.first).id)
      ids.append(rig.session.get(GetRequest(id: 0, nav: "kiosk")).id)
    }
    #expect(ids == ids.sorted())
    #expect(Set(ids).count == ids.count)
    #expect(ids.allSatisfy { $0 > 41 })
  }

  /// The body of an op that is sent again.
  private func again(_ body: String, seen: Int = 0) -> String {
    #"\#(body.dropLast()),"again":\#(seen)}"#
  }

  @Test func `ops in flight go again with the same octets whatever ops last says`() throws {
    var rig = Rig()
    _ = try rig.open()
    let first = rig.perform()
    let second = rig.perform(#"{"popToRoot":{}}"#)
    let sent = (first.outputs + second.outputs).sent
    _ = rig.session.disconnected()
    let again = try rig.open(lastOp: second.id).sent
    #expect(again.map(\.body) == sent.map { self.again($0.body) })
  }

  /// A `welcome` with the rows of shards.
  private func reopen(_ rig: inout Rig, _ rows: String, _ more: String = "") throws -> [String] {
    _ = rig.session.disconnected()
    let hello = try #require(rig.session.connected(at: rig.now).sent.last)
    let welcome = Rig.welcome(nonce(hello.body)).replacing(
      #""ops":{"last":0}"#, with: #""ops":{"last":0,"seq":\#(rows)}\#(more)"#)
    return try rig.receive(.welcome, welcome).sent.map(\.body)
  }

  @Test func `an op that goes again says what the client had seen when it went first`() throws {
    var rig = Rig()
    let nav = FakeNav()
    _ = try reopen(&rig, "[[0,7]]")
    let first = rig.perform()
    let answer = nav.ok(first.id).replacing(#""changed":true"#, with: #""changed":true,"seq":9"#)
    _ = try rig.receive(.ok, answer)
    _ = try rig.receive(.mark, #"{"t":1,"at":[],"seq":[[0,12]]}"#)
    let body = try #require(rig.perform().outputs.sent.first?.body)
    _ = try rig.receive(.mark, #"{"t":1,"at":[],"seq":[[0,20]]}"#)
    for rows in ["[[0,25]]", "[[0,25]]", "[[0,11]]"] {
      #expect(try reopen(&rig, rows) == [again(body, seen: 12)])
    }
  }

  @Test func `rows count by the shard of the nav`() throws {
    var rig = Rig()
    let features = #","features":["shards"]"#
    let shard = Shard(ofName: "kiosk", among: Shard.count).number
    _ = try reopen(&rig, "[[0,90],[\(shard),5]]", features)
    let body = try #require(rig.perform().outputs.sent.first?.body)
    #expect(try reopen(&rig, "[[0,95],[\(shard),6]]", features) == [again(body, seen: 5)])
  }

  @Test func `an answer counts once, by its id`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform()
    let other = rig.perform()
    let nav = FakeNav()
    #expect(try rig.receive(.ok, nav.ok(other.id)).answered == [other.id])
    #expect(try rig.receive(.ok, nav.ok(id)).answered == [id])
    #expect(try rig.receive(.ok, nav.ok(id)).answered.isEmpty)
    #expect(try rig.receive(.ok, nav.ok(999)).answered.isEmpty)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `a request larger than the daemon takes is refused here and never sent`() throws {
    var rig = Rig()
    _ = try rig.open()
    let title = String(repeating: "x", count: 65536)
    let (id, outputs) = rig.perform(#"{"push":{"screen":{"title":"\#(title)"}}}"#)
    #expect(outputs.sent.isEmpty)
    guard case .event(.answered(id, .failure(let refusal)))? = outputs.first else {
      Issue.record("answered with \(outputs)")
      return
    }
    #expect(refusal.knownCode == .limit)
    #expect(refusal.reason == "size")
    #expect(refusal.retryPolicy == .no)
  }

  @Test func `a forgotten op is not sent again and its answer ignored`() throws {
    var rig = Rig()
    let unsent = rig.perform()
    #expect(rig.session.forget(unsent.id).mayHaveHappened == false)
    _ = try rig.open()
    let (id, _) = rig.perform()
    #expect(rig.session.forget(id).mayHaveHappened)
    #expect(try rig.receive(.ok, FakeNav().ok(id)).answered.isEmpty)
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test func `an op that was sent before a loss may have happened`() throws {
    var rig = Rig()
    _ = try rig.open()
    let (id, _) = rig.perform()
    _ = rig.session.disconnected()
    #expect(rig.session.forget(id).mayHaveHappened)
  }

  @Test func `the place of a forgotten request goes to the next one`() throws {
    var rig = Rig()
    _ = try rig.open()
    var ids: [UInt64] = []
    for _ in 0...64 { ids.append(rig.perform().id) }
    #expect(rig.session.forget(ids[0]).outputs.sent.map(\.id) == [ids.last])
  }

  @Test func `no more requests are sent than the daemon takes at once`() throws {
    var rig = Rig()
    _ = try rig.open()
    var ids: [UInt64] = []
    var sent = 0
    for _ in 0..<70 {
      let (id, outputs) = rig.perform()
      ids.append(id)
      sent += outputs.sent.count
    }
    #expect(sent == 64)
    let next = try rig.receive(.ok, FakeNav().ok(ids[0]))
    #expect(next.sent.map(\.id) == [ids[64]])
  }

  @Test func `credit is raised when more than half is used, after applying`() throws {
    var rig = Rig()
    _ = try rig.open()
    var nav = FakeNav()
    try rig.follow(nav)
    var used = nav.snapshot().utf8.count
    while used <= 32768 {
      #expect(rig.session.grantCredit().isEmpty)
      let body = nav.screens.count > 1 ? nav.pop() : nav.push("a")
      used += body.utf8.count
      #expect(try rig.receive(.diff, body).sent.isEmpty)
      _ = try rig.receive(.mark, nav.mark)
    }
    let credit = try #require(rig.session.grantCredit().sent.first)
    #expect(credit.body == #"{"upto":\#(used + 65536)}"#)
    #expect(rig.session.grantCredit().isEmpty)
  }

  @Test func `credit starts anew with every session`() throws {
    var rig = Rig()
    _ = try rig.open()
    let nav = FakeNav()
    try rig.follow(nav)
    for _ in 0..<60 { _ = try rig.receive(.snap, nav.snapshot()) }
    #expect(rig.session.grantCredit().sent.count == 1)
    for _ in 0..<20 { _ = try rig.receive(.snap, nav.snapshot()) }
    _ = rig.session.disconnected()
    _ = try rig.open()
    #expect(rig.session.grantCredit().isEmpty)
  }

  @Test func `watches resume from their mirrors, before ops go again`() throws {
    var rig = Rig()
    _ = try rig.open()
    let nav = FakeNav()
    try rig.follow(nav)
    _ = rig.session.watch("other")
    _ = rig.session.watch("kiosk", view: .bar)
    _ = rig.perform()
    _ = rig.session.disconnected()
    #expect(rig.session.replica(of: "kiosk")?.isSynced == false)
    let sent = try rig.open().sent
    #expect(sent.map(\.verb) == [.watch, .watch, .watch, .op])
    #expect(
      sent[0].body.contains(#""from":{"epoch":"\#(nav.epoch)","rev":1,"dig":"\#(nav.digest)"}"#))
    #expect(sent[1].body.contains(#""nav":"other""#))
    #expect(!sent[1].body.contains("from"))
    #expect(sent[2].body.contains(#""view":"bar""#))
    let resumed = try rig.receive(.ok, nav.watched(sent[0].id, mode: "resume"))
    #expect(resumed.count == 1)
    #expect(rig.session.replica(of: "kiosk")?.isSynced == true)
  }

  @Test func `an ended or abandoned watch is not resumed`() throws {
    var rig = Rig()
    _ = try rig.open()
    let nav = FakeNav()
    try rig.follow(nav)
    _ = try rig.receive(.end, nav.end())
    #expect(rig.session.replica(of: "kiosk")?.mirror == nil)
    _ = rig.session.watch("other")
    #expect(rig.session.unwatch("other").sent.map(\.verb) == [.unwatch])
    _ = rig.session.disconnected()
    #expect(try rig.open().sent.isEmpty)
  }

  @Test(arguments: [1000, 5000] as [UInt64])
  func `silence of three heartbeats is a loss, and not sooner`(
    heartbeat: UInt64
  ) throws {
    var rig = Rig()
    _ = try rig.open(heartbeat: heartbeat)
    let end = rig.now + 3 * heartbeat
    #expect(rig.session.wakeAt == end)
    #expect(rig.session.tick(at: end - 1).isEmpty)
    let lost = rig.session.tick(at: end)
    #expect(lost.reconnectTimes.count == 1)
    #expect(rig.session.phase == .unconnected)
    #expect(rig.session.wakeAt == nil)
  }

  @Test func `a mark is a sign of life`() throws {
    var rig = Rig()
    _ = try rig.open()
    rig.now += 14_000
    _ = try rig.receive(.mark, #"{"t":1,"at":[]}"#)
    rig.now += 14_000
    #expect(rig.session.tick(at: rig.now).isEmpty)
  }

  @Test func `an unanswered hello is a loss`() {
    var rig = Rig()
    _ = rig.session.connected(at: 0)
    #expect(rig.session.tick(at: 15_001).reconnectTimes.count == 1)
  }

  @Test func `back-off is jittered fully below a bound that doubles up to five seconds`() throws {
    for seed in 0..<200 as Range<UInt64> {
      var session = SessionReplica(client: ClientID(high: 1, low: 2), seed: seed)
      for attempt in 0..<10 as Range<UInt64> {
        _ = session.connected(at: 0)
        let at = try #require(session.receiveUnreadable(at: 0).reconnectTimes.first)
        #expect(at <= min(5000, 100 << attempt))
      }
    }
    let times = (0..<200 as Range<UInt64>).map { seed -> UInt64 in
      var session = SessionReplica(client: ClientID(high: 1, low: 2), seed: seed)
      _ = session.connected(at: 0)
      return session.receiveUnreadable(at: 0).reconnectTimes.first ?? 0
    }
    #expect(Set(times).count > 50)
  }

  @Test func `bye says how long to wait at least, and some byes are for good`() throws {
    var rig = Rig()
    _ = try rig.open()
    let outputs = try rig.receive(.bye, #"{"why":"shutting-down","after":9000}"#)
    #expect(outputs.reconnectTimes == [rig.now + 9000])
    for why in ["fenced", "revoked"] {
      var rig = Rig()
      _ = try rig.open()
      _ = rig.perform()
      let outputs = try rig.receive(.bye, #"{"why":"\#(why)"}"#)
      #expect(outputs.reconnectTimes.isEmpty)
      #expect(rig.session.phase == .closed)
      #expect(rig.session.connected(at: 1).isEmpty)
    }
  }

  @Test func `an error without an id fails what is open, and nothing else`() throws {
    var rig = Rig()
    let (waiting, _) = rig.perform()
    _ = try rig.open()
    var nav = FakeNav()
    try rig.follow(nav)
    _ = try rig.receive(.ok, nav.ok(waiting))
    let op = rig.perform().id
    let read = rig.session.get(GetRequest(id: 0, nav: "kiosk")).id
    _ = rig.session.watch("other")
    _ = rig.session.delegate("kiosk", DelegateRegistration(roles: [.veto]))
    // Of a message that has no id by its form.
    let others = try rig.receive(
      .err, #"{"id":null,"code":"limit","msg":"m","effect":"none","retry":"no","verb":"answer"}"#)
    #expect(others.isEmpty)
    let outputs = try rig.receive(
      .err, #"{"id":null,"code":"bad-json","msg":"m","effect":"none","retry":"no"}"#)
    #expect(outputs.answered == [op, read])
    let refusals = outputs.compactMap { output -> String? in
      switch output {
      case .event(.answered(_, .failure(let refusal))): refusal.effect
      case .event(.watchEnded(let nav, _, .refused(let refusal))): "\(nav) \(refusal.code)"
      case .event(.duty(.registrationRefused(let nav, let refusal))): "\(nav) roles \(refusal.code)"
      default: nil
      }
    }
    #expect(refusals == ["unknown", "unknown", "other bad-json", "kiosk roles bad-json"])
    // The watch of before goes on.
    #expect(try rig.receive(.diff, nav.push("a")).isEmpty == false)
  }

  @Test func `a refused hello ends the session, a postponed one does not`() throws {
    var rig = Rig()
    let hello = try #require(rig.session.connected(at: 0).sent.first)
    let later =
      #"{"id":null,"nonce":"\#(nonce(hello.body))","code":"shutting-down","msg":"","effect":"none","retry":"later","after":700}"#
    #expect((try rig.receive(.err, later).reconnectTimes.first ?? 0) >= rig.now + 700)
    _ = rig.session.connected(at: 0)
    let version =
      #"{"id":null,"code":"version","msg":"","effect":"none","retry":"no","have":[2,2]}"#
    _ = try rig.receive(.err, version)
    #expect(rig.session.phase == .closed)
  }

  @Test func `a refused watch ends, a postponed one is asked again later`() throws {
    var rig = Rig()
    _ = try rig.open()
    let watch = try #require(rig.session.watch("kiosk").sent.first)
    let busy =
      #"{"id":\#(watch.id),"code":"busy","msg":"","effect":"none","retry":"later","after":300}"#
    #expect(try rig.receive(.err, busy).isEmpty)
    #expect(rig.session.tick(at: rig.now + 299).isEmpty)
    let again = try #require(rig.session.tick(at: rig.now + 400).sent.first)
    #expect(again.verb == .watch)
    let none = #"{"id":\#(again.id),"code":"no-nav","msg":"","effect":"none","retry":"no"}"#
    #expect(try rig.receive(.err, none).count == 1)
    #expect(rig.session.replica(of: "kiosk") == nil)
  }

  @Test func `a mirror that is wrong again and again is asked for ever more seldom`() throws {
    var rig = Rig()
    _ = try rig.open()
    var nav = FakeNav()
    try rig.follow(nav)
    let wrong = nav.push("a").replacing(nav.digest, with: "00000000" + nav.digest.dropFirst(8))
    let first = try rig.receive(.diff, wrong)
    let watch = try #require(first.sent.first)
    #expect(watch.body.contains("bad"))
    _ = try rig.receive(.ok, nav.watched(watch.id, mode: "snap"))
    let second = try rig.receive(
      .snap, nav.snapshot().replacing(nav.digest, with: "00000000" + nav.digest.dropFirst(8)))
    #expect(second.sent.isEmpty)
    let wakeAt = try #require(rig.session.wakeAt)
    #expect(wakeAt <= rig.now + 200)
    #expect(rig.session.tick(at: wakeAt).sent.map(\.verb) == [.watch])
  }

  @Test func `a conflated view is told, and only while it is watched`() throws {
    var rig = Rig()
    _ = try rig.open()
    let latest =
      #"{"nav":"kiosk","view":"bar","epoch":"c0ffee12c0ffee12","rev":2,"value":{"top":"a"}}"#
    #expect(try rig.receive(.latest, latest).isEmpty)
    let watch = try #require(rig.session.watch("kiosk", view: .bar).sent.first)
    _ = try rig.receive(.ok, #"{"id":\#(watch.id),"nav":"kiosk","mode":"latest"}"#)
    #expect(try rig.receive(.latest, latest).count == 1)
    let end =
      #"{"nav":"kiosk","view":"bar","epoch":"c0ffee12c0ffee12","rev":2,"why":"closed"}"#
    #expect(try rig.receive(.end, end).count == 1)
    #expect(try rig.receive(.latest, latest).isEmpty)
  }
}

func nonce(_ hello: String) -> String {
  guard let start = hello.firstRange(of: #""nonce":""#)?.upperBound else { return "" }
  return String(hello[start...].prefix { $0 != "\"" })
}

struct Sent {
  var verb: ClientVerb
  var body: String
  var id: UInt64 {
    UInt64(body.dropFirst(#"{"id":"#.count).prefix { $0.isNumber }) ?? 0
  }
}

extension [SessionOutput] {
  var sent: [Sent] {
    compactMap {
      guard case .send(let verb, let body) = $0 else { return nil }
      return Sent(verb: verb, body: String(decoding: body, as: UTF8.self))
    }
  }

  var answered: [UInt64] {
    compactMap { if case .event(.answered(let id, _)) = $0 { id } else { nil } }
  }

  var reconnectTimes: [UInt64] {
    compactMap { if case .reconnect(let at) = $0 { at } else { nil } }
  }
}
