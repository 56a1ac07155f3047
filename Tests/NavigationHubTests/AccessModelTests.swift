@testable import NavigationCore
@testable import NavigationHub
import Testing

/// What the hub refuses, compared with what the twin would, for random peers and messages.
@Suite struct AccessModelTests {
  /// The rights that an operation takes, by its name, as the protocol's table has them.
  ///
  /// A button that pops needs pop, which nobody knows of one behind other operations.
  static func needed(_ operation: String, isFirst: Bool = true) -> [String] {
    guard let row = OperationTable.rows[operation] else {
      preconditionFailure("protocol.md has no row for \(operation)")
    }
    return operation == "button.activate" && isFirst ? ["push"] : row.rights
  }

  /// A hub with navs of several owners, and the rules that it goes by.
  private final class Model {
    let world = World()
    var source: SeededGenerator
    var sample: AccessSample
    var owners: [String: String] = [:]
    var clients: [(AccessTwin.Somebody, Client)] = []
    var asked = 0
    var refused = 0

    static let names = ["kiosk", "kiosk/1", "hud", "hall/1", "nobody", "nothing/1"]

    init(seed: UInt64) throws {
      source = SeededGenerator(seed: seed)
      sample = AccessSample(using: &source)
      let creators: [(String, Peer)] = [
        ("kiosk", .local(user: 0, group: 0, process: 1)),
        ("kiosk/1", .local(user: 1000, group: 1000, process: 1)),
        ("hud", .key(name: "panel", address: "192.0.2.1")),
        ("hall/1", .local(user: 1001, group: 20, process: 1)),
      ]
      var open = Access(daemonUser: 7)
      open.keys = ["panel": .admin]
      try world.turn([.access(open)])
      for (index, (nav, peer)) in creators.enumerated() {
        let client = Client(world, UInt64(100 + index), peer: peer)
        try client.hello()
        try client.must(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: nav)
        _ = try client.send("bye", #"{"id":\#(client.nextID())}"#)
        owners[nav] = peer.principal
      }
      try world.turn([.access(sample.access)])
      for (somebody, peer) in sample.everybody(using: &source) { try admit(somebody, peer) }
    }

    /// Opens the sessions of one peer: its own if it may, and two as a gateway if it may.
    func admit(_ somebody: AccessTwin.Somebody, _ peer: Peer) throws {
      let speaks = sample.twin.speaks(somebody)
      let own = Client(world, UInt64(1 + clients.count), peer: peer)
      #expect((try own.hello().verb == .welcome) == !speaks.only, "\(somebody) \(sample.twin)")
      if !speaks.only { clients.append((somebody, own)) }
      for _ in 0..<2 {
        let number = clients.count
        let (twin, actor) = try AccessSample.actor(number, using: &source)
        let client = Client(world, UInt64(200 + number), peer: peer)
        client.actor = actor
        #expect((try client.hello().verb == .welcome) == speaks.may, "\(somebody)")
        guard speaks.may else { continue }
        var other = somebody
        other.actor = twin
        clients.append((other, client))
      }
    }

    func may(_ somebody: AccessTwin.Somebody, _ rights: [String], _ nav: String) -> Bool {
      let owner = nav.hasPrefix("$") ? "" : owners[nav]
      return rights.allSatisfy { sample.twin.may(somebody, $0, on: nav, owner: owner) }
    }

    /// Sends a message; expects `forbidden` exactly if it is expected, and nothing done then.
    func check(
      _ somebody: AccessTwin.Somebody, _ client: Client, _ verb: String, _ body: String,
      isAllowed: Bool
    ) throws {
      let before = standing
      let notices = world.notices.count
      let reply = try client.ask(verb, body)
      asked += 1
      #expect(
        (reply.code == "forbidden") == !isAllowed, "\(verb) \(body): \(reply.text) \(sample.twin)")
      guard reply.code == "forbidden" else {
        let refusals = world.notices[notices...].filter { $0.kind == .refused }
        return #expect(refusals.isEmpty, "\(refusals)")
      }
      refused += 1
      #expect(standing == before)
      #expect(reply.json["retry"] as? String == "no" && reply.json["effect"] as? String == "none")
      let last = world.notices.last
      #expect(world.notices.count == notices + 1)
      #expect(last?.kind == .refused && last?.code == "forbidden")
      #expect(last?.principal == client.principal)
    }

    /// What a refusal must leave alone, of all navs.
    var standing: [String] {
      owners.keys.sorted().map { name in
        guard let slot = world.hub.navs.slot(of: name) else { return "\(name) is gone" }
        let nav = world.hub.navs[slot]
        return "\(name) \(nav.epoch.text) \(nav.controller.revision.number) \(nav.digest.text)"
      } + [
        "\(world.hub.totalSequence) \(world.journal.rows.count) \(world.hub.coordinations.count)"
      ]
    }

    func nav() -> String {
      let virtual = Int.random(in: 0..<10, using: &source)
      if virtual == 0 { return "$navs" }
      if virtual == 1 { return "$clients" }
      if virtual == 2 { return "$heads" }
      return Self.names.randomElement(using: &source) ?? "kiosk"
    }

