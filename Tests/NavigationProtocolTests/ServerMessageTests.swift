@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What a client reads of the daemon's messages, by protocol.md §3, §6 and §13.
@Suite struct ServerMessageTests {
  /// The members without which a client cannot use a message.
  private static let required: [String: Set<String>] = [
    "welcome": ["nonce", "boot", "hb"], "ok": ["id"], "err": ["code"], "queued": ["id", "pos"],
    "snap": ["nav", "epoch", "rev", "i", "last", "screens"],
    "diff": ["nav", "epoch", "base", "rev", "ch", "depth", "dig"], "diffs": ["list"],
    "latest": ["nav", "view", "epoch", "rev", "value"], "event": ["nav", "epoch", "rev", "ev"],
    "mark": ["t", "at"], "end": ["nav", "epoch", "rev", "why"],
    "ask": ["ask", "nav", "epoch", "rev", "within", "q"], "settled": ["ask", "outcome"],
    "lost": ["nav", "of", "code"], "traced": ["list"],
    "bye": [], "pong": ["id", "boot", "t"],
  ]

  /// The members of an object, with their octets.
  private static func members(_ body: String) throws -> [(name: String, json: String)] {
    var tape = JSONTape()
    try tape.read(Array(body.utf8), maximumDepth: 40)
    var members: [(name: String, json: String)] = []
    tape.forEachMember(of: tape.root) { name, value in
      members.append((name, String(decoding: tape.raw(value), as: UTF8.self)))
    }
    return members
  }

