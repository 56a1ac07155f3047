import Conformance

/// How time passes while things happen at random.
package struct RandomPace: Sendable {
  /// The deadline of transitions, in milliseconds.
  package var deadline: Int
  /// Whether steps wait now and then, so that transitions run into their deadline.
  package var waits: Bool
  /// Whether time passes by itself, so that deadlines come when they want.
  package var isReal: Bool

  /// Makes a pace from its members.
  package init(deadline: Int = 1000, waits: Bool = true, isReal: Bool = false) {
    self.deadline = deadline
    self.waits = waits
    self.isReal = isReal
  }
}

/// One nav, four clients that send ops at random, and an observer that watches and reads.
struct RandomRun<Driver: ConformanceDriver> {
  private var observer: String { "observer" }
  private var clients: [String] { ["a", "b", "c", "d"] }

  private let nav: String
  private let pace: RandomPace
  private var driver: Driver
  var ops: RandomOps
  /// What was found to be wrong, by the row that says so.
  private(set) var violations: [CodeRow: [String]] = [:]
  private(set) var state = JSONTree.null
  private(set) var refused = 0
  private(set) var changed = 0
  private var ids: [String: Int] = [:]
  private var mirror = NaiveMirror()
  /// What the watch told between the last two readings of the state, and since then.
  private var told: [JSONTree] = []
  private var news: [JSONTree] = []

  init(seed: UInt64, pace: RandomPace, driver: Driver) throws {
    nav = "random/\(seed)"
    self.pace = pace
    self.driver = driver
    ops = RandomOps(dice: Dice(seed: seed))
    let digits = "\(100_000_000 + seed)"
    for (index, name) in (clients + [observer]).enumerated() {
      try self.driver.connect(name)
      let client = String(repeating: "\(index)", count: 32 - digits.count) + digits
      _ = try self.driver.request(
        name, "hello",
        #"{"ver":[1,1],"client":"\#(client)","name":"\#(name)","nonce":"n","window":1048576}"#)
    }
    let created = try send(
      "a", "op",
      #","do":[{"nav.create":{"root":{"id":"S0"}}},{"attach":{}},"#
        + #"{"nav.configure":{"transitionDeadline":\#(pace.deadline)}}]"#)
    try claim(created?["rev"]?.integer == 1, "\(created?.text ?? "no answer")")
    _ = try send(observer, "watch", "")
    try look()
  }

  private mutating func report(_ row: CodeRow, _ text: String) {
    violations[row, default: []].append(text)
  }

  /// Does one thing at random and checks the laws.
  mutating func step() throws {
    let client = ops.dice.pick(clients)
    let before = state
    if ops.dice.chance(4) {
      let milliseconds = ops.dice.roll(pace.deadline * 6 / 5)
      if pace.waits { try driver.advance(milliseconds: UInt64(milliseconds)) }
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
    if state.text != before.text, told.isEmpty {
      report(.refusals, "\(context), and the state was changed")
    }
    // What falls due by itself has nothing to do with the op.
    let mine = told.filter { !pace.isReal || isFrom(client, $0) }
    if !mine.isEmpty { report(.refusals, "\(context), and the watch was told") }
  }

  private func isFrom(_ client: String, _ message: JSONTree) -> Bool {
    (message["list"]?.array ?? [message]).contains {
      $0.at("by.name")?.string == client && $0.at("by.op")?.integer == ids[client]
    }
  }

  /// Reads the state and takes what the watch got.
  private mutating func look() throws {
    let before = mirror.revision
    for message in try driver.drain(observer) { try take(message) }
    var revision = 0
    repeat {
      state = try need(send(observer, "get", #","what":"state""#)?["value"])
      revision = try need(state["rev"]?.integer)
      // What falls due in the turn that reads the state is told with it: the next reading has it too.
    } while pace.isReal && mirror.revision > revision
    told = news
    news = []
    ops.stack = (state["screens"]?.array ?? []).compactMap { $0["id"]?.string }
    ops.revision = revision
    ops.tid = state.at("transition.tid")?.integer
    if let wrong = mirror.difference(from: state) { report(.replay, wrong) }
    guard mirror.revision > before else { return }
    if let wrong = StateLaws.violation(of: state) { report(.invariants, wrong) }
    if let wrong = FreshResolution.difference(in: state) { report(.invariants, wrong) }
    let own = try send(observer, "get", #","what":"verify""#)
    if own?.at("value.ok")?.bool != true {
      report(.invariants, "verify says \(own?.text ?? "nothing")")
    }
  }

  private mutating func take(_ message: ReceivedMessage) throws {
    guard ["snap", "diff", "diffs"].contains(message.verb) else { return }
    let json = try JSONTree(reading: message.body)
    try mirror.receive(message.verb, json)
    news.append(json)
  }

  /// Sends a request with the members behind `nav`; the final answer, if there is one already.
  private mutating func send(_ name: String, _ verb: String, _ members: String) throws -> JSONTree?
  {
    ids[name, default: 0] += 1
    let id = ids[name] ?? 0
    let messages = try driver.request(
      name, verb, #"{"id":\#(id),"nav":"\#(nav)"\#(members)}"#)
    for message in messages where name == observer { try take(message) }
    // The answer to an op that waited may come in between.
    return try messages.filter { $0.verb == "ok" || $0.verb == "err" }
      .map { try JSONTree(reading: $0.body) }.last { $0["id"]?.integer == id }
  }
}
