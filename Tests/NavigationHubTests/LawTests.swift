import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

@testable import NavigationClient

/// Three clients that do everything there is to do, some who follow, and a daemon that restarts.
private struct LawRun {
  let world = World {
    $0.snapshotEvery = 40
    $0.nav.detachedRecords = 20
  }
  var generator: LawGenerator
  var clients: [Client] = []
  /// They join one after the other: each holds a snapshot of another revision.
  var followers: [Follower] = []
  /// The kinds of op, and the members for screen readers, that succeeded.
  private(set) var done: Set<String> = []
  private(set) var refused = 0
  /// How many answers were compared with those of a rehearsal.
  private(set) var rehearsed = 0
  private(set) var commits = 0
  private var sequence: UInt64 = 0
  /// How much of what was sent has been compared with another run.
  private var taken = 0
  let note: Comment

  init(seed: UInt64, decidesTwice: Bool = false) throws {
    generator = LawGenerator(seed: seed)
    note = "seed \(seed)"
    clients = try (1...3).map { try world.client($0, user: 0, #","flow":"none""#) }
    for nav in ["kiosk", "bar"] { try create(nav) }
    world.decidesTwice = decidesTwice
  }

  private mutating func create(_ nav: String) throws {
    let ops =
      nav == "bar"
      ? #"{"nav.create":{"kind":"bar"}}"#
      : #"{"nav.create":{"root":{"id":"s0","title":"Root"}}},{"attach":{}}"#
    #expect(try once { try clients[0].op(ops, nav: nav).verb } == .ok)
    done.insert("nav.create")
  }

  /// Decides a batch once: a rollback neither restores sessions, nor draws an epoch again.
  private func once<Result>(_ body: () throws -> Result) rethrows -> Result {
    let decidesTwice = world.decidesTwice
    world.decidesTwice = false
    defer { world.decidesTwice = decidesTwice }
    return try body()
  }

  mutating func step(_ number: Int) throws {
    if number % 60 == 10 {
      followers.append(try Follower.synced(world, UInt64(100 + number)))
    }
    if number % 60 == 40 { try setLook(number) }
    let client = generator.pick(clients)
    switch generator.below(40) {
    case 0: try world.wait(generator.below(1500))
    case 1:
      try client.send(
        "delegate", #"{"id":\#(client.nextID()),"nav":"kiosk",\#(generator.roles())}"#)
    case 2:
      let take = generator.below(2) == 0
      try client.send(
        "lease", #"{"id":\#(client.nextID()),"nav":"kiosk","take":\#(take),"force":true}"#)
    case 3 where generator.below(4) == 0: try reconnect(client)
    case 4 where generator.below(8) == 0: try restart()
    case 5 where generator.below(12) == 0: try close()
    case 6...10: try answer()
    default: try operate(client)
    }
    try check()
  }

  /// Sets the look of all bars, which each nav has as soon as it is set.
  private mutating func setLook(_ number: Int) throws {
    let ops = #"{"proxy.set":{"barTintColor":"c\#(number % 3)"}}"#
    #expect(try once { try clients[0].op(ops, nav: "$appearance").verb } == .ok)
    note(ops)
    for nav in ["kiosk", "bar"] {
      let proxy = try world.entry(nav).controller.settings.content.appearanceProxies
      #expect(proxy["NavigationBar"]?.barTintColor == "c\(number % 3)", note)
    }
  }

  private mutating func operate(_ client: Client) throws {
    let isBar = generator.below(8) == 0
    let nav = isBar ? "bar" : "kiosk"
    let controller = try world.entry("kiosk").controller
    generator.shown = controller.top?.buttons.map(\.id.text) ?? []
    generator.stack = controller.stack.map(\.id.text)
    var client = client
    var ops = isBar ? generator.itemOps() : generator.ops()
    // So many things must be right for a gesture that chance alone would hardly begin one.
    let mayBegin = controller.gestureRefusal(isFullScreen: false, translation: 1) == nil
    if !isBar, mayBegin, generator.below(6) == 0 { ops = #"{"gesture.begin":{"kind":"edge"}}"# }
    if let running = controller.transition.content.running {
      generator.transition = Int(running.id.number)
      // Most gestures are gone on with by their owner.
      if !isBar, running.isInteractive, generator.below(3) > 0 {
        client = clients.first { "c\($0.connection.number)" == running.gestureOwner } ?? client
        ops = generator.touch()
      }
    }
    let more = generator.more()
    let before = try (world.standing("kiosk"), world.standing("bar"))
    let rehearsal = try rehearse(client, ops, nav, more)
    let body = client.opBody(ops, nav: nav, more)
    let sent = try world.turn([client.message("op", body)])
    let reply = sent.last { $0.connection == client.connection && $0.id == client.id }
    guard let reply, reply.verb == .ok || reply.verb == .err else { return }
    if reply.verb == .ok { note(ops) }
    compare(rehearsal, reply, ops)
    guard reply.verb == .err || reply.json["changed"] as? Bool == false else { return }
    refused += 1
    let after = try (world.standing("kiosk"), world.standing("bar"))
    #expect(before == after, "\(note.rawValue): \(ops): \(reply.text)")
    #expect(!sent.contains { [.diff, .diffs, .snap].contains($0.verb) }, note)
  }

  /// The answer to the same op with `dry`, which must leave everything as it is.
  private func rehearse(
    _ client: Client, _ ops: String, _ nav: String, _ more: String
  ) throws -> Sent? {
    let dry = more.isEmpty ? #""dry":true"# : #"\#(more),"dry":true"#
    let before = try (world.standing("kiosk"), world.standing("bar"), world.journal.rows.count)
    let sent = try world.turn([client.message("op", client.opBody(ops, nav: nav, dry))])
    let after = try (world.standing("kiosk"), world.standing("bar"), world.journal.rows.count)
    #expect(before == after, "\(note.rawValue): dry \(ops)")
    #expect(!sent.contains { $0.connection != client.connection }, "\(note.rawValue): dry \(ops)")
    return sent.last { $0.connection == client.connection && $0.id == client.id }
  }

  /// The op's own answer is the one that its rehearsal announced.
  private mutating func compare(_ rehearsal: Sent?, _ reply: Sent, _ ops: String) {
    let text = Comment(rawValue: "\(note.rawValue): \(ops): \(rehearsal?.text ?? "") \(reply.text)")
    // An op that was asked about or waited got another answer later.
    guard let rehearsal, rehearsal.json["pos"] == nil else { return }
    rehearsed += 1
    #expect(rehearsal.verb == reply.verb && rehearsal.code == reply.code, text)
    guard reply.verb == .ok else { return }
    for member in ["rev", "depth", "top", "changed", "epoch"] {
      #expect("\(rehearsal.json[member] ?? "")" == "\(reply.json[member] ?? "")", text)
    }
    // The chain is that before the change.
    let right = (reply.json["dig"] as? String)?.prefix(8)
    #expect((rehearsal.json["dig"] as? String)?.prefix(8) == right, text)
    let state = rehearsal.json["state"] as? [String: Any]
    #expect((state?["dig"] as? String)?.prefix(8) == right, text)
  }

  /// What screen readers need, by the names on the wire.
  static let spoken =
    AccessibilityMember.allCases.map(\.word) + [
      "isEnabled", "isSelected", "screenReader", "contentSizeCategory", "accessibilityContrast",
    ]

  private mutating func note(_ ops: String) {
    done.formUnion(Self.spoken.filter { ops.contains("\"\($0)\":") })
    for kind in OperationKind.allCases where ops.contains("{\"\(kind.name)\":") {
      done.insert(kind.name)
    }
  }

  private mutating func answer() throws {
    guard
      let pending = world.hub.coordinations.slots.compactMap({
        world.hub.coordinations[$0]?.question?.pendingAsk
      }).first,
      let client = clients.first(where: {
        world.hub.sessions.slot(of: $0.connection) == pending.session.slot
      }),
      let ask = world.sent.last(where: { $0.verb == .ask && $0.connection == client.connection }),
      let question = (ask.json["q"] as? [String: Any])?.keys.first
    else { return }
    let value = generator.answer(to: question)
    try client.send("answer", #"{"ask":\#(pending.ask),"value":\#(value)}"#)
  }

  private mutating func reconnect(_ client: Client) throws {
    _ = try once { try world.turn([.closed(client.connection)]) }
    try client.hello(#","flow":"none""#)
  }

  private mutating func restart() throws {
    try world.restart()
    for client in clients { try client.hello(#","flow":"none""#) }
    for follower in followers {
      _ = follower.session.disconnected()
      try follower.connect()
    }
  }

  private mutating func close() throws {
    try clients[1].must(#"{"nav.close":{}}"#, nav: "bar", Stage.any)
    done.insert("nav.close")
    try create("bar")
  }

  /// What is kept is what follows from the state, and every mirror shows it.
  private mutating func check() throws {
    for nav in ["kiosk", "bar"] {
      let entry = try world.entry(nav)
      #expect(entry.digest.checksum == entry.controller.checksum(), note)
      #expect(entry.controller.violatedInvariants() == [], note)
      #expect(entry.fault == nil, note)
    }
    for follower in followers {
      try follower.sync()
      let entry = try world.entry("kiosk")
      // Byte for byte, so that a client that draws from its mirror draws the same.
      #expect(follower.mirror?.digest == entry.digest, note)
      #expect(follower.mirror?.resolved?.bytes == entry.controller.encodedBar, note)
      #expect(try follower.agrees(), note)
    }
    commits += Int(world.hub.totalSequence - sequence)
    sequence = world.hub.totalSequence
  }

  /// What was sent since the last call, without the numbers of asks, which no rollback takes back.
  mutating func takeSent() -> [String] {
    defer { taken = world.sent.count }
    return world.sent[taken...].map { sent in
      let isOfAsk = sent.verb == .ask || sent.verb == .settled
      let text = isOfAsk ? sent.text.replacing(/"ask":[0-9]+/, with: "") : sent.text
      return "\(sent.connection.number) \(sent.verb) \(text)"
    }
  }

  /// The journal alone leads to the same state, and a snapshot of now to the same mirror.
  func finish() throws {
    let replayed = try world.replayed(finishes: false)
    for nav in ["kiosk", "bar"] {
      let live = try world.entry(nav)
      let again = replayed.navs[try #require(replayed.navs.slot(of: nav))]
      #expect(again.controller == live.controller, note)
      #expect(again.digest == live.digest, note)
      #expect(again.controller.encodedBar == live.controller.encodedBar, note)
      #expect(again.epoch == live.epoch, note)
    }
    let fresh = try Follower.synced(world, 99)
    for follower in followers {
      #expect(follower.mirror?.screens == fresh.mirror?.screens, note)
      #expect(follower.mirror?.parts == fresh.mirror?.parts, note)
    }
  }
}

@Suite struct LawTests {
  @Test func `whatever is done, in any order, every law holds`() throws {
    var done: Set<String> = []
    for seed in UInt64(1)...18 {
      var run = try LawRun(seed: seed)
      for number in 0..<320 { try run.step(number) }
      try run.finish()
      // A run that did next to nothing proves nothing.
      #expect(run.commits > 60 && run.refused > 30, "seed \(seed): \(run.commits) \(run.refused)")
      #expect(run.rehearsed > 100, "seed \(seed): \(run.rehearsed)")
      done.formUnion(run.done)
    }
    let wanted = Set(OperationKind.allCases.map(\.name) + LawRun.spoken).subtracting(["unknown"])
    #expect(wanted.subtracting(done).sorted() == [], "these never succeeded")
  }

  @Test(arguments: UInt64(1)...2)
  func `a batch that is rolled back and decided again leads to the same bytes`(
    seed: UInt64
  ) throws {
    var (run, twice) = try (LawRun(seed: seed), LawRun(seed: seed, decidesTwice: true))
    for number in 0..<320 {
      try run.step(number)
      try twice.step(number)
      let (one, other) = (run.takeSent(), twice.takeSent())
      #expect(one == other, "\(number)")
    }
    try twice.finish()
    #expect(twice.world.journal.rows == run.world.journal.rows)
    #expect(twice.world.journal.snapshots == run.world.journal.snapshots)
    #expect(
      twice.world.rollBacks > 300 && run.commits > 60, "\(twice.world.rollBacks) \(run.commits)")
  }
}
