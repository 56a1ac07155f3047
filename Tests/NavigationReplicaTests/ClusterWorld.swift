@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

/// One client and three daemons that divide four navs among themselves (protocol.md, 17).
///
/// There is no network: each message waits until the world delivers it.
struct ClusterWorld {
  struct Daemon {
    /// The address that other daemons name, and the one at which the client may know it.
    var (endpoint, alias): (String, String)
    var isUp = true
    var boot: UInt64
  }

  struct Nav {
    var state = NaiveNav()
    /// The diffs of all revisions, by their base.
    var diffs: [UInt64: Diff] = [:]
    var owner: Int?
    /// The newest op that was performed, and the answers to all.
    var lastOp: UInt64 = 0
    var answers: [UInt64: OkReply] = [:]
    /// The connection whose session has the lease.
    var lease: Int?
  }

  /// What a daemon knows of one connection of the client.
  struct Connection {
    var link: LinkID
    var daemon: Int
    var isOpen = false
    /// The messages on their way to the daemon and to the client.
    var up: [(verb: ClientVerb, body: [UInt8])] = []
    var down: [(message: ServerMessage, verb: ServerVerb)] = []
    var watches: Set<String> = []
    var roles: Set<String> = []
  }

  struct Plan {
    var at: UInt64
    var endpoint: String?
  }

  var client: ClusterReplica
  var random: SeededGenerator
  var now: UInt64 = 1000
  var daemons: [Daemon]
  var navs: [String: Nav] = [:]
  var connections: [Int: Connection] = [:]
  var plans: [LinkID: Plan] = [:]
  /// The address of each link; nil for the configured ones.
  var addresses: [LinkID: String?] = [:]
  var seedPlace = 0
  private var made = 0
  private var boots: UInt64 = 100
  /// The octets and the nav of each id, of ops alone, the answered ids, and the mirrors that the user has seen.
  var octets: [UInt64: [UInt8]] = [:]
  var asked: [UInt64: String] = [:]
  var ops: [UInt64: String] = [:]
  /// How often the client may watch each nav, because it was asked to or lost a watch.
  var watchesDue: [String: Int] = [:]
  var told: Set<UInt64> = []
  var seen: [String: Mirror] = [:]
  var counts: [String: Int] = [:]

  static let names = ["a", "b", "c", "d"]
  static let configured = ["tcp://m0", "tcp://m1", "tcp://other2"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    client = ClusterReplica(client: ClientID(high: 1, low: seed), name: "t", seed: seed)
    daemons = (0..<3).map {
      Daemon(
        endpoint: "tcp://m\($0)", alias: Self.configured[$0], boot: UInt64($0 + 1))
    }
    for name in Self.names { navs[name] = Nav(owner: Int(random.next() % 3)) }
    plans[.first] = Plan(at: 0)
    addresses[.first] = .some(nil)
  }

  mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  mutating func count(_ what: String) { counts[what, default: 0] += 1 }

  // The client.

  mutating func run(_ outputs: [ClusterOutput]) {
    for output in outputs {
      switch output {
      case .send(let link, let verb, let body): send(link, verb, body)
      case .connect(let link, let address, let at):
        cut(link)
        addresses[link] = .some(address?.endpoint)
        plans[link] = Plan(at: at, endpoint: address?.endpoint)
      case .close(let link):
        // The farewell still arrives.
        if let number = number(of: link) { drain(number) }
        cut(link)
        plans[link] = nil
        addresses[link] = nil
      case .dropUnsent: break
      case .event(let event): note(event)
      }
    }
  }

  private mutating func note(_ event: SessionEvent) {
    switch event {
    case .answered(let id, let result):
      #expect(told.insert(id).inserted, "request \(id) is answered twice")
      if case .failure(let refusal) = result { Issue.record("\(id) is refused: \(refusal.code)") }
    case .changed(let nav, .applied(let mirror, let diff)):
      #expect(seen[nav]?.revision == diff.base, "a gap in \(nav)")
      see(nav, mirror)
    case .changed(let nav, .replaced(let mirror, _)):
      #expect(seen[nav] == nil, "\(nav) was resumed nowhere")
      see(nav, mirror)
    case .changed(let nav, .resumed(let mirror)):
      count("resumed")
      #expect(seen[nav] == mirror)
    case .closed(let end):
      count("closed")
      Issue.record("closed: \(end)")
    case .watchEnded(let nav, _, let outcome): Issue.record("\(nav): \(outcome)")
    default: break
    }
  }

  private mutating func see(_ nav: String, _ mirror: Mirror) {
    #expect(navs[nav]?.state.past.contains(mirror) == true, "\(nav) never was like this")
    seen[nav] = mirror
  }

  private func number(of link: LinkID) -> Int? {
    connections.first { $0.value.link == link }?.key
  }

