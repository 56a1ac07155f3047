import NavigationCore
import NavigationHub
import Testing

@testable import NavigationClient

/// A hub and one session with a mirror of the nav `kiosk`, joined without sockets.
///
/// It shows what the operations of the public library do, by the state that a watch then has.
struct HubRig {
  private var hub: Hub
  private var session: SessionReplica
  private var inbox: [(verb: ServerVerb, body: [UInt8])] = []
  private var answers: [UInt64: Result<OkReply, ErrReply>] = [:]
  /// The list of events of the newest diff or event message, as JSON.
  private(set) var eventList: [UInt8] = []
  private var now: UInt64 = 1000
  private static let nav = "kiosk"
  private static let connection = ConnectionID(1)
  private static let user = Peer.local(user: 0, group: 0, process: 1)

  init(configuration: HubConfiguration = HubConfiguration()) throws {
    hub = Hub(configuration: configuration, seed: 5)
    session = SessionReplica(client: ClientID(high: 1, low: 2), name: "rig", seed: 3)
    run(session.connected(at: now))
    try deliver()
  }

  /// Performs operations as one message.
  ///
  /// - Returns: the reply.
  /// - Throws: the error as a program gets it.
  @discardableResult
  mutating func perform(
    _ operations: [NavigationOperation], guardedBy guards: NavigationGuard = .override,
    animated: Bool? = nil, on nav: String = nav
  ) throws -> NavigationReply {
    let request = OpRequest(
      id: 0, nav: nav, guards: guards.guards, isAnimated: animated)
    let (id, outputs) = session.perform(request, operations: operations.map(\.octets.bytes))
    eventList = []
    run(outputs)
    try deliver()
    guard let answer = answers.removeValue(forKey: id) else {
      throw Unexpected(what: "no answer to \(operations.map(\.json))")
    }
    switch answer {
    case .success(let reply): return NavigationReply(reply)
    case .failure(let refusal): throw NavigationClientError(refusal)
    }
  }

  /// Performs operations that must be refused, and returns the error.
  mutating func refusal(
    of operations: [NavigationOperation], guardedBy guards: NavigationGuard = .override
  ) throws -> NavigationClientError {
    do {
      try perform(operations, guardedBy: guards)
    } catch let error as NavigationClientError {
      return error
    }
    throw Unexpected(what: "performed \(operations.map(\.json))")
  }

  /// Begins the watch; the nav must exist.
  mutating func watch() throws {
    run(session.watch(Self.nav))
    try deliver()
  }

  /// The state that a watch has.
  var state: NavigationState {
    get throws {
      let mirror = try #require(session.replica(of: Self.nav)?.mirror)
      return NavigationState(nav: Self.nav, mirror: mirror)
    }
  }

  /// The ids of the stack, bottom first.
  var stack: [String] { get throws { try state.screens.map(\.id) } }

  /// Reads a value by `get`.
  mutating func read(_ what: GetRequest.What, screen: String? = nil) throws -> NavigationValue {
    var request = GetRequest(id: 0, nav: Self.nav, what: what)
    request.screen = screen
    let (id, outputs) = session.get(request)
    run(outputs)
    try deliver()
    guard let answer = answers.removeValue(forKey: id) else {
      throw Unexpected(what: "no answer to \(what)")
    }
    return NavigationValue.read(try answer.get().value?.bytes ?? []) ?? .null
  }

  private var instant: Instant { Instant(boot: now, wall: now) }

  private mutating func run(_ outputs: [SessionOutput]) {
    for output in outputs {
      switch output {
      case .send(let verb, let body):
        now += 1
        var reader = hub.makeReader()
        hub.handle(
          HubEvent(
            frame: verb.frame.span, body: body.span, from: Self.connection, Self.user,
            reader: &reader), at: instant)
        _ = hub.takeRecords()
        for message in hub.committed(at: instant).messages {
          inbox.append((message.verb, message.body))
        }
      case .event(.answered(let id, let result)): answers[id] = result
      case .event(.changed(_, .applied(_, let diff))):
        eventList = diff.events.bytes
      case .event(.ephemeral(let event)): eventList = event.events.bytes
      case .reconnect, .navElsewhere, .handOverAll, .event(.duty):
        Issue.record("the session left: \(output)")
      case .event: break
      }
    }
  }

  private mutating func deliver() throws {
    while !inbox.isEmpty {
      let (verb, body) = inbox.removeFirst()
      var reader = ServerMessageReader()
      let message = try reader.read(verb: verb.frame, body: body)
      run(session.receive(message, verb: verb, octets: body.count, at: now))
      run(session.grantCredit())
    }
  }
}

extension HubRig {
  /// A rig whose nav shows the screens `home`, `wifi` and `dns`, is on display and is watched.
  static func kiosk(configuration: HubConfiguration = HubConfiguration()) throws -> HubRig {
    var rig = try HubRig(configuration: configuration)
    try rig.perform([.create(root: .init(id: "home", title: "Home", route: "home")), .attach()])
    try rig.watch()
    for id in ["wifi", "dns"] {
      try rig.perform([.push(.init(id: id, title: id.uppercased(), route: "settings/\(id)"))])
    }
    return rig
  }
}
