import NavigationCore
import NavigationClient
import NavigationHub
import Testing

/// Several sessions and one hub, with nothing but queues between them.
private struct World {
  struct Client {
    var session: SessionReplica
    var connection: ConnectionID
    /// From the hub to the client.
    var inbox: [(verb: ServerVerb, body: [UInt8])] = []
    var answered: Set<UInt64> = []
    var asked: Set<UInt64> = []
    /// The digest of every state that was shown, by revision.
    var shown: [UInt64: Digest] = [:]
    var faults = 0
    /// Where revisions of a life of the nav were shown without a snapshot in between.
    var last: UInt64?
  }

  var hub = Hub(configuration: HubConfiguration(), seed: 5)
  var clients: [Client] = []
  var random: Generator
  var now: UInt64 = 1000
  var connections: UInt64 = 0
  let peer = Peer.local(user: 0, group: 0, process: 1)

  init(seed: UInt64, clients count: Int) {
    random = Generator(state: seed)
    for index in 0..<UInt64(count) {
      let id = ClientID(high: seed, low: index + 1)
      clients.append(
        Client(
          session: SessionReplica(client: id, name: "c\(index)", window: 16384, seed: index),
          connection: ConnectionID(0)))
    }
  }

  mutating func connect(_ index: Int) {
    connections += 1
    clients[index].connection = ConnectionID(connections)
    clients[index].inbox = []
    perform(clients[index].session.connected(at: now), of: index)
  }

  mutating func disconnect(_ index: Int) {
    hub.handle(.closed(clients[index].connection), at: instant)
    settle()
    perform(clients[index].session.disconnected(), of: index)
  }

  var instant: Instant { Instant(boot: now, wall: now) }

  mutating func settle() {
    _ = hub.takeRecords()
    for message in hub.committed(at: instant).messages {
      for index in clients.indices where clients[index].connection == message.connection {
        clients[index].inbox.append((message.verb, message.body))
      }
    }
  }

  mutating func perform(_ outputs: [SessionOutput], of index: Int) {
    for output in outputs {
      switch output {
      case .send(let verb, let body):
        var reader = hub.makeReader()
        let connection = clients[index].connection
        hub.handle(
          HubEvent(
            frame: verb.frame.span, body: body.span, from: connection, peer, reader: &reader),
          at: instant)
        settle()
      case .reconnect:
        disconnect(index)
        connect(index)
      case .navElsewhere, .handOverAll, .event(.duty):
        Issue.record("nobody plays a role and nothing moves")
      case .event(let event): note(event, of: index)
      }
    }
  }

  mutating func note(_ event: SessionEvent, of index: Int) {
    switch event {
    case .answered(let id, _):
      #expect(clients[index].answered.insert(id).inserted, "answered twice")
    case .changed(_, .applied(let mirror, _)):
      #expect(
        clients[index].last.map { $0 + 1 } == mirror.revision.number, "a revision was skipped")
      show(mirror, index)
    case .changed(_, .replaced(let mirror, _)), .changed(_, .resumed(let mirror)):
      show(mirror, index)
    case .changed(_, .suspect): clients[index].faults += 1
    default: break
    }
  }

  mutating func show(_ mirror: Mirror, _ index: Int) {
    let number = mirror.revision.number
    clients[index].last = number
    let before = clients[index].shown.updateValue(mirror.digest, forKey: number)
    #expect(before == nil || before == mirror.digest, "one revision had two states")
    let computed = Digest.checksum(
      screens: mirror.screens.map { ($0.id, $0.version.number) },
      parts: mirror.parts.map { ($0.id, $0.version.number) })
    #expect(computed == mirror.digest.checksum)
  }

  /// Delivers the oldest message, or loses it.
  mutating func deliver(_ index: Int, losing: Bool = false) throws {
    guard !clients[index].inbox.isEmpty else { return }
    let (verb, body) = clients[index].inbox.removeFirst()
    // Only what a mirror can notice; anything else a FIFO does not lose.
    if losing, verb == .diff || verb == .diffs { return }
    var reader = ServerMessageReader()
    let message = try reader.read(verb: verb.frame, body: body)
    let outputs = clients[index].session.receive(
      message, verb: verb, octets: body.count, at: now)
    perform(outputs, of: index)
    perform(clients[index].session.grantCredit(), of: index)
  }

  mutating func operate(_ index: Int, _ json: String, _ basis: GuardBasis) {
    guard let guards = clients[index].session.replica(of: "kiosk")?.guards(for: basis) else {
      return
    }
    let request = OpRequest(id: 0, nav: "kiosk", guards: guards)
    let (id, outputs) = clients[index].session.perform(request, operations: [Array(json.utf8)])
    clients[index].asked.insert(id)
    perform(outputs, of: index)
  }

  mutating func drain() throws {
    var isQuiet = false
    while !isQuiet {
      isQuiet = true
      for index in clients.indices {
        while !clients[index].inbox.isEmpty {
          isQuiet = false
          try deliver(index)
        }
      }
    }
  }
}

