import Foundation
import NavigationClient
import NavigationCore
import RuntimePaths

/// A writer of one nav: it changes and reads at random, one message after the other.
///
/// It sends the same octets again, to one member after the other, until one decides. Beside that it
/// reads at any member, and notes each answer: one that has lost the nav must give none.
final class LoadClient {
  /// The seconds after which it asks another member.
  private static let patience = 0.25
  private static let deepest = 24
  private static let probesAtATime = 4

  let name: String
  private let load: ClusterLoad
  private let nav: String
  private let client = (0..<4).map { _ in
    String(format: "%08x", UInt32.random(in: .min ... .max))
  }.joined()
  private var random: SeededGenerator
  private var peers: [Peer?]
  /// The member that is asked first.
  private var current: Int
  private var avoided: String?
  private var lastID: UInt64 = 0
  /// The places of the messages by their numbers, and those of reads at any member.
  private var places: [UInt64: Int] = [:]
  private var probes: [Int: Set<UInt64>] = [:]
  /// The nav as the newest answer shows it.
  private var known = (revision: UInt64(0), top: "home", depth: 1)

  /// A message that has no answer yet.
  private struct Message {
    var id: UInt64
    var verb: String
    var body: String
  }

  init(_ load: ClusterLoad, _ nav: String, _ suffix: String, seed: UInt64) {
    (self.load, self.nav) = (load, nav)
    name = "w\(suffix)"
    random = SeededGenerator(seed: seed)
    peers = load.addresses.endpoints.map { _ in nil }
    current = Int.random(in: 0..<peers.count, using: &random)
  }

  /// Makes the nav.
  func create() throws { try perform(.create(root: "home")) }

  /// Works until the load ends.
  func run() throws {
    while load.mayContinue(name) {
      if let member = load.avoided, avoided != member {
        avoided = member
        if load.addresses.names[current] == member { current = (current + 1) % peers.count }
      }
      try perform(choice())
      try probe()
    }
    // What comes too late counts too.
    for member in peers.indices { try sweep(member) }
  }

  private func choice() -> NavHistory.Change? {
    let new = "s\(name).\(lastID)"
    if known.depth > Self.deepest { return .reset(new, revision: nil) }
    return switch Int.random(in: 0..<100, using: &random) {
    case ..<40: .push(new)
    case ..<60: .pop(top: known.top)
    case ..<65: .pop(top: nil)
    case ..<73: .reset(new, revision: known.revision)
    default: nil
    }
  }

  /// Sends a message until it is answered.
  private func perform(_ change: NavHistory.Change?) throws {
    let message = begin(change)
    guard let place = places[message.id] else { return }
    let end = Date(timeIntervalSinceNow: Child.patience)
    while load.isPatient {
      guard Date() < end else {
        throw Failure("no answer about \(nav) to \(message.verb) \(message.body)")
      }
      guard try peer(current).offer(message.verb, message.body, within: 0.05) else {
        try turn()
        continue
      }
      if let answer = try answer(to: message) {
        load.end(place, nav, answer, isAwaited: true)
        return
      }
    }
  }

  private func begin(_ change: NavHistory.Change?) -> Message {
    lastID += 1
    let head = "{\"id\":\(lastID),\"nav\":\"\(nav)\""
    let message =
      if let change {
        Message(
          id: lastID, verb: "op",
          body: head + ",\"client\":\"\(client)\",\"name\":\"\(name)\",\(change.members)}")
      } else {
        Message(id: lastID, verb: "get", body: head + "}")
      }
    let operation = NavHistory.Operation(
      client: name, id: lastID, change: change, sent: SystemClock.monotonicNanoseconds())
    places[lastID] = load.begin(operation, nav)
    return message
  }

  /// Waits for the answer of the current member; nil if another one is to be asked, which is then the
  /// current one.
  private func answer(to message: Message) throws -> NavHistory.Answer? {
    let end = Date(timeIntervalSinceNow: Self.patience)
    while true {
      let left = end.timeIntervalSinceNow
      guard left > 0 else { break }
      // Another member may answer late.
      for other in peers.indices where other != current {
        if let answer = try sweep(other, for: message.id) { return answer }
      }
      guard let found = try peer(current).receive(within: min(left, 0.05)) else { continue }
      guard found.body["id"]?.integer == message.id else {
        take(found, from: current)
        continue
      }
      if let answer = read(found, from: current, message.id) { return answer }
      try follow(found)
      return nil
    }
    try turn()
    return nil
  }