  private mutating func send(_ link: LinkID, _ verb: ClientVerb, _ body: [UInt8]) {
    guard let number = number(of: link) else {
      Issue.record("\(verb) without a connection")
      return
    }
    connections[number]?.up.append((verb, body))
    guard verb == .watch, case .watch(let watch)? = Self.read(verb, body) else { return }
    watchesDue[watch.nav, default: 0] -= 1
    #expect(watchesDue[watch.nav, default: 0] >= 0, "\(watch.nav) was disturbed")
    asked[watch.id] = watch.nav
  }

  private static func read(_ verb: ClientVerb, _ body: [UInt8]) -> ClientMessage? {
    var reader = ClientMessageReader()
    return try? reader.read(frame: verb.frame.span, body: body.span)
  }

  /// Drops a connection without a word to the client.
  private mutating func cut(_ link: LinkID) {
    guard let number = number(of: link) else { return }
    connections[number] = nil
    forget(number)
  }

  private mutating func forget(_ number: Int) {
    for nav in Self.names where navs[nav]?.lease == number { navs[nav]?.lease = nil }
  }

  /// Allows a further watch of all navs that the client has at a link.
  private mutating func disturb(_ link: LinkID) {
    for nav in Self.names
    where client.memberIndex(ofNav: nav).map({ client.members[$0].link }) == link {
      watchesDue[nav, default: 0] += 1
    }
  }

  mutating func lose(_ number: Int) {
    guard let connection = connections.removeValue(forKey: number) else { return }
    count("lost")
    forget(number)
    disturb(connection.link)
    plans[connection.link] = Plan(at: now + UInt64(below(200)))
    if below(2) == 0, connection.link == .first { seedPlace += 1 }
    run(client.disconnected(connection.link, at: now))
  }

  private mutating func connect(_ link: LinkID) {
    guard let plan = plans.removeValue(forKey: link), let address = addresses[link] else { return }
    now = max(now, plan.at)
    let endpoint = address ?? Self.configured[seedPlace % 3]
    let daemon = daemons.firstIndex { $0.endpoint == endpoint || $0.alias == endpoint }
    guard let daemon, daemons[daemon].isUp else {
      plans[link] = Plan(at: now + 100)
      if address == nil { seedPlace += 1 }
      return run(client.failed(link, at: now))
    }
    made += 1
    count("connected")
    connections[made] = Connection(link: link, daemon: daemon)
    run(client.connected(link, to: endpoint, at: now))
  }

  // The daemons.

  mutating func crash(_ daemon: Int) {
    guard daemons[daemon].isUp else { return }
    count("crashed")
    daemons[daemon].isUp = false
    for nav in Self.names where navs[nav]?.owner == daemon { navs[nav]?.owner = nil }
    for (number, connection) in connections where connection.daemon == daemon { lose(number) }
  }

  mutating func start(_ daemon: Int) {
    guard !daemons[daemon].isUp else { return }
    boots += 1
    daemons[daemon].boot = boots
    daemons[daemon].isUp = true
  }

  /// Gives a nav to another daemon, or to none.
  ///
  /// A daemon takes a nav only when no op about it, or refusal of one, is on the way, except the
  /// oldest without an answer: else it could refuse one op and perform a later one. A client sends
  /// no further op to a daemon that has not shown that it has the nav; so only a daemon that loses
  /// and regains a nav within one round trip could.
  mutating func move(_ nav: String, to owner: Int?) {
    guard navs[nav]?.owner != owner else { return }
    if let owner, !canOwn(nav, owner) { return }
    guard let former = navs[nav]?.owner else {
      navs[nav]?.owner = owner
      return
    }
    navs[nav]?.owner = owner
    navs[nav]?.lease = nil
    for number in connections.keys.sorted() where connections[number]?.daemon == former {
      connections[number]?.roles.remove(nav)
      guard connections[number]?.watches.remove(nav) != nil else { continue }
      let state = navs[nav]?.state.state
      let end = WatchEnd(
        nav: nav, view: "full", epoch: state?.epoch ?? Epoch(bits: 1),
        revision: state?.revision ?? Revision(1), why: "moved",
        daemon: owner.map { DaemonAddress(endpoint: daemons[$0].endpoint) })
      reply(number, .end(end), .end)
    }
  }

