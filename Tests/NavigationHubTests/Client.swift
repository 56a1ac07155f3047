import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// A client of a world: a connection with a peer, and a counter of ids.
final class Client {
  let world: World
  let connection: ConnectionID
  let peer: Peer
  let client: String
  /// For whom a gateway speaks here; each `hello` names it.
  var actor: SessionActor?
  var id = 0

  /// The user whose clients have the role `ui`.
  static let user: UInt32 = 1000

  init(
    _ world: World, _ number: UInt64 = 1, user: UInt32 = Client.user, client: String? = nil,
    peer: Peer? = nil
  ) {
    self.world = world
    connection = ConnectionID(number)
    self.peer = peer ?? .local(user: user, group: user, process: 4711)
    let digits = String(number, radix: 16)
    self.client = client ?? String(repeating: "0", count: 32 - digits.count) + digits
  }

  func message(_ verb: String, _ body: String) -> HubEvent { message(frame: "nsp1.\(verb)", body) }

  func message(frame: String, _ body: String) -> HubEvent {
    message(Array(frame.utf8), Array(body.utf8))
  }

  func message(_ frame: [UInt8], _ body: [UInt8]) -> HubEvent {
    var reader = world.hub.makeReader()
    return HubEvent(frame: frame.span, body: body.span, from: connection, peer, reader: &reader)
  }

  /// A message with another number of frames than two.
  var withWrongFrames: HubEvent { .unreadable(connection, peer, .wrongFrameCount) }

  /// Sends one message in a turn of its own; returns all that this client got.
  @discardableResult
  func send(_ verb: String, _ body: String) throws -> [Sent] {
    try world.turn([message(verb, body)]).filter { $0.connection == connection }
  }

