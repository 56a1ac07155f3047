import Conformance
import NavigationCore
import NavigationClient

/// One client of a session script, and what its daemons have (Tests/Conformance/README.md).
struct SessionRun {
  /// The client did another thing than the script says.
  struct Mismatch: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }

  /// A message that the client sent.
  struct Sent {
    var daemon: String
    var verb: String
    var body: JSONTree
    var octets: String
  }

  /// A request or a message of the client, by the name that the script gives it.
  struct Named {
    var id: UInt64
    var nav: String?
    var isRequest: Bool
  }

  /// The state of a nav at its daemon.
  struct Nav {
    var epoch = String(repeating: "e", count: 16)
    var revision = 1
    var digest = ""
    /// The screens and their versions, bottom first.
    var screens: [(id: String, version: UInt64)] = []
  }

  var client: ClusterReplica
  var now: UInt64 = 1000
  var sent: [Sent] = []
  var events: [(text: String, body: JSONTree)] = []
  /// When each connection is to be made, and to which daemon.
  var plans: [LinkID: (daemon: String, at: UInt64)] = [.first: ("A", 1000)]
  var up: [String: LinkID] = [:]
  var nonce = JSONTree.null
  var named: [String: Named] = [:]
  /// The octets of each request when it was sent first.
  var octets: [UInt64: String] = [:]
  var navs: [String: Nav] = [:]
  /// The epochs by nav, revision and digest.
  var positions: [String: String] = [:]
  var asks: [UInt64: AskID] = [:]
  var reader = ServerMessageReader()

  init(seed: UInt64) {
    client = ClusterReplica(client: ClientID(high: 0, low: 0), name: "script", seed: seed)
  }

  static func address(of daemon: String) -> DaemonAddress {
    let name = daemon.lowercased()
    return DaemonAddress(
      endpoint: "tcp://\(name)", key: String(repeating: "k", count: 40),
      web: "http://\(name).test")
  }

  static func daemon(at address: DaemonAddress?) -> String {
    address?.endpoint.dropFirst(6).uppercased() ?? "A"
  }

  // Outputs of the client.

  mutating func perform(_ outputs: [ClusterOutput]) throws {
    let isOver = outputs.contains { if case .event(.closed) = $0 { true } else { false } }
    for output in outputs {
      switch output {
      case .send(let link, let verb, let body):
        guard let daemon = up.first(where: { $0.value == link })?.key else { break }
        let octets = String(decoding: body, as: UTF8.self)
        let tree = try JSONTree(octets)
        sent.append(Sent(daemon: daemon, verb: verb.rawValue, body: tree, octets: octets))
      case .connect(let link, let address, let at):
        up = up.filter { $0.value != link }
        plans[link] = (Self.daemon(at: address), at)
      case .close(let link):
        up = up.filter { $0.value != link }
        plans[link] = nil
      case .event(.duty(.leaseLost)) where isOver: break
      case .event(let event): note(event)
      case .dropUnsent: break
      }
    }
  }

  private mutating func report(_ text: String, _ nav: String? = nil, _ body: JSONTree = .null) {
    events.append((nav == nil || nav == "kiosk" ? text : "\(text) \(nav ?? "")", body))
  }

  func name(of id: UInt64) -> String? {
    named.first { $0.value.id == id && $0.value.isRequest }?.key
  }

  private mutating func note(_ event: SessionEvent) {
    switch event {
    case .opened, .lost, .traced: break
    case .closed(.refused(let refusal)): report("closed \(refusal.code)")
    case .closed(.dismissed(let why)): report("closed \(why)")
    case .answered(let id, .success(let reply)):
      report("answer \(name(of: id) ?? "?") ok", nil, Self.members(of: reply))
    case .answered(let id, .failure(let refusal)):
      report("answer \(name(of: id) ?? "?") \(refusal.code)", nil, Self.members(of: refusal))
    case .queued(let id, _): if let name = name(of: id) { report("queued \(name)") }
    case .changed(let nav, .applied(let mirror, _)): show(mirror, "applied", nav)
    case .changed(let nav, .replaced(let mirror, _)): show(mirror, "replaced", nav)
    case .changed(let nav, .resumed(let mirror)): show(mirror, "resumed", nav)
    case .changed: break
    case .latest(let latest):
      report("latest \(latest.view) \(latest.revision.number)", latest.nav)
    case .ephemeral(let event): report("event", event.nav)
    case .watchEnded(let nav, let view, .ended(let why, _)): report("end \(view.text) \(why)", nav)
    case .watchEnded(let nav, let view, .refused(let refusal)):
      report("end \(view.text) \(refusal.code)", nav)
    case .duty(let event): note(event)
    }
  }

  private mutating func note(_ event: DutyEvent) {
    switch event {
    case .registered(_, let roles) where roles.isEmpty: break
    case .registered(let nav, _): report("delegate granted", nav)
    case .registrationRefused(let nav, let refusal): report("delegate \(refusal.code)", nav)
    case .asked(let id, let ask):
      asks[id.number] = id
      report("ask \(id.number)", ask.nav)
    case .settled(let id, let nav, _), .voided(let id, let nav): report("void \(id.number)", nav)
    case .leaseTaken(let nav, _): report("lease granted", nav)
    case .leaseRefused(let nav, let refusal): report("lease \(refusal.code)", nav)
    case .leaseLost(let nav, isTakenAgain: false): report("lease lease-lost", nav)
    case .leaseLost, .leaseReleased, .interrupted: break
    }
  }

  private mutating func show(_ mirror: Mirror, _ how: String, _ nav: String) {
    let stack = mirror.screens.map { JSONTree.string($0.id) }
    report(
      "state \(mirror.revision.number) \(how)", nav,
      .object([.init(name: "stack", value: .array(stack))]))
  }

  private static func members(of reply: OkReply) -> JSONTree {
    var members: [JSONTree.Member] = []
    if reply.dryRun != nil { members.append(.init(name: "dry", value: .bool(true))) }
    if let revision = reply.revision {
      members.append(.init(name: "rev", value: .number("\(revision.number)")))
    }
    return .object(members)
  }

  private static func members(of refusal: ErrReply) -> JSONTree {
    var members: [JSONTree.Member] = [
      .init(name: "effect", value: .string(refusal.effect)),
      .init(name: "retry", value: .string(refusal.retry)),
    ]
    if let reason = refusal.reason { members.append(.init(name: "reason", value: .string(reason))) }
    return .object(members)
  }

  // Time and connections.

  func isWanted(_ daemon: String) -> Bool {
    plans.values.contains { $0.daemon == daemon && $0.at <= now }
  }

  /// Lets the time pass up to a moment, or until something is there; returns whether it is.
  mutating func pass(until end: UInt64, _ isThere: (SessionRun) -> Bool = { _ in false }) throws
    -> Bool
  {
    for _ in 0..<10_000 {
      if isThere(self) { return true }
      let planned = plans.values.map(\.at).filter { $0 > now }.min() ?? .max
      let at = min(client.wakeAt ?? .max, planned)
      guard at <= end else {
        now = end
        return false
      }
      now = max(now, at)
      try perform(client.tick(at: now))
    }
    throw Mismatch("the timers never rest")
  }

  mutating func connect(_ daemon: String) throws {
    guard try pass(until: now + 6000, { $0.isWanted(daemon) }),
      let link = plans.first(where: { $0.value.daemon == daemon && $0.value.at <= now })?.key
    else { throw Mismatch("the client does not connect to \(daemon)") }
    plans[link] = nil
    up[daemon] = link
    try perform(client.connected(link, to: Self.address(of: daemon).endpoint, at: now))
  }

  mutating func lose(_ daemon: String) throws {
    guard let link = up.removeValue(forKey: daemon) else { throw Mismatch("no connection") }
    // The shell of this client connects again by itself.
    plans[link] = (daemon, now)
    try perform(client.disconnected(link, at: now))
  }

  mutating func hand(_ daemon: String, _ verb: String, _ body: JSONTree, octets: Int?) throws {
    guard let link = up[daemon] else { throw Mismatch("no connection to \(daemon)") }
    let bytes = Array(body.text.utf8)
    do {
      let message = try reader.read(verb: Array("nsp1.\(verb)".utf8), body: bytes)
      try perform(
        client.receive(
          message, verb: ServerVerb(word: verb), octets: octets ?? bytes.count, from: link,
          at: now))
    } catch is ServerMessageFailure {
      try perform(client.receiveUnreadable(from: link, at: now))
    }
    try perform(client.grantCredit())
  }
}