  /// Goes where a refusal points.
  private func follow(_ refusal: Peer.Message) throws {
    if let endpoint = refusal.body["endpoint"]?.string,
      let member = load.addresses.endpoints.firstIndex(of: endpoint)
    {
      current = member
      return
    }
    // Nobody has the nav at the moment.
    if let late = try peer(current).receive(within: 0.02) { take(late, from: current) }
    try turn()
  }

  private func turn() throws { current = (current + 1) % peers.count }

  private func peer(_ member: Int) throws -> Peer {
    if let peer = peers[member] { return peer }
    let peer = try Peer(load.addresses.endpoints[member])
    peers[member] = peer
    return peer
  }

  /// Reads at any member, and waits for nothing.
  private func probe() throws {
    let member = Int.random(in: 0..<peers.count, using: &random)
    guard probes[member, default: []].count < Self.probesAtATime else {
      // Those to a member that has ended never get an answer.
      if try !peer(member).offer("ping", "{\"id\":0}", within: 0) { probes[member] = [] }
      return
    }
    let message = begin(nil)
    if try peer(member).offer(message.verb, message.body, within: 0) {
      probes[member, default: []].insert(message.id)
    }
    try sweep(member)
  }

  /// Takes what has come from a member; returns the answer to a message if it is there.
  @discardableResult private func sweep(
    _ member: Int, for wanted: UInt64? = nil
  ) throws -> NavHistory.Answer? {
    guard let peer = peers[member] else { return nil }
    while let found = try peer.receive(within: 0) {
      if let wanted, found.body["id"]?.integer == wanted {
        if let answer = read(found, from: member, wanted) { return answer }
      } else {
        take(found, from: member)
      }
    }
    return nil
  }

  /// Notes the answer to an earlier message.
  private func take(_ message: Peer.Message, from member: Int) {
    guard let id = message.body["id"]?.integer, let place = places[id] else { return }
    probes[member]?.remove(id)
    if let answer = read(message, from: member, id) {
      load.end(place, nav, answer, isAwaited: false)
    }
  }

  /// The answer in a message; nil if it decides nothing.
  private func read(
    _ message: Peer.Message, from member: Int, _ id: UInt64
  ) -> NavHistory.Answer? {
    let (now, body) = (SystemClock.monotonicNanoseconds(), message.body)
    let kind: NavHistory.Answer.Kind
    switch (message.verb, body["code"]?.string) {
    case ("ok", _):
      if let value = body["value"] {
        kind = .read(value["screens"]?.ids ?? [])
      } else if body["changed"]?.bool == true {
        kind = .changed(popped: body["out"]?.array.first?["popped"]?.string)
      } else {
        kind = .unchanged
      }
    case ("err", "desync"): kind = .refused
    case ("err", "moved"), ("err", "busy"), ("err", "storage"), ("err", "shutting-down"): return nil
    default:
      if id > 0 { load.note("\(name) \(nav) \(id): \(message.verb) \(body)") }
      return nil
    }
    let place = body["value"] ?? body
    let revision = place["rev"]?.integer ?? 0
    if revision >= known.revision {
      let top = body["top"]?.string ?? place["screens"]?.ids.last
      let depth = body["depth"]?.integer.map(Int.init) ?? place["screens"]?.array.count
      known = (revision, top ?? known.top, depth ?? known.depth)
    }
    return NavHistory.Answer(
      at: now, from: load.addresses.names[member], kind: kind, revision: revision,
      digest: place["dig"]?.string ?? "")
  }
}

extension NavHistory.Change {
  /// The members of an `op` that performs the change.
  fileprivate var members: String {
    switch self {
    case .create(let root):
      #""do":[{"nav.create":{"root":{"id":"\#(root)","title":"Home"}}},{"attach":{}}]"#
    case .push(let screen): #""do":[{"push":{"screen":{"id":"\#(screen)"}}}]"#
    case .pop(let top):
      #""if":{\#(top.map { "\"top\":\"\($0)\"" } ?? "\"any\":true")},"do":[{"pop":{}}]"#
    case .reset(let screen, let revision):
      #""if":{\#(revision.map { "\"rev\":\($0)" } ?? "\"any\":true")},"#
        + #""do":[{"setStack":{"screens":["home",{"id":"\#(screen)"}]}}]"#
    }
  }
}