  /// Sends one message and returns its answer.
  @discardableResult
  func ask(_ verb: String, _ body: String) throws -> Sent {
    let replies = try send(verb, body)
    return try #require(
      replies.last { [.ok, .err, .welcome, .pong].contains($0.verb) },
      "no answer to \(verb) \(body) but \(replies.map(\.text))")
  }

  @discardableResult
  func hello(_ more: String = "", nonce: String = "n1") throws -> Sent {
    try ask(
      "hello",
      #"{"ver":[1,1],"client":"\#(client)","name":"c\#(connection.number)","nonce":"\#(nonce)"\#(actorMember)\#(more)}"#
    )
  }

  /// The member `actor` of this client's `hello`, with the comma before it.
  var actorMember: String {
    guard let actor else { return "" }
    let navs = actor.navs.map { "\"\($0.text)\"" }.joined(separator: ",")
    return #","actor":{"name":"\#(actor.name)","role":"\#(actor.role.name)","navs":[\#(navs)]}"#
  }

  /// The principal by which the hub knows this client.
  var principal: String { actor.map { "\(peer.principal)/\($0.name)" } ?? peer.principal }

  func nextID() -> Int {
    id += 1
    return id
  }

  /// The body of an op; `more` are members beside `do`.
  func opBody(_ ops: String, nav: String = "kiosk", _ more: String = "") -> String {
    #"{"id":\#(nextID()),"nav":"\#(nav)"\#(more.isEmpty ? "" : ",\(more)"),"do":[\#(ops)]}"#
  }

  @discardableResult
  func op(_ ops: String, nav: String = "kiosk", _ more: String = "") throws -> Sent {
    try ask("op", opBody(ops, nav: nav, more))
  }

  /// Performs ops that must succeed.
  @discardableResult
  func must(_ ops: String, nav: String = "kiosk", _ more: String = "") throws -> Sent {
    let reply = try op(ops, nav: nav, more)
    #expect(reply.verb == .ok, "\(ops): \(reply.text)")
    return reply
  }

  @discardableResult
  func watch(nav: String = "kiosk", _ more: String = "") throws -> [Sent] {
    try send("watch", #"{"id":\#(nextID()),"nav":"\#(nav)"\#(more.isEmpty ? "" : ",\(more)")}"#)
  }

  @discardableResult
  func get(_ what: String, nav: String? = "kiosk", _ more: String = "") throws -> Sent {
    let name = nav.map { #","nav":"\#($0)""# } ?? ""
    return try ask(
      "get",
      #"{"id":\#(nextID())\#(name),"what":"\#(what)"\#(more.isEmpty ? "" : ",\(more)")}"#)
  }
}

extension World {
  /// A client in a session.
  func client(_ number: UInt64 = 1, user: UInt32 = Client.user, _ hello: String = "") throws
    -> Client
  {
    let client = Client(self, number, user: user)
    #expect(try client.hello(hello).verb == .welcome)
    return client
  }

  /// A client in a session that has made the nav `kiosk` with the screen `home`, attached.
  func kiosk(_ hello: String = "") throws -> Client {
    let client = try client(1, hello)
    try client.must(#"{"nav.create":{"root":{"id":"home","title":"Home"}}},{"attach":{}}"#)
    return client
  }
}

/// A client's mirror, kept by the protocol's rules with code of its own.
struct NaiveMirror {
  var epoch = ""
  var revision = 0
  var screens: [[String: Any]] = []
  var parts: [String: [String: Any]] = [:]
  var resolved: [String: Any] = [:]
  var pending: [[String: Any]] = []
  var snapshots = 0
  /// The digest of the newest message.
  var digest = ""

  static let names = ["bar", "toolbar", "presented", "transition", "environment", "settings"]

  var ids: [String] { screens.compactMap { $0["id"] as? String } }

  /// The first 8 digits of the digest.
  var checksum: String {
    var lines = screens.map { "\($0["id"] ?? "")@\($0["ver"] ?? "")" }
    for name in Self.names {
      if let part = parts[name] { lines.append(":\(name)@\(part["ver"] ?? "")") }
    }
    return Digest(checksum: crc32(Array(lines.joined(separator: "\n").utf8)), chain: 0).text
      .prefix(8).description
  }

  /// Applies a message of the full watch of a nav; a law that does not hold is an issue.
  mutating func apply(_ message: Sent, nav: String = "kiosk") throws {
    guard message.json["nav"] as? String == nav else { return }
    switch message.verb {
    case .snap: try snap(message.json)
    case .diff: try diff(message.json)
    case .diffs:
      let list = try #require(message.json["list"] as? [[String: Any]])
      #expect(list.count > 1)
      for body in list { try diff(body) }
    default: break
    }
  }

  private mutating func snap(_ json: [String: Any]) throws {
    if json["i"] as? Int == 0 { pending = [] }
    #expect(json["i"] as? Int == pending.count)
    pending += try #require(json["screens"] as? [[String: Any]])
    guard json["last"] as? Bool == true else { return }
    screens = pending
    pending = []
    parts = [:]
    for name in Self.names { parts[name] = json[name] as? [String: Any] }
    epoch = try #require(json["epoch"] as? String)
    revision = try #require(json["rev"] as? Int)
    resolved = json["resolved"] as? [String: Any] ?? [:]
    snapshots += 1
    digest = try #require(json["dig"] as? String)
    #expect(digest.hasPrefix(checksum))
  }

  /// Applies the changes of one revision.
  mutating func take(_ changes: [[String: Any]]) throws {
    for change in changes {
      if let at = change["at"] as? Int {
        let removed = try #require(change["del"] as? [String])
        #expect(Array(ids[at..<at + removed.count]) == removed)
        screens.replaceSubrange(
          at..<at + removed.count, with: try #require(change["ins"] as? [[String: Any]]))
      } else {
        let to = try #require(change["to"] as? [String: Any])
        let what = try #require(change["set"] as? String)
        if what == "screen" {
          screens[try #require(ids.firstIndex(of: to["id"] as? String ?? ""))] = to
        } else {
          parts[what] = to
        }
      }
    }
  }

  private mutating func diff(_ json: [String: Any]) throws {
    #expect(pending.isEmpty, "a diff between the parts of a snapshot")
    #expect(json["epoch"] as? String == epoch)
    #expect(json["base"] as? Int == revision)
    revision = try #require(json["rev"] as? Int)
    try take(try #require(json["ch"] as? [[String: Any]]))
    if let new = json["resolved"] as? [String: Any] { resolved = new }
    #expect(screens.count == json["depth"] as? Int)
    digest = try #require(json["dig"] as? String)
    #expect(digest.hasPrefix(checksum))
  }
}
