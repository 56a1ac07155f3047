import FuzzSupport
import NavigationClient
import NavigationCore
@testable import NavigationHub
@testable import Simulation

/// A hub between a journal and a few connections, of which one watches every nav.
///
/// It is a value: each input begins with a copy of one that was prepared.
struct Stage {
  /// The navs that may exist; the last one has the looks of all.
  static let names = ["a", "b", "c", NavName.appearance.text]
  /// The connection that watches; nobody else sends on it.
  static let watcher = ConnectionID(9)
  private static let users: [UInt64: UInt32] = [1: 0, 2: 1000, 3: 1001, 9: 0]

  private(set) var hub: Hub
  private(set) var journal = JournalModel()
  private var now = Instant(boot: 1_000_000, wall: 1_700_000_000_000)
  private var starts: UInt64 = 1
  private var replicas: [String: Replica] = [:]
  private var reader: ClientMessageReader
  private var messageReader = ServerMessageReader()
  private var watchIDs: UInt64 = 0
  /// Whether the journal stores nothing at the next commit.
  var failsNextCommit = false
  /// The verbs and ids of the answers of the last commit, by connection.
  private(set) var answers: [(connection: ConnectionID, verb: ServerVerb, id: UInt64?)] = []

  static let configuration = {
    var configuration = HubConfiguration()
    configuration.nav.stackDepth = 12
    configuration.nav.detachedRecords = 6
    configuration.resumeRevisions = 4
    configuration.snapshotEvery = 5
    configuration.navIdle = 20_000
    configuration.inflight = 8
    configuration.rememberedOps = 8
    return configuration
  }()

  init() {
    hub = Hub(configuration: Self.configuration, seed: 1, inspections: Self.inspections)
    reader = hub.makeReader()
    hub.finishReplay(renewsEpochs: false, lastSequence: 0, at: now)
    _ = hub.takeRecords()
    _ = hub.committed(at: now)
    connectAll()
  }

  /// Both inspections of a commit, which must agree and find nothing.
  private static let inspections = {
    var inspections = Inspections()
    inspections.commitInspection = { nav, commit in
      let touched = nav.violatedInvariants(touchedBy: commit)
      let all = nav.violatedInvariants()
      demand(touched == all, "the short inspection finds \(touched), the long one \(all)")
      demand(all.isEmpty, "broken invariants: \(all)")
      return all
    }
    return inspections
  }()

  // What happens.

  mutating func connectAll() {
    for connection in Self.users.keys.sorted() { greet(ConnectionID(connection)) }
    for name in Self.names { watch(name) }
  }

