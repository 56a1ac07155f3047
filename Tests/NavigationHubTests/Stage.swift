import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// The nav `kiosk` with the screens A, B, C as far as wanted, its owner, and somebody who watches.
struct Stage {
  let world: World
  let owner: Client
  let viewer: Client

  /// Begins with these screens, bottom first, and these members of `settings`.
  init(
    _ stack: [String] = ["A", "B"], _ settings: String = "", world: World = World()
  ) throws {
    self.world = world
    owner = try world.client(1)
    viewer = try world.client(9)
    let root = #"{"nav.create":{"root":{"id":"\#(stack[0])"},"settings":{\#(settings)}}}"#
    let pushes = stack.dropFirst().map { #",{"push":{"screen":{"id":"\#($0)"}}}"# }.joined()
    try owner.must("\(root)\(pushes),{\"attach\":{}}")
    try viewer.watch()
  }

  static let any = #""if":{"any":true}"#
  static let animated = #""animated":true"#
  static let queued = #""onBusy":"queue""#

  static func push(_ id: String) -> String { #"{"push":{"screen":{"id":"\#(id)"}}}"# }
  static let pop = #"{"pop":{}}"#
  static let begin = #"{"gesture.begin":{"kind":"edge","translation":5}}"#
  static let finish = #"{"gesture.finish":{}}"#
  static let cancel = #"{"gesture.cancel":{}}"#
  static func update(_ value: String) -> String { #"{"gesture.update":{"value":\#(value)}}"# }
  static func complete(_ id: Int) -> String { #"{"transition.complete":{"tid":\#(id)}}"# }

  var stack: [String] { (try? world.entry("kiosk").controller.stack.map(\.id.text)) ?? [] }
  var revision: Int { (try? Int(world.entry("kiosk").controller.revision.number)) ?? -1 }
  var isIdle: Bool {
    (try? world.entry("kiosk").controller.transition.content.running) == .some(nil)
  }
  var displayOwner: String? { try? world.entry("kiosk").controller.environment.content.owner }

  /// One op in a turn of its own; returns all that was sent to anybody.
  @discardableResult
  func send(_ client: Client, _ ops: String, _ more: String = Stage.any) throws -> [Sent] {
    try world.turn([client.message("op", client.opBody(ops, more))])
  }

  /// An animated push of `id`, which must succeed; returns its transition.
  @discardableResult
  func animate(_ id: String) throws -> Int {
    try #require(owner.must(Self.push(id), Self.animated).revision)
  }

  /// Registers a delegate, which must succeed.
  func delegate(_ client: Client, _ roles: String..., more: String = "") throws {
    let list = roles.map { #""\#($0)""# }.joined(separator: ",")
    let body = #"{"id":\#(client.nextID()),"nav":"kiosk","roles":[\#(list)]\#(more)}"#
    let reply = try client.ask("delegate", body)
    #expect(reply.verb == .ok, "\(reply.text)")
  }

  /// Answers the last question put to a client; returns all that was sent.
  @discardableResult
  func answer(_ client: Client, _ value: String, to ask: Int? = nil) throws -> [Sent] {
    let last = world.sent.last { $0.verb == .ask && $0.connection == client.connection }
    let number = try #require(ask ?? last?.json["ask"] as? Int, "nobody asked")
    return try world.turn([client.message("answer", #"{"ask":\#(number),"value":\#(value)}"#)])
  }

  /// Takes or gives back the display.
  @discardableResult
  func lease(_ client: Client, take: Bool = true, force: Bool = false) throws -> Sent {
    try client.ask(
      "lease",
      #"{"id":\#(client.nextID()),"nav":"kiosk","take":\#(take),"force":\#(force)}"#)
  }

  /// Expects that what is done leaves state, digest, revision, diffs and journal as they were.
  func same(_ body: () throws -> Void) throws {
    let before = try world.standing("kiosk")
    try body()
    #expect(try world.standing("kiosk") == before)
  }
}

extension [Sent] {
  func to(_ client: Client) -> [Sent] { filter { $0.connection == client.connection } }

  /// The codes of all refusals.
  var codes: [String] { compactMap(\.code) }

  /// The questions, as their names and screens or arguments.
  var asked: [String] {
    filter { $0.verb == .ask }.compactMap { message in
      guard let question = message.json["q"] as? [String: [String: Any]],
        let (name, body) = question.first
      else { return nil }
      let words = ["screen", "op", "from", "to", "animator"].compactMap { body[$0] as? String }
      return "\(name)(\(words.joined(separator: ",")))"
    }
  }

  /// What the asked were told in the end.
  var settled: [String] {
    filter { $0.verb == .settled }.compactMap { $0.json["outcome"] as? String }
  }

  /// The diffs, those that came together one by one.
  var diffs: [[String: Any]] {
    flatMap { message -> [[String: Any]] in
      switch message.verb {
      case .diff: [message.json]
      case .diffs: message.json["list"] as? [[String: Any]] ?? []
      default: []
      }
    }
  }

  /// The events of all diffs, one list a revision, in the words of the conformance cases.
  var story: [[String]] {
    diffs.map { diff in
      (diff["ev"] as? [[String: [String: Any]]] ?? []).flatMap { event in
        event.map { name, body in
          let words = ["op", "screen", "from", "to", "outcome"].compactMap { body[$0] as? String }
          let flag = (body["animated"] as? Bool).map { $0 ? ["1"] : ["0"] } ?? []
          let kind = body["interactive"] as? Bool == true ? ["interactive"] : []
          return "\(name)(\((words + flag + kind).joined(separator: ",")))"
        }
      }
    }
  }

  var causes: [String] { diffs.compactMap { $0["cause"] as? String } }
}
