import NavigationSync
import Testing

@testable import Conformance

/// One nav, four clients that send ops at random, and an observer that watches and reads.
struct RandomRun {
  static let nav = "random"
  static let observer = "observer"
  static let clients = ["a", "b", "c", "d"]

  var driver: HubDriver
  var ops: RandomOps
  /// What was found to be wrong, by the row that says so.
  private(set) var violations: [CodeRow: [String]] = [:]
  private(set) var state = JSONTree.null
  private(set) var refused = 0
  private(set) var changed = 0
  private var ids: [String: Int] = [:]
  private var mirror = NaiveMirror()
  /// The answer to the last request of the observer, and how much it was told beside.
  private var told: [ReceivedMessage] = []

  init(seed: UInt64, daemon: UInt64) throws {
    driver = HubDriver(seed: daemon)
    ops = RandomOps(dice: Dice(seed: seed))
    for (index, name) in (Self.clients + [Self.observer]).enumerated() {
      try driver.connect(name)
      let digits = String(repeating: "\(index)", count: 32)
      _ = try request(
        name, "hello", #"{"ver":[1,1],"client":"\#(digits)","nonce":"n","window":1048576}"#)
    }
    try #require(
      try send(
        "a", "op", #","do":[{"nav.create":{"root":{"id":"S0"}}},{"attach":{}}]"#)?["rev"]?.integer
        == 1)
    _ = try send(Self.observer, "watch", "")
    try look()
  }

  private mutating func report(_ row: CodeRow, _ text: String) {
    violations[row, default: []].append(text)
  }

  /// Does one thing at random and checks the laws.
  mutating func step() throws {
    let client = ops.dice.pick(Self.clients)
    let before = state
    if ops.dice.chance(4) {
      try driver.advance(milliseconds: UInt64(ops.dice.roll(1200)))
      try look()
      return
    }
    let message = ops.message()
    let answer = try send(client, "op", message)
    try look()
    let context = "\(message) was answered with \(answer?.text ?? "nothing")"
    if answer?["changed"]?.bool == true { changed += 1 }
    guard let answer, answer["code"] != nil || answer["changed"]?.bool == false else { return }
    refused += 1
    if state.text != before.text { report(.refusals, "\(context), and the state was changed") }
    if !told.isEmpty { report(.refusals, "\(context), and the watch was told") }
  }

  /// Reads the state and takes what the watch got.
  private mutating func look() throws {
    let before = mirror.revision
    told = try pending(Self.observer).filter { ["snap", "diff", "diffs"].contains($0.verb) }
    for message in told {
      try mirror.receive(message.verb, JSONTree(reading: message.body))
    }
    state = try #require(try send(Self.observer, "get", #","what":"state""#)?["value"])
    ops.stack = (state["screens"]?.array ?? []).compactMap { $0["id"]?.string }
    ops.revision = state["rev"]?.integer ?? 1
    ops.tid = state.at("transition.tid")?.integer
    if let wrong = mirror.difference(from: state) { report(.replay, wrong) }
    guard mirror.revision > before else { return }
    if let wrong = StateLaws.violation(of: state) { report(.invariants, wrong) }
    let own = try send(Self.observer, "get", #","what":"verify""#)
    if own?.at("value.ok")?.bool != true {
      report(.invariants, "verify says \(own?.text ?? "nothing")")
    }
  }

  private mutating func pending(_ name: String) throws -> [ReceivedMessage] {
    var messages: [ReceivedMessage] = []
    while let message = try driver.receive(name) { messages.append(message) }
    return messages
  }

  private mutating func request(_ name: String, _ verb: String, _ body: String) throws
    -> [ReceivedMessage]
  {
    try driver.send(name, verb: verb, body: Array(body.utf8))
    return try pending(name)
  }

  /// Sends a request with the members behind `nav`; the final answer, if there is one already.
  private mutating func send(_ name: String, _ verb: String, _ members: String) throws -> JSONTree?
  {
    ids[name, default: 0] += 1
    let id = ids[name] ?? 0
    let messages = try request(
      name, verb, #"{"id":\#(id),"nav":"\#(Self.nav)"\#(members)}"#)
    for message in messages where name == Self.observer {
      try mirror.receive(message.verb, JSONTree(reading: message.body))
    }
    // The answer to an op that waited may come in between.
    return try messages.filter { $0.verb == "ok" || $0.verb == "err" }
      .map { try JSONTree(reading: $0.body) }.last { $0["id"]?.integer == id }
  }
}
