import Conformance
import ConformanceSupport

/// A driver that writes down what one client of a row sees, and lets it watch the nav.
///
/// The row knows nothing of the watch: what only the watch brings is kept from it.
struct RowRecorder: ConformanceDriver {
  /// The row cannot be recorded with this client.
  struct Unsuitable: Error {}

  private(set) var writer: VectorWriter
  private var hub: HubDriver
  /// The connection of the recorded client.
  private let client: String
  /// Whether the row's own watch is recorded, instead of one that is added.
  private let isObserver: Bool
  private var hello: [UInt8] = []
  private var isOpen = false
  private var isWatching = false
  /// The ids of the requests whose answers are written down.
  private var requests: Set<Int> = []
  private var seen: Set<Int> = []
  private var watchID: Int?
  private var nextID = 900_001
  /// What has arrived for the row, and was not read yet.
  private var inbox: [ReceivedMessage] = []

  /// Records the client that a row calls `1`, or `observer`, whose watch is the row's own.
  init(_ row: ConformanceCase, client name: String, hasResolved: Bool) {
    let nav = row.id.lowercased()
    isObserver = name == "observer"
    // The runner compares what the observer sees with the whole state.
    writer = VectorWriter(nav: nav, hasResolved: hasResolved || isObserver)
    hub = HubDriver()
    client = "\(nav)/\(name)"
  }

  mutating func connect(_ name: String) throws {
    if name == client { lose() }
    try hub.connect(name)
    try drain()
  }

  mutating func disconnect(_ name: String) throws {
    if name == client { lose() }
    try hub.disconnect(name)
    try drain()
  }

  mutating func send(_ name: String, verb: String, body: [UInt8]) throws {
    guard name == client else {
      try hub.send(name, verb: verb, body: body)
      return try drain()
    }
    switch verb {
    case "hello":
      (hello, isOpen) = (body, true)
    case "ping":
      try tendWatch()
    case "watch" where isObserver:
      let request = try JSONTree(reading: body)
      watchID = request["id"]?.integer
      if !writer.isWatched { writer.watches() }
      writer.sends(verb, request)
    case "watch", "unwatch":
      throw Unsuitable()
    case "op", "delegate", "lease":
      let json = try JSONTree(reading: body)
      guard isOpen, let id = json["id"]?.integer, seen.insert(id).inserted else { break }
      requests.insert(id)
      writer.does(verb, json)
    default: break
    }
    try hub.send(name, verb: verb, body: body)
    try drain()
  }

  mutating func receive(_ name: String) throws -> ReceivedMessage? {
    guard name == client else { return try hub.receive(name) }
    return inbox.isEmpty ? nil : inbox.removeFirst()
  }

  mutating func advance(milliseconds: UInt64) throws {
    try hub.advance(milliseconds: milliseconds)
    try drain()
  }

  mutating func restart() throws {
    lose()
    try hub.restart()
    try drain()
  }

  mutating func setStorage(failing: Bool) throws { try hub.setStorage(failing: failing) }

  /// Notes that the recorded client has no session any more.
  private mutating func lose() {
    guard isOpen else { return }
    (isOpen, isWatching, watchID) = (false, false, nil)
    requests = []
    inbox = []
    if !writer.steps.isEmpty { writer.loses() }
  }

  /// Watches, or watches again, as soon as there is a nav.
  private mutating func tendWatch() throws {
    guard !isObserver, isOpen, !isWatching else { return }
    let id = nextID
    nextID += 1
    var request = JSONTree.members(["id": .int(id), "nav": .string(writer.nav)])
    if let from = writer.position { request = request.setting("from", from) }
    if !writer.hasResolved { request = request.setting("resolved", .bool(false)) }
    try hub.send(client, verb: "watch", body: Array(request.text.utf8))
    var messages: [ReceivedMessage] = []
    while let message = try hub.receive(client) { messages.append(message) }
    let isRefused = try messages.contains {
      try $0.verb == "err" && JSONTree(reading: $0.body)["id"]?.integer == id
    }
    if isRefused {
      // Without a mirror the client would not watch what it has not heard of.
      guard writer.isWatched else { return }
    }
    if !writer.isWatched { writer.watches() }
    writer.sends("watch", request)
    if isRefused { writer.drops() }
    (isWatching, watchID) = (!isRefused, id)
    for message in messages { try take(message) }
  }

  private mutating func drain() throws {
    while let message = try hub.receive(client) { try take(message) }
  }

  private mutating func take(_ message: ReceivedMessage) throws {
    let json = try JSONTree(reading: message.body)
    let id = json["id"]?.integer
    let isMine = id != nil && id == watchID
    switch message.verb {
    case "ok", "err", "queued":
      guard isMine || id.map(requests.contains) == true else { break }
      try writer.gets(message)
      if message.verb != "queued", let id { requests.remove(id) }
      if isMine, !isObserver { return }
    case "snap", "diff", "diffs", "event", "mark", "end":
      try writer.gets(message)
      if message.verb == "end" { isWatching = false }
      guard isObserver else { return }
    case "ask", "settled": try writer.gets(message)
    default: break
    }
    inbox.append(message)
  }

  /// Brings the client back if it is gone, and compares its mirror with the state.
  mutating func finish() throws {
    if !isOpen {
      try connect(client)
      try send(client, verb: "hello", body: hello)
      guard !isObserver else { throw Unsuitable() }
    }
    try tendWatch()
    inbox = []
    let request = JSONTree.members([
      "id": .int(nextID), "nav": .string(writer.nav), "what": .string("state"),
    ])
    nextID += 1
    try send(client, verb: "get", body: Array(request.text.utf8))
    guard let answer = inbox.last, let value = try JSONTree(reading: answer.body)["value"] else {
      return
    }
    try writer.shows(value)
  }
}