  private func canOwn(_ nav: String, _ daemon: Int) -> Bool {
    guard daemons[daemon].isUp else { return false }
    let open = ops.filter { $0.value == nav && !told.contains($0.key) }.keys.min()
    return connections.values.filter { $0.daemon == daemon }.allSatisfy { connection in
      let asked = connection.up.filter { $0.verb == .op }.compactMap { verb, body -> UInt64? in
        guard case .op(let op)? = Self.read(verb, body), op.nav == nav else { return nil }
        return op.id
      }
      let refused = connection.down.compactMap { message, _ -> UInt64? in
        guard case .err(let refusal) = message, let id = refusal.id else { return nil }
        return ops[id] == nav ? id : nil
      }
      // From the time when the daemon had the nav before.
      let isFormer = connection.down.contains { message, _ in
        switch message {
        case .ok(let reply): reply.nav == nav
        case .end(let end): end.nav == nav
        default: false
        }
      }
      return !isFormer && (asked + refused).allSatisfy { $0 == open }
    }
  }

  private mutating func reply(_ number: Int, _ message: ServerMessage, _ verb: ServerVerb) {
    connections[number]?.down.append((message, verb))
  }

  private mutating func drain(_ number: Int) {
    while connections[number]?.up.isEmpty == false { process(number) }
  }

  /// A daemon takes one message.
  mutating func process(_ number: Int) {
    guard connections[number]?.up.isEmpty == false,
      let (verb, body) = connections[number]?.up.removeFirst()
    else { return }
    guard let message = Self.read(verb, body) else {
      Issue.record("\(verb) is unreadable")
      return
    }
    if case .hello(let hello) = message { return greet(number, hello) }
    guard connections[number]?.isOpen == true else { return }
    switch message {
    case .op(let op):
      note(op.id, body, isOp: true)
      serve(number, op.nav, op.id) { $0.perform(op.id, op.nav) }
    case .watch(let watch):
      note(watch.id, body)
      serve(number, watch.nav, watch.id) { $0.resume(number, watch) }
      continueWatch(number, watch)
    case .lease(let lease):
      note(lease.id, body)
      serve(number, lease.nav, lease.id) { world in
        world.navs[lease.nav]?.lease = number
        return OkReply(id: lease.id, nav: lease.nav, leaseOwner: "t")
      }
    case .delegate(let request):
      note(request.id, body)
      serve(number, request.nav, request.id) { world in
        world.connections[number]?.roles.insert(request.nav)
        return OkReply(id: request.id, nav: request.nav)
      }
    case .bye, .credit: break
    default: Issue.record("\(verb) was not asked for")
    }
  }

  private mutating func greet(_ number: Int, _ hello: Hello) {
    guard let daemon = connections[number]?.daemon else { return }
    for other in connections.keys.sorted()
    where other != number && connections[other]?.daemon == daemon
      && connections[other]?.isOpen == true
    {
      count("fenced")
      connections[other]?.isOpen = false
      connections[other]?.up = []
      connections[other]?.watches = []
      connections[other]?.roles = []
      forget(other)
      reply(other, .bye(why: "fenced", after: nil), .bye)
    }
    connections[number]?.isOpen = true
    let welcome = Welcome(
      nonce: hello.nonce, boot: Epoch(bits: daemons[daemon].boot), server: "",
      features: ["shards"], heartbeat: 60_000,
      role: "ui", lastOp: 0, window: 1 << 20, maximumBody: 65536)
    reply(number, .welcome(welcome), .welcome)
  }

  private mutating func note(_ id: UInt64, _ body: [UInt8], isOp: Bool = false) {
    guard let former = octets[id] else {
      octets[id] = body.firstOctets
      return
    }
    #expect(former == body.firstOctets && isOp, "the id \(id) is used again")
    count("repeated")
  }

  /// Answers a request if the daemon has the nav; else names the one that has it.
  private mutating func serve(
    _ number: Int, _ nav: String, _ id: UInt64, _ body: (inout Self) -> OkReply
  ) {
    guard let daemon = connections[number]?.daemon else { return }
    guard navs[nav]?.owner == daemon else { return refuse(number, nav, id) }
    let answer = body(&self)
    reply(number, .ok(answer), .ok)
  }

  private mutating func refuse(_ number: Int, _ nav: String, _ id: UInt64) {
    let owner = navs[nav]?.owner
    var refusal = ErrReply(
      id: id, code: owner == nil ? "busy" : "moved", message: "", effect: "none",
      retry: owner == nil ? "later" : "same", body: OpaqueJSON(validated: Array("{}".utf8)))
    refusal.nav = nav
    refusal.reason = owner == nil ? "no-owner" : nil
    refusal.after = owner == nil ? UInt64(below(100)) : nil
    refusal.daemon = owner.map { DaemonAddress(endpoint: daemons[$0].endpoint) }
    count(refusal.code)
    reply(number, .err(refusal), .err)
  }

  private mutating func perform(_ id: UInt64, _ nav: String) -> OkReply {
    if let answer = navs[nav]?.answers[id] { return answer }
    #expect(id > navs[nav]?.lastOp ?? 0, "the ops of \(nav) are out of order")
    navs[nav]?.lastOp = id
    change(nav)
    let answer = OkReply(id: id, nav: nav, changed: true)
    navs[nav]?.answers[id] = answer
    return answer
  }

