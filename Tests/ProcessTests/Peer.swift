import Foundation
import NavigationClient
import ZeroMQ

/// The context of all raw peers of this process.
private final class SharedContext: Sendable {
  static let shared = SharedContext()
  let context: Context?

  private init() { context = try? Context() }
}

/// A DEALER that sends whatever it is told, right or wrong.
final class Peer {
  /// One message of the daemon.
  struct Message {
    var verb: String
    var body: JSON
    var octets: Int
  }

  private let socket: Socket
  private var monitor: Monitor
  /// What the monitor has said last, and whether it ever told a failure.
  private var (isConnected, hasFailed) = (false, false)
  private var poller = Poller()
  private var parts = Multipart(capacity: 4)
  private var lastID = 0
  let client: String

  /// Connects, as the client of before if one is given, over a network with a key.
  init(
    _ endpoint: String, client: String? = nil, as keys: CurveKeyPair? = nil,
    server: CurvePublicKey? = nil
  ) throws {
    guard SharedContext.shared.context != nil else { throw Failure("no context") }
    socket = try Self.open(keys, server)
    monitor = try Monitor.start(on: socket)
    try socket.connect(endpoint)
    _ = poller.add(socket)
    self.client =
      client
      ?? (0..<4).map { _ in String(format: "%08x", UInt32.random(in: .min ... .max)) }.joined()
  }

  private static func open(
    _ keys: CurveKeyPair?, _ server: CurvePublicKey?
  ) throws -> Socket {
    guard let socket = try SharedContext.shared.context?.socket(.dealer) else {
      throw Failure("no context")
    }
    try socket.set(.linger(milliseconds: 0))
    if let keys, let server {
      try socket.set(.curveServerKey(server))
      try socket.set(.curvePublicKey(keys.publicKey))
      try socket.set(.curveSecretKey(keys.secretKey))
    }
    return socket
  }

  /// Sends frames as they are, once there is a connection.
  func send(frames: [[UInt8]]) throws {
    let end = Date(timeIntervalSinceNow: Child.patience)
    while try !isConnected(within: 1) || socket.send(frames) != .sent {
      guard end > Date() else { throw Failure("cannot send") }
    }
  }

  /// Sends a message if the daemon is connected within some seconds; returns whether it was sent.
  func offer(_ verb: String, _ body: String, within seconds: Double) throws -> Bool {
    try isConnected(within: seconds)
      && socket.send([Array("nsp1.\(verb)".utf8), Array(body.utf8)]) == .sent
  }

  /// Waits until its first handshake has ended; returns whether the daemon has admitted it.
  func isAdmitted() throws -> Bool {
    let end = Date(timeIntervalSinceNow: Child.patience)
    while end > Date() {
      if try isConnected(within: 0.1) { return true }
      // A wrong server key ends the handshake without an answer.
      if hasFailed { return false }
    }
    throw Failure("the handshake does not end")
  }

  /// Waits for a connection; without ZMQ_IMMEDIATE, libzmq takes messages before there is one.
  private func isConnected(within seconds: Double) throws -> Bool {
    let end = Date(timeIntervalSinceNow: seconds)
    var events = Poller()
    _ = events.add(monitor.reader)
    while true {
      while let event = try monitor.next() {
        isConnected = event.kind == .handshakeSucceeded
        hasFailed = hasFailed || !isConnected && event.kind != .connected
      }
      let left = Int(end.timeIntervalSinceNow * 1000)
      if isConnected || left <= 0 { return isConnected }
      _ = try events.wait(milliseconds: left)
    }
  }

  func send(_ verb: String, _ body: String) throws {
    try send(frames: [Array("nsp1.\(verb)".utf8), Array(body.utf8)])
  }

  /// Takes the next message; nil when time is up.
  func receive(within seconds: Double = Child.patience) throws -> Message? {
    guard let (verb, body) = try receiveOctets(within: seconds) else { return nil }
    return Message(verb: verb, body: try JSON(body), octets: body.count)
  }

