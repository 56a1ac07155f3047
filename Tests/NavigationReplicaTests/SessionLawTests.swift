@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

/// A session and a daemon that keeps its half of protocol.md §4 and §5 in the simplest way.
private struct SessionRun {
  /// What the daemon knows of one session.
  struct Session {
    var isOpen = false
    var nonce = ""
    var unanswered: [UInt64] = []
    /// The octets that count against credit, and the credit.
    var sum: UInt64 = 0
    var credit: UInt64 = 0
    var sent: [ClientVerb] = []
    var watched: [String] = []
  }

  static let window: UInt64 = 32768
  var session: SessionReplica
  var random: SeededGenerator
  var now: UInt64 = 5000
  /// The daemon's session; nil without a connection.
  var daemon: Session?
  var connectAt: UInt64?
  var nonces: Set<String> = []
  var used: Set<UInt64> = []
  /// The highest id of a request, and of a watch.
  var (request, watch): (UInt64, UInt64) = (0, 0)
  /// The octets of every request, and what each was answered.
  var octets: [UInt64: [UInt8]] = [:]
  var answers: [UInt64: String] = [:]
  var told: [UInt64: String] = [:]
  var navs: [String] = []
  var (losses, resent, most): (Int, Int, Int) = (0, 0, 0)

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    session = SessionReplica(
      client: ClientID(high: 1, low: seed), window: Self.window, seed: seed)
  }

  mutating func below(_ bound: UInt64) -> UInt64 { random.next() % bound }

  mutating func perform(_ outputs: [SessionOutput]) {
    for output in outputs {
      switch output {
      case .send(let verb, let body): take(verb, body)
      case .reconnect(let at):
        #expect(now <= at && at <= now + 5000)
        (daemon, connectAt) = (nil, at)
        losses += 1
      case .event(.answered(let id, let result)): note(id, result)
      case .event, .navElsewhere, .handOverAll: break
      }
    }
  }

  private mutating func note(_ id: UInt64, _ result: Result<OkReply, ErrReply>) {
    #expect(told[id] == nil, "request \(id) is answered twice")
    switch result {
    case .success: told[id] = "ok"
    case .failure(let refusal): told[id] = refusal.code
    }
    #expect(told[id] == answers[id])
  }

  /// The daemon gets a message.
  private mutating func take(_ verb: ClientVerb, _ body: [UInt8]) {
    var reader = ClientMessageReader()
    guard var daemon,
      let message = try? reader.read(frame: verb.frame.span, body: body.span)
    else {
      Issue.record("\(verb) without a connection, or unreadable")
      return
    }
    defer { self.daemon = daemon }
    if case .hello(let hello) = message {
      #expect(nonces.insert(hello.nonce).inserted, "a nonce is used again")
      daemon = Session(nonce: hello.nonce)
      return
    }
    #expect(daemon.isOpen, "\(verb) before the welcome")
    daemon.sent.append(verb)
    switch message {
    case .op(let op): take(op.id, body, of: &daemon)
    case .get(let get): take(get.id, body, of: &daemon)
    case .watch(let message):
      #expect(message.id > watch && used.insert(message.id).inserted)
      watch = message.id
      daemon.watched.append(message.nav)
    case .credit(let upTo):
      #expect(upTo == daemon.sum + Self.window && upTo > daemon.credit)
      daemon.credit = upTo
    default: Issue.record("\(verb) was not asked for")
    }
  }

  /// The daemon gets a request: a new one has a higher id, a repeated one the same octets, and an op
  /// then says what the client had seen.
  private mutating func take(_ id: UInt64, _ body: [UInt8], of daemon: inout Session) {
    if let former = octets[id] {
      #expect(former == body.firstOctets, "request \(id) has other octets")
      let isOp = String(decoding: body, as: UTF8.self).contains(#""do":"#)
      #expect((former != body) == isOp, "request \(id) is not marked")
      resent += 1
    } else {
      #expect(id > request && used.insert(id).inserted)
      request = id
      octets[id] = body
    }
    #expect(told[id] == nil && !daemon.unanswered.contains(id))
    daemon.unanswered.append(id)
    most = max(most, daemon.unanswered.count)
    #expect(daemon.unanswered.count <= 64, "more requests than a connection may have")
  }

  private mutating func receive(_ message: ServerMessage, _ verb: ServerVerb, _ count: Int = 10) {
    perform(session.receive(message, verb: verb, octets: count, at: now))
    perform(session.grantCredit())
    guard let daemon, daemon.isOpen else { return }
    // The daemon is never left without half a window.
    #expect(daemon.credit >= daemon.sum + Self.window / 2)
  }

  private mutating func welcome() {
    guard let nonce = daemon?.nonce, daemon?.isOpen == false else { return }
    daemon?.isOpen = true
    daemon?.credit = Self.window
    let open = octets.keys.filter { told[$0] == nil }.sorted()
    receive(
      .welcome(
        Welcome(
          nonce: nonce, boot: Epoch(bits: 1), server: "", heartbeat: 5000, role: "ui",
          lastOp: below(request + 1), window: Self.window, maximumBody: 65536)), .welcome)
    // Watches in the order of their first request, then what has no answer, oldest first.
    #expect(daemon?.watched == navs)
    #expect(daemon?.sent.prefix(navs.count).allSatisfy { $0 == .watch } == true)
    #expect(daemon?.unanswered.starts(with: open.prefix(64)) == true)
  }

  private mutating func answer() {
    guard let daemon, daemon.isOpen, !daemon.unanswered.isEmpty else { return }
    let id = daemon.unanswered[Int(below(UInt64(daemon.unanswered.count)))]
    self.daemon?.unanswered.removeAll { $0 == id }
    guard below(3) == 0 else {
      answers[id] = "ok"
      return receive(.ok(OkReply(id: id)), .ok)
    }
    let retry: Retry = [.no, .sameAfterCorrection, .resync, .later][Int(below(4))]
    answers[id] = "desync"
    var refusal = ErrReply(
      code: "desync", message: "", effect: "none", retry: retry.rawValue,
      body: OpaqueJSON(validated: Array("{}".utf8)))
    refusal.id = id
    receive(.err(refusal), .err)
  }

  /// An event, if the daemon may send one.
  private mutating func event() {
    guard let daemon, daemon.isOpen, daemon.sum < daemon.credit else { return }
    let count = 1 + below(20_000)
    self.daemon?.sum += count
    let event = EphemeralEvent(
      nav: "n0", epoch: Epoch(bits: 1), revision: Revision(1),
      events: OpaqueJSON(validated: Array("[]".utf8)))
    receive(.event(event), .event, Int(count))
  }

  private mutating func wait() {
    guard let wakeAt = session.wakeAt else { return }
    // Whoever calls early gets nothing.
    if wakeAt > now + 1 {
      let early = session.tick(at: wakeAt - 1)
      #expect(early.isEmpty, "\(wakeAt)")
      perform(early)
    }
    now = max(now, wakeAt)
    perform(session.tick(at: now))
    #expect(session.wakeAt.map { $0 > now } ?? true, "a deadline stays behind")
  }

  private mutating func connect() {
    if let connectAt { now = max(now, connectAt) }
    connectAt = nil
    daemon = Session()
    perform(session.connected(at: now))
  }

  mutating func step() {
    now += below(40)
    guard daemon != nil else { return connect() }
    switch below(20) {
    case 0...6:
      let request = OpRequest(id: 0, nav: "kiosk", isAnimated: below(2) == 0)
      perform(session.perform(request, operations: [Array(#"{"pop":{}}"#.utf8)]).outputs)
    case 7: perform(session.get(GetRequest(id: 0, nav: "kiosk")).outputs)
    case 8 where navs.count < 9:
      navs.append("n\(navs.count)")
      perform(session.watch(navs[navs.count - 1]))
    case 9...13: answer()
    case 14, 15: event()
    case 16 where below(6) == 0:
      perform(session.disconnected())
      (daemon, losses) = (nil, losses + 1)
    case 17 where below(8) == 0 && daemon?.isOpen == true:
      receive(.bye(why: "stalled", after: below(3000)), .bye)
    case 18 where below(8) == 0: wait()
    default: welcome()
    }
  }

  mutating func settle() {
    for _ in 0..<3 where daemon?.isOpen != true {
      if daemon == nil { connect() }
      welcome()
    }
    while daemon?.unanswered.isEmpty == false { answer() }
  }
}

@Suite struct SessionLawTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `requests are answered once each, whatever becomes of connections`(seed: UInt64) {
    var run = SessionRun(seed: seed)
    for _ in 0..<700 { run.step() }
    run.settle()
    #expect(run.told.count == run.octets.count && run.told == run.answers, "seed \(seed)")
    #expect(run.losses > 3 && run.resent > 10 && run.most > 3)
  }

  @Test func `the sixty-fifth request waits for the first answer`() throws {
    var session = SessionReplica(client: ClientID(high: 1, low: 2), seed: 1)
    _ = session.connected(at: 0)
    guard case .greeting(let nonce) = session.phase else {
      Issue.record("no hello")
      return
    }
    for _ in 0..<100 { _ = session.get(GetRequest(id: 0, nav: nil, what: .stats)) }
    let welcome = Welcome(
      nonce: nonce, boot: Epoch(bits: 1), server: "", heartbeat: 5000, role: "ui", lastOp: 0,
      window: 65536, maximumBody: 65536)
    let opened = session.receive(.welcome(welcome), verb: .welcome, octets: 9, at: 1)
    #expect(opened.sends == 64)
    for id in 1...100 as ClosedRange<UInt64> {
      let outputs = session.receive(.ok(OkReply(id: id)), verb: .ok, octets: 9, at: 1)
      #expect(outputs.sends == (id <= 36 ? 1 : 0), "\(id)")
    }
  }

  @Test(
    arguments: [
      (0, 16384), (16383, 16384), (16384, 16384), (70000, 70000), (1_048_576, 1_048_576),
      (1_048_577, 1_048_576),
    ] as [(UInt64, UInt64)])
  func `a client asks for a window that the daemon grants`(asked: UInt64, wanted: UInt64) throws {
    var session = SessionReplica(client: ClientID(high: 1, low: 2), window: asked, seed: 1)
    guard case .send(.hello, let body)? = session.connected(at: 0).first else {
      Issue.record("no hello")
      return
    }
    var reader = ClientMessageReader()
    let message = try reader.read(frame: ClientVerb.hello.frame.span, body: body.span)
    guard case .hello(let hello) = message else { return }
    #expect(hello.window == wanted && hello.heartbeat == 5000)
  }
}

extension [SessionOutput] {
  fileprivate var sends: Int { count { if case .send = $0 { true } else { false } } }
}