  /// Changes a nav, and sends the diff to the watches at its owner.
  private mutating func change(_ nav: String) {
    guard var diff = navs[nav]?.state.change(&random) else { return }
    diff.nav = nav
    navs[nav]?.diffs[diff.base.number] = diff
    for number in connections.keys.sorted()
    where connections[number]?.watches.contains(nav) == true {
      reply(number, .diffs([diff]), .diff)
    }
  }

  private mutating func resume(_ number: Int, _ watch: WatchRequest) -> OkReply {
    let state = navs[watch.nav]?.state
    let canResume = watch.from.map { state?.knows($0) ?? false } ?? false
    var answer = OkReply(id: watch.id, nav: watch.nav, epoch: state?.state.epoch)
    answer.watchMode = canResume ? "resume" : "snap"
    return answer
  }

  /// Sends what follows the answer to a watch: the diffs that the mirror lacks, or a snapshot.
  private mutating func continueWatch(_ number: Int, _ watch: WatchRequest) {
    guard let nav = navs[watch.nav], nav.owner == connections[number]?.daemon else { return }
    connections[number]?.watches.insert(watch.nav)
    if let from = watch.from, nav.state.knows(from) {
      for revision in from.revision.number..<nav.state.state.revision.number {
        if let diff = nav.diffs[revision] { reply(number, .diffs([diff]), .diff) }
      }
      return
    }
    for part in nav.state.snapshot(of: 100) {
      var part = part
      part.nav = watch.nav
      reply(number, .snap(part), .snap)
    }
  }
}

extension ClusterWorld {
  /// The client takes the next message of a connection.
  mutating func deliver(_ number: Int) {
    guard let connection = connections[number], !connection.down.isEmpty,
      let (message, verb) = connections[number]?.down.removeFirst()
    else { return }
    switch message {
    case .err(let refusal):
      if let nav = refusal.id.flatMap({ asked[$0] }) { watchesDue[nav, default: 0] += 1 }
    case .end(let end): watchesDue[end.nav, default: 0] += 1
    // Two sessions with one daemon become one.
    case .welcome, .bye: for link in client.members.map(\.link) { disturb(link) }
    default: break
    }
    run(client.receive(message, verb: verb, octets: 10, from: connection.link, at: now))
    run(client.grantCredit())
  }

  mutating func perform(_ nav: String) {
    let request = OpRequest(id: 0, nav: nav)
    let (id, outputs) = client.perform(request, operations: [Array(#"{"pop":{}}"#.utf8)])
    #expect(asked[id] == nil && asked.keys.allSatisfy { $0 < id })
    asked[id] = nav
    ops[id] = nav
    run(outputs)
  }

  mutating func watch(_ nav: String) {
    guard client.replica(of: nav) == nil else { return }
    watchesDue[nav, default: 0] += 1
    run(client.watch(nav))
  }

  mutating func step() {
    now += UInt64(below(30))
    run(client.tick(at: now))
    let nav = Self.names[below(4)]
    let all = connections.keys.sorted()
    switch below(40) {
    case 0...3: perform(nav)
    case 4: watch(nav)
    case 5: run(client.lease(nav, .take, isKept: true))
    case 6: run(client.delegate(nav, DelegateRegistration(roles: [.veto])))
    case 7, 8: move(nav, to: below(3) == 0 ? nil : below(3))
    case 9 where below(4) == 0: if let number = all.randomElement(using: &random) { lose(number) }
    case 10 where below(8) == 0: crash(below(3))
    case 11: start(below(3))
    case 12 where below(20) == 0: now = client.wakeAt ?? now
    case 13...15: if let link = nextPlan { connect(link) }
    case 16...27: if let number = all.randomElement(using: &random) { process(number) }
    default: if let number = all.randomElement(using: &random) { deliver(number) }
    }
  }

  private var nextPlan: LinkID? {
    plans.min { ($0.value.at, $0.key.number) < ($1.value.at, $1.key.number) }?.key
  }

  /// Lets everything come to rest: all daemons run, and each nav has one.
  mutating func settle() {
    for daemon in daemons.indices { start(daemon) }
    let end = now + 40_000
    while now < end {
      for number in connections.keys.sorted() {
        drain(number)
        while connections[number]?.down.isEmpty == false { deliver(number) }
      }
      for nav in Self.names where navs[nav]?.owner == nil { move(nav, to: below(3)) }
      let isAtRest =
        nextPlan == nil && connections.values.allSatisfy { $0.up.isEmpty && $0.down.isEmpty }
      now = isAtRest ? min(max(now + 20, client.wakeAt ?? end), end) : now + 20
      run(client.tick(at: now))
      if let link = nextPlan { connect(link) }
    }
  }
}