  /// Takes the next message as it came; nil when time is up.
  func receiveOctets(
    within seconds: Double = Child.patience
  ) throws -> (verb: String, body: [UInt8])? {
    let end = Date(timeIntervalSinceNow: seconds)
    while try !socket.receive(into: &parts) {
      let left = Int(end.timeIntervalSinceNow * 1000)
      guard left > 0 else { return nil }
      _ = try poller.wait(milliseconds: left)
    }
    var frames = parts.copyFrames()
    // What had an empty frame before it is answered with one.
    if frames.first == [] { frames.removeFirst() }
    guard frames.count == 2 else { throw Failure("\(frames.count) frames") }
    let verb = String(decoding: frames[0], as: UTF8.self).dropFirst("nsp1.".count)
    return (String(verb), frames[1])
  }

  /// Takes messages until one is wanted.
  func awaits(
    _ what: String, within seconds: Double = Child.patience, _ isWanted: (Message) -> Bool
  ) throws -> Message {
    let end = Date(timeIntervalSinceNow: seconds)
    var others: [String] = []
    while let message = try receive(within: max(0, end.timeIntervalSinceNow)) {
      if isWanted(message) { return message }
      others.append("\(message.verb) \(message.body)")
    }
    throw Failure("no \(what); instead: \(others.suffix(5))")
  }

  /// Opens a session.
  @discardableResult func hello(
    name: String = "raw", window: Int = 65536, heartbeat: Int = 5000
  ) throws -> JSON {
    let nonce = "\(UInt32.random(in: .min ... .max))"
    try send(
      "hello",
      #"{"ver":[1,1],"client":"\#(client)","name":"\#(name)","nonce":"\#(nonce)","#
        + #""window":\#(window),"hb":\#(heartbeat)}"#)
    return try awaits("welcome") { $0.body["nonce"]?.string == nonce }.body
  }

  /// Sends a message with these members beside its id, and returns the answer.
  func ask(_ verb: String, _ members: String) throws -> Message {
    lastID += 1
    let id = lastID
    try send(verb, "{\"id\":\(id),\(members)}")
    return try awaits("answer to \(verb) \(members)") {
      ["ok", "err", "pong"].contains($0.verb) && $0.body["id"]?.integer == UInt64(id)
    }
  }

  /// Does something that must be done.
  @discardableResult func perform(_ nav: String, _ operations: String, guards: String = "")
    throws -> JSON
  {
    let guards = guards.isEmpty ? "" : #","if":\#(guards)"#
    let answer = try ask(
      "op", #""nav":"\#(nav)"\#(guards),"client":"\#(client)","do":\#(operations)"#)
    guard answer.verb == "ok" else { throw Failure("\(operations): \(answer.body)") }
    return answer.body
  }

  /// Makes a nav with a root.
  func create(_ nav: String) throws {
    try perform(nav, #"[{"nav.create":{"root":{"id":"home","title":"Home"}}},{"attach":{}}]"#)
  }

  /// Reads, and returns the answer's body.
  func get(_ members: String) throws -> JSON {
    let answer = try ask("get", members)
    guard answer.verb == "ok" else { throw Failure("get \(members): \(answer.body)") }
    return answer.body
  }

  func state(_ nav: String, at revision: UInt64? = nil) throws -> JSON {
    try get(#""nav":"\#(nav)""# + (revision.map { ",\"at\":\($0)" } ?? ""))
  }

  /// The whole log of a nav.
  func log(_ nav: String) throws -> [JSON] {
    var entries: [JSON] = []
    while true {
      let from = (entries.last?["rev"]?.integer ?? 0) + 1
      let page = try get(#""nav":"\#(nav)","what":"log","from":\#(from),"limit":400"#)
      let list = page["value"]?.array ?? []
      entries += list
      if list.isEmpty || entries.last?["rev"] == page["rev"] { return entries }
    }
  }
}
