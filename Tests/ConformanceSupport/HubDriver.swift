package import Conformance
import NavigationCore
import NavigationHub

/// A hub in process with a journal in memory, driven like a daemon.
package struct HubDriver: ConformanceDriver {
  private var hub: Hub
  private var rows: [JournalRow] = []
  private var snapshots: [SnapshotRow] = []
  private var isFailing = false
  private var now = Instant(boot: 1_000_000, wall: 1_732_147_200_000)
  private var seed: UInt64
  private var connections: [String: ConnectionID] = [:]
  private var names: [ConnectionID: String] = [:]
  private var opened: UInt64 = 0
  private var inboxes: [String: [ReceivedMessage]] = [:]

  /// All clients are of this user, who has the role `admin`.
  private static let peer = Peer.local(user: 0, group: 0, process: 4711)

  package init(seed: UInt64 = 1) {
    self.seed = seed
    hub = Self.makeHub(seed: seed)
  }

  /// A hub that knows the roles `pusher` and `popper` beside the built-in ones.
  private static func makeHub(seed: UInt64) -> Hub {
    var hub = Hub(configuration: configuration, seed: seed)
    var access = Access()
    if let all = NavGlob("*") {
      access.grants = [
        Access.Grant(.role(Role("pusher")), all, [.read, .push]),
        Access.Grant(.role(Role("popper")), all, [.read, .pop]),
      ]
    }
    hub.handle(.access(access), at: Instant(boot: 1_000_000, wall: 1_732_147_200_000))
    return hub
  }

  private static var configuration: HubConfiguration {
    var configuration = HubConfiguration()
    configuration.isBarByClass = ["MyBar": true]
    return configuration
  }

  package mutating func connect(_ name: String) throws {
    if connections[name] != nil { try disconnect(name) }
    inboxes[name] = []
    open(name)
  }

  private mutating func open(_ name: String) {
    opened += 1
    connections[name] = ConnectionID(opened)
    names[ConnectionID(opened)] = name
  }

  package mutating func disconnect(_ name: String) throws {
    guard let connection = connections[name] else { return }
    connections[name] = nil
    try turn([.closed(connection)])
    names[connection] = nil
  }

  package mutating func send(_ name: String, verb: String, body: [UInt8]) throws {
    if connections[name] == nil { open(name) }
    guard let connection = connections[name] else { return }
    var reader = hub.makeReader()
    let frame = Array("nsp1.\(verb)".utf8)
    try turn([
      HubEvent(frame: frame.span, body: body.span, from: connection, Self.peer, reader: &reader)
    ])
  }

  package mutating func receive(_ name: String) throws -> ReceivedMessage? {
    guard let inbox = inboxes[name], !inbox.isEmpty else { return nil }
    return inboxes[name]?.removeFirst()
  }

  package mutating func advance(milliseconds: UInt64) throws {
    let end = now.boot + milliseconds
    while let wake = hub.wakeAt, wake <= end {
      let step = max(wake, now.boot + 1) - now.boot
      guard now.boot + step <= end else { break }
      pass(step)
      try turn([.wake])
    }
    pass(end - now.boot)
    try turn([.wake])
  }

  private mutating func pass(_ milliseconds: UInt64) {
    now.boot += milliseconds
    now.wall += milliseconds
  }

  package mutating func restart() throws {
    connections = [:]
    names = [:]
    seed += 1
    hub = Self.makeHub(seed: seed)
    var newest: [UInt64: SnapshotRow] = [:]
    for snapshot in snapshots { newest[snapshot.nav] = snapshot }
    for nav in newest.keys.sorted() {
      if let snapshot = newest[nav] { try hub.index(snapshot) }
    }
    for row in rows { try hub.index(row.header, body: row.body.span, at: now) }
    let wanted = Set(hub.opRowsToRead[.first] ?? [])
    hub.rememberOps(from: rows.filter { wanted.contains($0.sequence) })
    for request in hub.dormantNavs {
      try hub.revive(
        request, snapshot: newest[request.nav], rows: rows.filter { $0.nav == request.nav })
    }
    hub.finishReplay(renewsEpochs: false, lastSequence: rows.last?.sequence ?? 0, at: now)
    try turn([])
  }

  package mutating func setStorage(failing: Bool) throws { isFailing = failing }

  /// One turn of a daemon's loop, and those that its wishes for history cause.
  private mutating func turn(_ events: [HubEvent]) throws {
    var events = events
    var isFirst = true
    while isFirst || !events.isEmpty {
      isFirst = false
      for event in events { hub.handle(event, at: now) }
      let records = hub.takeRecords()
      if isFailing, !records.isEmpty {
        try rollBack()
        // The hub now decides the same events as failures of the storage.
        for event in events { hub.handle(event, at: now) }
        _ = hub.takeRecords()
      } else {
        commit(records)
      }
      let output = hub.committed(at: now)
      deliver(output)
      events = output.requests.map { .history(answer($0)) }
    }
  }

  private mutating func rollBack() throws {
    for request in hub.rollBack() {
      let snapshot = snapshots.last { $0.nav == request.nav && $0.sequence <= request.newestRow }
      try hub.reload(
        request, snapshot: snapshot,
        rows: rows.filter { $0.nav == request.nav && $0.sequence <= request.newestRow })
    }
  }

  private mutating func commit(_ records: JournalRecords) {
    for record in records {
      switch record {
      case .row(let row): rows.append(row)
      case .snapshot(let snapshot): snapshots.append(snapshot)
      }
    }
  }

  private mutating func deliver(_ output: HubOutput) {
    for message in output.messages {
      guard let name = names[message.connection] else { continue }
      inboxes[name, default: []].append(
        ReceivedMessage(verb: message.verb.word, body: message.body))
    }
    for connection in output.endedConnections {
      guard let name = names[connection] else { continue }
      names[connection] = nil
      connections[name] = nil
    }
  }

  private func answer(_ request: HistoryRequest) -> HistoryAnswer {
    let mine = rows.filter { $0.nav == request.nav && $0.sequence <= request.newestRow }
    switch request.part {
    case .rows(let from, let through):
      return HistoryAnswer(
        token: request.token,
        rows: mine.filter { $0.revision >= from && $0.revision <= through })
    case .state(let at):
      let snapshot = snapshots.last {
        $0.nav == request.nav && $0.sequence <= request.newestRow && $0.revision <= at
      }
      return HistoryAnswer(
        token: request.token, snapshot: snapshot,
        rows: mine.filter { $0.revision <= at && $0.sequence > (snapshot?.sequence ?? 0) })
    }
  }
}