extension World {
  /// Loses nothing for a minute.
  ///
  /// Put-off requests are asked again when their time has come; a session whose credit was lost
  /// with a message is ended by the hub as stalled, and opened anew.
  fileprivate mutating func calm() throws {
    for _ in 0..<20 {
      now += 3000
      hub.handle(.wake, at: instant)
      settle()
      try drain()
      for index in clients.indices { perform(clients[index].session.tick(at: now), of: index) }
      try drain()
    }
  }
}

private struct Generator {
  var state: UInt64

  mutating func below(_ bound: UInt64) -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state >> 33) % bound
  }
}

@Suite struct SessionAndHubTests {
  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `whatever is lost, every mirror ends as the hub's and every op is answered once`(
    seed: UInt64
  ) throws {
    var world = World(seed: seed, clients: 3)
    for index in 0..<3 { world.connect(index) }
    try world.drain()
    let create = Array(#"{"nav.create":{"root":{"id":"home","title":"Home"}}}"#.utf8)
    let (id, outputs) = world.clients[0].session.perform(
      OpRequest(id: 0, nav: "kiosk"), operations: [create])
    world.clients[0].asked.insert(id)
    world.perform(outputs, of: 0)
    for index in 0..<3 {
      world.perform(world.clients[index].session.watch("kiosk"), of: index)
    }
    for step in 0..<400 {
      let index = Int(world.random.below(3))
      switch world.random.below(20) {
      case 0:
        world.disconnect(index)
        world.connect(index)
      case 1: try world.deliver(index, losing: true)
      case 2...7: world.operate(index, #"{"push":{"screen":{"title":"S\#(step)"}}}"#, .epoch)
      case 8...9: world.operate(index, #"{"pop":{}}"#, .top)
      case 10: world.operate(index, #"{"popToRoot":{}}"#, .epoch)
      case 11: world.operate(index, #"{"item.set":{"screen":"home","title":"T\#(step)"}}"#, .epoch)
      default: try world.deliver(index)
      }
    }
    try world.calm()
    // What was lost at the very end is noticed at the next diff.
    world.operate(0, #"{"push":{"screen":{"id":"last"}}}"#, .epoch)
    try world.calm()
    let mirrors = world.clients.map { $0.session.replica(of: "kiosk")?.mirror }
    #expect(mirrors[0]?.top == "last")
    #expect(mirrors[0].map { $0.revision.number > 20 } ?? false)
    #expect(mirrors[1]?.position == mirrors[0]?.position)
    #expect(mirrors[2]?.position == mirrors[0]?.position)
    for client in world.clients {
      #expect(client.session.replica(of: "kiosk")?.isSynced == true)
      #expect(client.answered == client.asked)
    }
  }
}