  mutating func greet(_ connection: ConnectionID) {
    let client = ClientID(high: starts, low: connection.number)
    let flow = connection == Self.watcher ? #","flow":"none""# : ""
    send(
      .hello, connection,
      Array(
        #"{"ver":[1,1],"client":"\#(client.text)","nonce":"n","window":1048576\#(flow)}"#.utf8))
  }

  private mutating func watch(_ name: String) {
    watchIDs += 1
    replicas[name] = Replica(nav: name)
    _ = replicas[name]?.beginWatch()
    send(
      .watch, Self.watcher, Array(#"{"id":\#(watchIDs),"nav":"\#(name)","wait":true}"#.utf8))
  }

  mutating func send(_ verb: ClientVerb, _ connection: ConnectionID, _ body: [UInt8]) {
    send(frame: verb.frame, connection, body)
  }

  /// Handles a message as a batch of its own.
  mutating func send(frame: [UInt8], _ connection: ConnectionID, _ body: [UInt8]) {
    let user = Self.users[connection.number] ?? 1002
    handle(
      HubEvent(
        frame: frame.span, body: body.span, from: connection,
        .local(user: user, group: user, process: Int32(connection.number)), reader: &reader))
  }

  mutating func passTime(_ milliseconds: UInt64) {
    now.boot += milliseconds
    now.wall += milliseconds
    if let wakeAt = hub.wakeAt, wakeAt <= now.boot { handle(.wake) }
  }

  /// Kills the daemon, and starts it again from the journal.
  mutating func restart() {
    let before = states
    starts += 1
    replicas = [:]
    hub = Hub(configuration: Self.configuration, seed: starts, inspections: Self.inspections)
    do throws(HubReplayError) {
      try journal.replay(into: &hub, at: now)
    } catch {
      fail("row \(error.sequence) cannot be replayed: \(error.what)")
    }
    for request in hub.dormantNavs { revive(request) }
    demand(states == before, "another state after the start")
    hub.finishReplay(renewsEpochs: false, lastSequence: journal.lastSequence, at: now)
    store(hub.takeRecords())
    demand(hub.committed(at: now).messages.isEmpty, "a fresh hub talks")
    connectAll()
  }

  mutating func close(_ connection: ConnectionID) { handle(.closed(connection)) }

  // The turn of a daemon.

  private mutating func handle(_ event: HubEvent) {
    decide(event)
    if failsNextCommit {
      failsNextCommit = false
      for request in hub.rollBack() {
        let (snapshot, rows) = journal.chain(of: request.nav, to: request.newestRow)
        do throws(HubReplayError) {
          try hub.reload(request, snapshot: snapshot, rows: rows)
        } catch {
          fail("nav \(request.nav) cannot be read back: \(error.what)")
        }
      }
      decide(event)
      demand(hub.takeRecords().isEmpty, "records while the journal takes none")
    } else {
      store(hub.takeRecords())
    }
    dispatch()
    check()
  }

  private mutating func decide(_ event: HubEvent) {
    if let request = hub.dormant(for: event) { revive(request) }
    hub.handle(event, at: now)
    demand(!hub.isUnsound, "a nav is unsound")
  }

  private mutating func revive(_ request: ReloadRequest) {
    let (snapshot, rows) = journal.chain(of: request.nav, to: request.newestRow)
    do throws(HubReplayError) {
      try hub.revive(request, snapshot: snapshot, rows: rows)
    } catch {
      fail("nav \(request.nav) cannot be revived: \(error.what)")
    }
  }

  private mutating func store(_ records: JournalRecords) {
    if let wrong = journal.commit(records, synced: true) { fail(wrong) }
  }

  private mutating func dispatch() {
    answers = []
    var output = hub.committed(at: now)
    while true {
      for message in output.messages { receive(message) }
      guard let request = output.requests.first else { break }
      let others = output.requests.dropFirst()
      decide(.history(journal.answer(request)))
      store(hub.takeRecords())
      output = hub.committed(at: now)
      output.requests.insert(contentsOf: others, at: 0)
    }
  }

  private mutating func receive(_ message: Outgoing) {
    demand(
      message.body.count <= Self.configuration.maximumReplyBytes || message.verb == .snap,
      "a message of \(message.body.count) octets")
    let read: ServerMessage
    do throws(ServerMessageFailure) {
      read = try messageReader.read(verb: message.verb.frame, body: message.body)
    } catch {
      fail("no client can read \(message.verb) \(message.body.text): \(error.text)")
    }
    switch read {
    case .ok(let reply): answers.append((message.connection, message.verb, reply.id))
    case .err(let reply):
      demand(reply.knownCode != .internal, "internal: \(reply.message)")
      answers.append((message.connection, message.verb, reply.id))
    default: break
    }
    if message.connection == Self.watcher { follow(read) }
  }

  // The mirrors.

  private mutating func follow(_ message: ServerMessage) {
    switch message {
    case .ok(let reply):
      if let nav = reply.nav { note(replicas[nav]?.receive(reply), nav) }
    case .err(let reply): fail("a watch is refused: \(reply.message)")
    case .snap(let part): note(replicas[part.nav]?.receive(part), part.nav)
    case .diffs(let diffs): for diff in diffs { note(replicas[diff.nav]?.receive(diff), diff.nav) }
    case .mark(let mark):
      for position in mark.positions {
        note(replicas[position.nav]?.receive(position), position.nav)
      }
    case .end(let end): note(replicas[end.nav]?.receive(end), end.nav)
    default: break
    }
  }

  private func note(_ action: ReplicaAction?, _ nav: String) {
    if case .rewatch = action { fail("the mirror of \(nav) is wrong") }
  }

  /// Watches again what has ended, and compares the mirrors with the hub.
  private mutating func check() {
    for name in Self.names {
      if replicas[name]?.phase == .idle { watch(name) }
      guard let slot = hub.navs.slot(of: name) else { continue }
      let entry = hub.navs[slot]
      demand(entry.fault == nil, "\(name) is frozen: \(entry.fault ?? "")")
      let broken = entry.controller.violatedInvariants()
      demand(broken.isEmpty, "broken invariants of \(name): \(broken)")
      guard let replica = replicas[name], replica.phase == .following, let mirror = replica.mirror
      else { continue }
      let state = Snapshot(
        nav: name, kind: entry.controller.kindName, epoch: entry.epoch,
        revision: entry.controller.revision, why: "join", digest: entry.digest,
        content: .controller(entry.controller)
      ).part(from: 0, limit: Int.max / 4).body.text
      let shown = NaiveMirrors.State(mirror).text(nav: name)
      demand(shown == state, "a mirror shows \(shown), it is \(state)")
    }
  }

  /// The whole state of each nav as a snapshot of the journal has it.
  var states: [String: [UInt8]] {
    var states: [String: [UInt8]] = [:]
    for slot in hub.navs.loaded where hub.navs.isLive(slot) {
      states[hub.navs[slot].name] = JournalBody.state(of: hub.navs[slot])
    }
    return states
  }
}