  private static func object(_ members: [(name: String, json: String)]) -> [UInt8] {
    Array("{\(members.map { #""\#($0.name)":\#($0.json)"# }.joined(separator: ","))}".utf8)
  }

  private func read(_ verb: String, _ body: [UInt8]) throws -> ServerMessage {
    var reader = ServerMessageReader()
    return try reader.read(verb: Array("nsp1.\(verb)".utf8), body: body)
  }

  private func read(_ verb: ServerVerb, _ body: [UInt8]) throws -> ServerMessage {
    try read(verb.word, body)
  }

  @Test func `a verb is called as on the wire`() {
    #expect(ServerVerb.words == ServerVerb.names)
  }

  @Test(arguments: Samples.server.map(\.body).indices)
  func `a message lacks nothing but what a client can do without`(index: Int) throws {
    let (verb, body) = Samples.server[index]
    let members = try Self.members(body)
    for (place, member) in members.enumerated() {
      var others = members
      others.remove(at: place)
      var isNeeded = Self.required[verb]?.contains(member.name) ?? false
      // The last part of a snapshot proves it.
      if verb == "snap", member.name == "dig" { isNeeded = true }
      let text = Self.object(others)
      if isNeeded {
        let failure = #expect(throws: ServerMessageFailure.self) { try read(verb, text) }
        #expect(failure?.text == "\(verb): a required member is missing or wrong")
      } else {
        #expect(throws: Never.self, "\(verb) without \(member.name)") { try read(verb, text) }
      }
    }
  }

  @Test(arguments: Samples.server.map(\.body).indices)
  func `members of later versions are ignored, wherever they stand`(index: Int) throws {
    let (verb, body) = Samples.server[index]
    // The error keeps its whole body, for the members that the client does not read.
    guard verb != "err" else { return }
    let members = try Self.members(body)
    let plain = try read(verb, Self.object(members))
    let later = [(name: "zz", json: #"{"id":0,"nav":[]}"#), (name: "Nav", json: "null")]
    for place in [0, members.count / 2, members.count] {
      let more = members[..<place] + later + members[place...]
      #expect("\(try read(verb, Self.object(Array(more))))" == "\(plain)")
    }
  }

  @Test func `what a watch or a trace shows counts against credit, and nothing else`() {
    let counted: Set<ServerVerb> = [.snap, .diff, .diffs, .latest, .event, .traced]
    for verb in ServerVerb.allCases { #expect(verb.usesCredit == counted.contains(verb)) }
    #expect(Set(ServerVerb.words) == Set(Self.required.keys))
    for verb in ServerVerb.allCases { #expect(verb.frame == Array("nsp1.\(verb.word)".utf8)) }
  }

  @Test func `a report can have the deepest message of a client inside`() throws {
    let deepest = String(repeating: #"{"a":"#, count: 31) + "{}" + String(repeating: "}", count: 31)
    let body = #"{"list":[{"t":1,"dir":"in","verb":"op","body":\#(deepest)}]}"#
    guard case .traced(let messages) = try read("traced", Array(body.utf8)) else {
      Issue.record("not read as traced")
      return
    }
    #expect(messages.list.count == 1 && messages.dropped == 0 && !messages.isTraceOver)
  }

  @Test func `a verb of a later version is unknown, one of another protocol no message`() throws {
    for body in ["", "{", "[]", #"{"id":1}"#] {
      guard case .unknown = try read("later", Array(body.utf8)) else {
        Issue.record("\(body) is read")
        continue
      }
    }
    var reader = ServerMessageReader()
    for frame in ["nsp2.ok", "nsp1.", "ok", "", "nsp1.OK"] {
      #expect(throws: ServerMessageFailure.self) {
        try reader.read(verb: Array(frame.utf8), body: Array(#"{"id":1}"#.utf8))
      }
    }
  }

  @Test(arguments: [
    (#"[["kiosk",22,"1574af9e0000000000000000"]]"#, 1), ("[]", 0),
    (#"[["a",1,"000000000000000000000000",9,{}]]"#, 1),
    (#"[["a",1,"000000000000000000000000"],["b",2,"000000010000000000000000"]]"#, 2),
    (#"[["a",1]]"#, nil), ("[[]]", nil),
    (#"[["a","1","000000000000000000000000"]]"#, nil),
    (#"[["a",1,"00000000000000000000000"]]"#, nil), (#"[{"nav":"a"}]"#, nil),
    ("{}", nil), ("null", nil), (#"[["a",1,"000000000000000000000000"],7]"#, nil),
  ])
  func `a mark names nav, revision and digest, and perhaps more`(at: String, count: Int?) {
    let body = Array(#"{"t":0,"at":\#(at)}"#.utf8)
    guard let count else {
      #expect(throws: ServerMessageFailure.self) { try read(.mark, body) }
      return
    }
    guard case .mark(let mark)? = try? read(.mark, body) else {
      Issue.record("\(at) is no mark")
      return
    }
    #expect(mark.positions.count == count && mark.time == 0)
  }

  // Round trips of what the daemon writes.

  private struct Source {
    var random: SeededGenerator

    mutating func number() -> UInt64 { random.next() >> (11 + random.next() % 50) }
    mutating func text() -> String {
      let pieces = ["a", "é", "\"", "\\", "\n", "\u{0}", "🦉", "/", " ", "\u{7F}"]
      return (0..<random.next() % 6).map { _ in pieces[Int(random.next() % 10)] }.joined()
    }
    mutating func maybe<Value>(_ value: Value) -> Value? { random.next() % 2 == 0 ? value : nil }
    mutating func standing() -> NavStanding {
      NavStanding(
        nav: ["kiosk", "a/b.c", "$navs"][Int(random.next() % 3)], epoch: Epoch(bits: random.next()),
        revision: Revision(number()),
        digest: Digest(checksum: UInt32(truncatingIfNeeded: random.next()), chain: 0),
        depth: Int(number() >> 8),
        top: maybe("s\(random.next() % 9)"))
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `an error comes back with every member`(seed: UInt64) throws {
    var source = Source(random: SeededGenerator(seed: seed))
    for code in ErrorCode.allCases {
      var error = OutgoingError(code, id: source.maybe(source.number()), source.text())
      error.nonce = source.maybe(source.text())
      error.reason = source.maybe(source.text())
      error.expected = source.maybe(Array(#"[1,"a"]"#.utf8))
      error.after = source.maybe(source.number())
      error.index = source.maybe(Int(source.number() >> 8))
      error.namesFutureRevision = source.random.next() % 2 == 0
      error.standing = source.maybe(source.standing())
      error.details = [("owner", Array(#""o""#.utf8))]
      let body = ServerMessageWriter.error(error)
      guard case .err(let back) = try read(.err, body) else {
        throw ServerMessageFailure(text: "another message")
      }
      #expect(back.id == error.id && back.nonce == error.nonce && back.knownCode == code)
      #expect(back.message == error.text && back.reason == error.reason)
      #expect(back.effect == code.effect.rawValue && back.retryPolicy == code.retry)
      #expect(back.expected?.bytes == error.expected && back.after == error.after)
      #expect(back.index == error.index.map { UInt64($0) })
      #expect(back.namesFutureRevision == error.namesFutureRevision)
      #expect(back.nav == error.standing?.nav && back.epoch == error.standing?.epoch)
      #expect(back.revision == error.standing?.revision && back.digest == error.standing?.digest)
      #expect(back.depth == error.standing.map { UInt64($0.depth) })
      #expect(back.top == error.standing.map(\.top) && back.body.bytes == body)
      // Without the right to read, an error says nothing of the nav.
      guard case .err(let bare) = try read(.err, ServerMessageWriter.error(error.withoutState))
      else { throw ServerMessageFailure(text: "another message") }
      #expect(bare.nav == nil && bare.epoch == nil && bare.revision == nil && bare.top == nil)
      #expect(bare.digest == nil && bare.depth == nil && bare.code == back.code)
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `an answer to an op comes back with its place`(seed: UInt64) throws {
    var source = Source(random: SeededGenerator(seed: seed))
    for round in 0..<60 {
      let (standing, id) = (source.standing(), source.number())
      let outputs: ShortList<OperationOutput> = [.nothing, .popped(nil), .poppedAll([])]
      let body = ServerMessageWriter.ok(
        id: id, standing: standing, sequence: round % 2 == 0 ? id : nil, outputs: outputs,
        delivered: 0)
      guard case .ok(let back) = try read(.ok, body) else {
        throw ServerMessageFailure(text: "another message")
      }
      #expect(back.id == id && back.nav == standing.nav && back.epoch == standing.epoch)
      #expect(back.revision == standing.revision && back.digest == standing.digest)
      #expect(back.journalRow == (round % 2 == 0 ? id : nil))
      #expect(back.changed == (round % 2 == 0) && back.depth == UInt64(standing.depth))
      #expect(back.top == .some(standing.top))
      #expect(back.results?.bytes == Array(#"[{},{"popped":null},{"popped":[]}]"#.utf8))
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `marks, ends, questions and goodbyes come back as they were`(seed: UInt64) throws {
    var source = Source(random: SeededGenerator(seed: seed))
    for _ in 0..<40 {
      let (place, number) = (source.standing(), source.number())
      let name = source.maybe(source.text())
      let positions = (0..<source.random.next() % 4).map { _ in source.standing() }
      let marked = ServerMessageWriter.mark(
        time: number, positions.map { ($0.nav, $0.revision, $0.digest) },
        rows: [(.first, number), (Shard(17), 3)])
      guard case .mark(let mark) = try read(.mark, marked),
        case .end(let end) = try read(
          .end,
          ServerMessageWriter.end(
            nav: place.nav, view: .bar, epoch: place.epoch, revision: place.revision,
            why: "forbidden")),
        case .bye(let why, let after) = try read(
          .bye, ServerMessageWriter.bye(why: "stalled", after: number)),
        case .queued(let id, let position) = try read(
          .queued, ServerMessageWriter.queued(id: number, nav: place.nav, position: 3)),
        case .pong(let pong, let boot, let time) = try read(
          .pong, ServerMessageWriter.pong(id: number, boot: place.epoch, time: number)),
        case .settled(let settled) = try read(
          .settled, ServerMessageWriter.settled(number, "denied", by: name)),
        case .lost(let lost) = try read(
          .lost,
          ServerMessageWriter.lost("lease", of: place.nav, .leaseLost, "why", owner: name)),
        case .ok(let lease) = try read(
          .ok, ServerMessageWriter.leased(id: number, nav: place.nav, owner: name))
      else { throw ServerMessageFailure(text: "another message") }
      #expect(mark.time == number && mark.positions.map(\.nav) == positions.map(\.nav))
      #expect(mark.newestRows == [.first: number, Shard(17): 3])
      #expect(mark.positions.map(\.revision) == positions.map(\.revision))
      #expect(mark.positions.map(\.digest) == positions.map(\.digest))
      #expect(end.nav == place.nav && end.view == "bar" && end.epoch == place.epoch)
      #expect(end.revision == place.revision && end.why == "forbidden" && end.daemon == nil)
      #expect(why == "stalled" && after == number && id == number && position == 3)
      #expect(pong == number && boot == place.epoch && time == number)
      #expect(settled == VetoSettlement(number: number, outcome: "denied", deniedBy: name))
      let loss = LeaseOrRoleLoss(nav: place.nav, lost: "lease", code: "lease-lost", message: "why")
      #expect(lost == loss)
      #expect(lease.id == number && lease.nav == place.nav && lease.leaseOwner == name)
    }
  }

  @Test func `where a nav has moved is read with the key and the gateway of the daemon`() throws {
    let place = #""endpoint":"tcp://b","key":"k","web":"http://b""#
    let refused =
      #"{"id":3,"nav":"kiosk","code":"moved","msg":"","effect":"none","retry":"same",\#(place)}"#
    let ended =
      #"{"nav":"kiosk","view":"full","epoch":"c0ffee12c0ffee12","rev":4,"why":"moved",\#(place)}"#
    guard case .err(let refusal) = try read(.err, Array(refused.utf8)),
      case .end(let end) = try read(.end, Array(ended.utf8))
    else { throw ServerMessageFailure(text: "another message") }
    let address = DaemonAddress(endpoint: "tcp://b", key: "k", web: "http://b")
    #expect(refusal.daemon == address && end.daemon == address && end.why == "moved")
  }

  @Test(arguments: [(65_537, 65_536), (1, 0), (1 << 40, 1 << 39)])
  func `the error of the client itself reads as the daemon's would`(count: Int, limit: Int) throws {
    let own = ErrReply.tooLarge(7, count, limit: limit)
    guard case .err(let read) = try read(.err, own.body.bytes) else {
      throw ServerMessageFailure(text: "another message")
    }
    #expect(read == own)
    #expect(own.knownCode == .limit && own.reason == "size" && own.retryPolicy == .no)
    #expect(own.message.contains("\(count)") && own.message.contains("\(limit)"))
  }

  @Test func `what a client does not know of an error counts as the worst`() throws {
    guard case .err(let bare) = try read(.err, Array(#"{"code":"later"}"#.utf8)),
      case .err(let odd) = try read(
        .err, Array(#"{"code":"busy","retry":"soon","effect":"some"}"#.utf8))
    else { throw ServerMessageFailure(text: "another message") }
    #expect(bare.knownCode == nil && bare.effect == "unknown" && bare.retryPolicy == .no)
    #expect(odd.knownCode == .busy && odd.retryPolicy == .no && odd.effect == "some")
  }
}