    func step() throws {
      let (somebody, client) = clients[Int.random(in: 0..<clients.count, using: &source)]
      let nav = nav()
      switch Int.random(in: 0..<10, using: &source) {
      case 0: try watch(somebody, client, nav)
      case 1, 2: try get(somebody, client, nav)
      case 3: try lease(somebody, client, nav)
      case 4:
        let body = #"{"id":\#(client.nextID()),"nav":"\#(nav)","roles":["veto"]}"#
        try check(somebody, client, "delegate", body, isAllowed: may(somebody, ["push"], nav))
        _ = try client.send(
          "delegate", #"{"id":\#(client.nextID()),"nav":"\#(nav)","roles":[]}"#)
      case 5: try hello(somebody, client)
      default: try op(somebody, client, nav)
      }
    }

    private func watch(_ somebody: AccessTwin.Somebody, _ client: Client, _ nav: String) throws {
      let view = ["full", "bar", "top"].randomElement(using: &source) ?? "full"
      let body = #"{"id":\#(client.nextID()),"nav":"\#(nav)","view":"\#(view)"}"#
      try check(somebody, client, "watch", body, isAllowed: may(somebody, ["read"], nav))
      _ = try client.send(
        "unwatch", #"{"id":\#(client.nextID()),"nav":"\#(nav)","view":"\#(view)"}"#)
    }

    private func get(_ somebody: AccessTwin.Somebody, _ client: Client, _ nav: String) throws {
      if Int.random(in: 0..<6, using: &source) == 0 {
        let isAdmin = sample.twin.administers(somebody)
        let body = #"{"id":\#(client.nextID()),"what":"backup"}"#
        if isAdmin {
          // It is the shell that makes it.
          try client.send("get", body)
          try world.turn([.backup(.failed("no room"))])
        } else {
          try check(somebody, client, "get", body, isAllowed: false)
        }
        return try check(
          somebody, client, "get", #"{"id":\#(client.nextID()),"what":"stats"}"#, isAllowed: true)
      }
      let whats = [
        "state", "bar", "top", "screen\",\"screen\":\"home", "detached", "restoration", "log",
        "verify", "stats", "state\",\"at\":1,\"x\":\"",
      ]
      let what = whats.randomElement(using: &source) ?? "state"
      let body = #"{"id":\#(client.nextID()),"nav":"\#(nav)","what":"\#(what)"}"#
      try check(somebody, client, "get", body, isAllowed: may(somebody, ["read"], nav))
    }

    private func lease(_ somebody: AccessTwin.Somebody, _ client: Client, _ nav: String) throws {
      let holder = clients.first { $0.0.uid == 0 && $0.0.actor == nil }?.1
      let isHeld = Bool.random(using: &source) && owners[nav] != nil && holder !== client
      if isHeld, let holder {
        let taken = try holder.ask(
          "lease", #"{"id":\#(holder.nextID()),"nav":"\#(nav)","take":true}"#)
        #expect(taken.verb == .ok)
      }
      let isForced = Bool.random(using: &source)
      let body = #"{"id":\#(client.nextID()),"nav":"\#(nav)","take":true,"force":\#(isForced)}"#
      let needed = isHeld && isForced ? ["push", "admin"] : ["push"]
      try check(somebody, client, "lease", body, isAllowed: may(somebody, needed, nav))
      for one in [client, holder].compactMap({ $0 }) {
        _ = try one.send("lease", #"{"id":\#(one.nextID()),"nav":"\#(nav)","take":false}"#)
      }
    }

    private func hello(_ somebody: AccessTwin.Somebody, _ client: Client) throws {
      guard let (other, victim) = clients.randomElement(using: &source) else { return }
      let before = standing
      let reply = try client.ask(
        "hello", #"{"ver":[1,1],"client":"\#(victim.client)","nonce":"x"\#(client.actorMember)}"#)
      let isOwn = other.principal == somebody.principal
      #expect((reply.code == "forbidden") == !isOwn, "\(reply.text)")
      #expect(standing == before)
      try client.hello()
    }

    private func op(_ somebody: AccessTwin.Somebody, _ client: Client, _ nav: String) throws {
      let kinds = OperationKind.allCases.filter { $0 != .unknown }
      var names = (0..<Int.random(in: 1...5, using: &source)).map { _ in
        kinds.randomElement(using: &source)?.name ?? "push"
      }
      let creates = Int.random(in: 0..<6, using: &source) == 0
      if creates { names[0] = "nav.create" }
      let list = names.map { #"{"\#($0)":\#(arguments($0))}"# }.joined(separator: ",")
      let isLoose = Bool.random(using: &source)
      let id = isLoose ? #","client":"\#(client.client)""# : ""
      let guards = Bool.random(using: &source) ? #","if":{"any":true}"# : ""
      let body = #"{"id":\#(client.nextID()),"nav":"\#(nav)"\#(id)\#(guards),"do":[\#(list)]}"#
      try check(
        somebody, client, "op", body,
        isAllowed: mayOp(somebody, names, nav))
      try learn(nav, client)
    }

    /// Who creates a nav in a message owns it from there on.
    private func mayOp(_ somebody: AccessTwin.Somebody, _ names: [String], _ nav: String) -> Bool {
      if nav.hasPrefix("$") { return may(somebody, ["read"], nav) }
      if names[0] == "nav.create", owners[nav] == nil {
        let owner = somebody.principal
        return needed(names).allSatisfy {
          sample.twin.may(somebody, $0, on: nav, owner: owner)
        }
      }
      return may(somebody, needed(names), nav)
    }

    private func needed(_ names: [String]) -> [String] {
      names.enumerated().flatMap { AccessModelTests.needed($1, isFirst: $0 == 0) }
    }

    private func arguments(_ name: String) -> String {
      switch name {
      case "nav.create": #"{"root":{"id":"home"}}"#
      case "push", "show", "present": #"{"screen":{"title":"x"}}"#
      case "bar.setHidden", "toolbar.setHidden": #"{"hidden":true}"#
      case "popTo": #"{"screen":"home"}"#
      case "screen.create": "{}"
      case "item.set", "screen.set": #"{"screen":"home","title":"y"}"#
      default: "{}"
      }
    }

    /// Takes over who made or closed a nav.
    private func learn(_ nav: String, _ client: Client) throws {
      let slot = world.hub.navs.slot(of: nav)
      guard !nav.hasPrefix("$"), (slot != nil) != (owners[nav] != nil) else { return }
      owners[nav] = slot.map { world.hub.navs[$0].owner }
      if slot != nil { #expect(owners[nav] == client.principal) }
    }
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func `a message is forbidden exactly when the manual says so`(seed: UInt64) throws {
    let model = try Model(seed: 0xACCE55 + seed)
    for _ in 0..<400 { try model.step() }
    #expect(model.asked > 300)
  }

  @Test func `the answers about navs that are not there and that may not be seen are the same`()
    throws
  {
    let world = World()
    let owner = Client(world, 1, user: 0)
    try owner.hello()
    try owner.must(#"{"nav.create":{"root":{"id":"home"}}}"#, nav: "secret")
    var access = Access()
    access.grants = [
      Access.Grant(.user(1000), try #require(NavGlob("open*")), .all)
    ]
    try world.turn([.access(access)])
    let stranger = Client(world, 2)
    try stranger.hello()
    let messages: [(String, String)] = [
      ("get", #""what":"state""#), ("get", #""what":"log""#), ("get", #""at":1"#),
      ("get", #""what":"verify""#), ("get", #""what":"stats""#), ("watch", #""view":"full""#),
      ("watch", #""from":{"epoch":"0123456789abcdef","rev":1,"dig":"000000000000000000000000"}"#),
      ("lease", #""take":true,"force":true"#), ("delegate", #""roles":["veto"]"#),
      ("op", #""do":[{"nav.create":{"root":{"id":"a"}}}]"#), ("op", #""do":[{"pop":{}}]"#),
      ("op", #""if":{"rev":1},"do":[{"nav.close":{}}]"#),
      ("op", #""do":[{"nav.close":{}},{"fly":{}}]"#), ("unwatch", #""view":"bar""#),
    ]
    for (verb, members) in messages {
      let answers = try ["secret", "absent"].map { nav in
        let id = stranger.nextID()
        let text = try stranger.ask(verb, #"{"id":\#(id),"nav":"\#(nav)",\#(members)}"#).text
        return text.replacing("\"id\":\(id)", with: "").replacing(nav, with: "NAV")
      }
      #expect(answers[0] == answers[1], "\(verb) \(members)")
      #expect(verb == "unwatch" || answers[0].contains("forbidden"), "\(answers[0])")
    }
  }

  @Test(arguments: OperationKind.allCases.filter { $0 != .unknown })
  func `one operation without the right refuses the whole batch, wherever it stands`(
    kind: OperationKind
  ) throws {
    let stage = try Stage()
    var access = Access()
    let all: Rights = [.push, .pop, .read, .admin]
    let needed = AccessSample.rights(Self.needed(kind.name))
    var number: UInt64 = 20
    for missing in [Rights.push, .pop, .admin] where needed.contains(missing) {
      number += 1
      access.grants = [
        Access.Grant(.user(2000), try #require(NavGlob("*")), all.subtracting(missing))
      ]
      try stage.world.turn([.access(access)])
      let peer = Client(stage.world, number, user: 2000)
      try peer.hello()
      let allowed = missing == .push ? #"{"pop":{}}"# : #"{"push":{"screen":{"title":"x"}}}"#
      for place in 0..<3 {
        var list = Array(repeating: allowed, count: 2)
        list.insert(#"{"\#(kind.name)":{}}"#, at: place)
        if kind == .navCreate, place > 0 { continue }
        try stage.same {
          let reply = try peer.op(list.joined(separator: ","), Stage.any)
          #expect(reply.code == "forbidden", "\(reply.text)")
        }
      }
      try peer.send("bye", #"{"id":\#(peer.nextID())}"#)
    }
  }
}
