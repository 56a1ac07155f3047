import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

/// The client's own half of the protocol in a world: its session, its mirror and its ops.
final class Follower {
  let world: World
  let connection: ConnectionID
  var session: SessionReplica
  /// All that the session wanted to be sent, and what it told.
  private(set) var asked: [(verb: ClientVerb, text: String)] = []
  private(set) var events: [SessionEvent] = []
  private var cursor: Int
  private let peer = Peer.local(user: Client.user, group: Client.user, process: 1)

  init(_ world: World, _ number: UInt64, client: ClientID? = nil) {
    self.world = world
    connection = ConnectionID(number)
    cursor = world.sent.count
    session = SessionReplica(
      client: client ?? ClientID(high: 77, low: number), name: "f\(number)", seed: number)
  }

  /// A follower that has a mirror of `kiosk`.
  static func synced(_ world: World, _ number: UInt64 = 50) throws -> Follower {
    let follower = Follower(world, number)
    try follower.connect()
    try follower.perform(follower.session.watch("kiosk"))
    try follower.sync()
    #expect(follower.isSynced)
    return follower
  }

  var replica: Replica? { session.replica(of: "kiosk") }
  var mirror: Mirror? { replica?.mirror }
  var isSynced: Bool { replica?.isSynced ?? false }
  var revision: UInt64? { mirror?.revision.number }
  var ids: [String] { mirror?.screens.map(\.id) ?? [] }
  /// The requests sent with this verb.
  func requests(_ verb: ClientVerb) -> [String] { asked.filter { $0.verb == verb }.map(\.text) }

  /// Whether the mirror is, byte for byte in its proof, what the daemon has.
  func agrees() throws -> Bool {
    let entry = try world.entry("kiosk")
    return isSynced && mirror?.digest == entry.digest && mirror?.revision == entry.revision
      && ids == entry.controller.stack.map(\.id.text)
      && mirror?.resolved?.bytes == entry.controller.encodedBar
  }

  func connect() throws {
    cursor = world.sent.count
    try perform(session.connected(at: world.now.boot))
    try sync()
  }

  func perform(_ outputs: [SessionOutput]) throws {
    for output in outputs {
      switch output {
      case .send(let verb, let body):
        asked.append((verb, String(decoding: body, as: UTF8.self)))
        var reader = world.hub.makeReader()
        try world.turn([
          HubEvent(frame: verb.frame.span, body: body.span, from: connection, peer, reader: &reader)
        ])
      case .event(let event): events.append(event)
      case .reconnect, .navElsewhere, .handOverAll: break
      }
    }
  }

  /// An op built on the mirror; returns its id, nil if no guard can be built.
  func operate(_ ops: String, _ basis: GuardBasis) throws -> UInt64? {
    guard let guards = replica?.guards(for: basis) else { return nil }
    let request = OpRequest(id: 0, nav: "kiosk", guards: guards)
    let (id, outputs) = session.perform(request, operations: [Array(ops.utf8)])
    try perform(outputs)
    return id
  }

  /// The answer to an op, as far as it came.
  func answer(to id: UInt64) -> Result<OkReply, ErrReply>? {
    for case .answered(id, let answer) in events { return answer }
    return nil
  }

  /// Everything that came since the last time, not yet delivered.
  func pending() -> [Sent] {
    defer { cursor = world.sent.count }
    return world.sent[cursor...].filter { $0.connection == connection }
  }

  func deliver(_ message: Sent) throws { try deliver(message.verb, message.body) }

  func deliver(_ verb: ServerVerb, _ body: [UInt8]) throws {
    var reader = ServerMessageReader()
    let message = try reader.read(verb: verb.frame, body: body)
    try perform(
      session.receive(message, verb: verb, octets: body.count, at: world.now.boot))
    try perform(session.grantCredit())
  }

  /// Delivers everything, and what follows from it, but what is lost.
  func sync(losing isLost: (Sent) -> Bool = { _ in false }) throws {
    while true {
      let messages = pending()
      if messages.isEmpty { return }
      for message in messages where !isLost(message) { try deliver(message) }
    }
  }
}
