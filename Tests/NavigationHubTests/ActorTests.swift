@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Sessions that a gateway opens for others; the rights themselves are in AccessModelTests.
@Suite struct ActorTests {
  private static let gateway: UInt32 = 2000

  /// A world with a nav, and a gateway that may read, push and pop.
  private func world() throws -> (World, Client) {
    let world = World()
    var access = Access()
    access.gateways = [.user(Self.gateway)]
    try world.turn([.access(access)])
    let owner = Client(world, 1, user: 0)
    try owner.hello()
    try owner.must(#"{"nav.create":{"root":{"id":"home"}}}"#)
    return (world, owner)
  }

  private func page(
    _ world: World, _ number: UInt64, _ name: String = "till", role: Role = .ui,
    user: UInt32 = ActorTests.gateway
  ) throws -> Client {
    let client = Client(world, number, user: user)
    let all = try #require(NavGlob("*"))
    client.actor = SessionActor(name: name, role: role, navs: [all])
    #expect(client.actor != nil)
    return client
  }

  @Test func `ownership, the log and the answer to hello go by the name behind the gateway's`()
    throws
  {
    let (world, _) = try world()
    let page = try page(world, 2)
    let welcome = try page.hello()
    let you = try #require(welcome.json["you"] as? [String: Any])
    #expect(you["actor"] as? String == "till" && you["role"] as? String == "ui")
    #expect(you["uid"] as? Int == Int(Self.gateway))
    try page.must(#"{"nav.create":{"root":{"id":"a"}}}"#, nav: "own")
    let slot = try #require(world.hub.navs.slot(of: "own"))
    #expect(world.hub.navs[slot].owner == "uid:2000/till")
    let other = try self.page(world, 3, "other")
    try other.hello()
    // The owner's rights end with those of the gateway, which may not administer.
    #expect(try page.op(#"{"nav.close":{}}"#, nav: "own", Stage.any).code == "forbidden")
    #expect(try other.op(#"{"push":{"screen":{"id":"b"}}}"#, nav: "own").verb == .ok)
  }

  @Test func `one client id belongs to one actor, and another of the same gateway may not take it`()
    throws
  {
    let (world, _) = try world()
    let page = try page(world, 2)
    try page.hello()
    let thief = try self.page(world, 3, "thief")
    let body = #"{"ver":[1,1],"client":"\#(page.client)","nonce":"x"\#(thief.actorMember)}"#
    #expect(try thief.ask("hello", body).code == "forbidden")
    // The same actor may, as a page does that comes back.
    let again = Client(world, 4, user: Self.gateway, client: page.client)
    again.actor = page.actor
    #expect(try again.hello().verb == .welcome)
    #expect(try page.op(#"{"pop":{}}"#, Stage.any).code == "fenced")
  }

  @Test func `remembered ops are those of the actor`() throws {
    let (world, _) = try world()
    let page = try page(world, 2)
    try page.hello()
    let push = page.opBody(#"{"push":{"screen":{"id":"a"}}}"#)
    let first = try page.ask("op", push)
    let again = Client(world, 4, user: Self.gateway, client: page.client)
    again.actor = page.actor
    try again.hello()
    #expect(try again.ask("op", push).text == first.text)
  }

  @Test func `a gateway does nothing in its own name, with or without a session`() throws {
    let (_, owner) = try world()
    let world = owner.world
    let before = world.hub.totalSequence
    let gateway = Client(world, 2, user: Self.gateway)
    #expect(try gateway.hello().code == "forbidden")
    let id = #","client":"\#(gateway.client)""#
    let op = #"{"id":1,"nav":"kiosk"\#(id),"do":[{"push":{"screen":{"id":"a"}}}]}"#
    #expect(try gateway.ask("op", op).code == "no-session")
    #expect(try gateway.ask("get", #"{"id":2,"nav":"kiosk"}"#).code == "no-session")
    #expect(try gateway.ask("get", #"{"id":3,"what":"stats"}"#).code == "no-session")
    #expect(try gateway.ask("watch", #"{"id":4,"nav":"kiosk"}"#).code == "no-session")
    #expect(try gateway.ask("ping", #"{"id":5}"#).verb == .pong)
    #expect(world.hub.totalSequence == before)
  }

  @Test(arguments: [ActorTests.gateway, 0])
  func `a connection that had an actor never gets the rights of its gateway`(user: UInt32) throws {
    let (world, _) = try world()
    let before = world.hub.totalSequence
    let page = try page(world, 2, role: .read, user: user)
    try page.hello()
    #expect(try page.op(#"{"push":{"screen":{"id":"a"}}}"#).code == "forbidden")
    try page.send("bye", #"{"id":\#(page.nextID())}"#)
    let id = #""client":"\#(page.client)""#
    let loose = try page.op(#"{"push":{"screen":{"id":"a"}}}"#, id)
    #expect(loose.code == "no-session", "\(loose.text)")
    #expect(try page.ask("get", #"{"id":9,"nav":"kiosk"}"#).code == "no-session")
    page.actor = nil
    #expect(try page.hello().code == "forbidden")
    #expect(world.hub.totalSequence == before)
    // Another connection of root is root's.
    guard user == 0 else { return }
    let root = Client(world, 3, user: 0)
    #expect(try root.hello().verb == .welcome)
  }

  @Test(arguments: [ActorTests.gateway, 0], ["version", "forbidden", "limit", "shutting-down"])
  func `behind a refused hello nothing runs with the rights of the gateway`(
    user: UInt32, code: String
  ) throws {
    let (world, owner) = try world()
    let page = try page(world, 2, role: .read, user: user)
    var (versions, client) = ("[1,1]", page.client)
    switch code {
    case "version": versions = "[2,2]"
    case "forbidden": client = owner.client
    case "limit":
      for number in 3..<UInt64(world.hub.configuration.sessionsPerPrincipal + 3) {
        try self.page(world, number, role: .read, user: user).hello()
      }
    default: try world.turn([.stop])
    }
    let before = world.hub.totalSequence
    let hello = #"{"ver":\#(versions),"client":"\#(client)","nonce":"x"\#(page.actorMember)}"#
    #expect(try page.ask("hello", hello).code == code)
    let id = #""client":"\#(page.client)""#
    let op = try page.op(#"{"push":{"screen":{"id":"a"}}}"#, id)
    #expect(op.verb == .err && op.code != "invalid-argument", "\(op.text)")
    #expect(try page.ask("get", #"{"id":9,"nav":"kiosk"}"#).code == "no-session")
    #expect(try page.ask("get", #"{"id":9,"what":"stats"}"#).code == "no-session")
    #expect(world.hub.totalSequence == before)
  }

  @Test func `a refused hello changes nobody's session`() throws {
    let (world, _) = try world()
    let page = try page(world, 2)
    try page.hello()
    let own = page.actorMember
    page.actor = try self.page(world, 3, "other", role: .read).actor
    let hello = #"{"ver":[2,2],"client":"\#(page.client)","nonce":"x"\#(page.actorMember)}"#
    #expect(page.actorMember != own)
    #expect(try page.ask("hello", hello).code == "version")
    #expect(try page.op(#"{"push":{"screen":{"id":"a"}}}"#).verb == .ok)
  }

  @Test func `a refused hello with an actor binds root's connection, with a session or without`()
    throws
  {
    let (world, owner) = try world()
    let before = world.hub.totalSequence
    owner.actor = try page(world, 2, role: .read).actor
    let hello = #"{"ver":[2,2],"client":"\#(owner.client)","nonce":"x"\#(owner.actorMember)}"#
    #expect(try owner.ask("hello", hello).code == "version")
    #expect(try owner.op(#"{"push":{"screen":{"id":"a"}}}"#, Stage.any).code == "forbidden")
    #expect(try owner.ask("get", #"{"id":9,"what":"backup"}"#).code == "forbidden")
    owner.actor = nil
    #expect(try owner.hello().code == "forbidden")
    #expect(world.hub.totalSequence == before)
  }

  @Test func `who may not speak for others is refused, and stays who it is`() throws {
    let (world, _) = try world()
    let user = try page(world, 2, user: 1000)
    #expect(try user.hello().code == "forbidden")
    // Otherwise the user would choose its name in the log, and the limit of the log with it.
    #expect(world.notices.last?.code == "forbidden")
    #expect(world.notices.last?.principal == "uid:1000")
    user.actor = nil
    #expect(try user.hello().verb == .welcome)
    #expect(try user.op(#"{"push":{"screen":{"id":"a"}}}"#).verb == .ok)
  }

  @Test(arguments: [
    #"{"name":"a","role":"ui"}"#, #"{"name":"a","role":"ui","navs":[]}"#,
    #"{"name":"a/b","role":"ui","navs":["*"]}"#, #"{"name":"","role":"ui","navs":["*"]}"#,
    #"{"name":"a","role":"","navs":["*"]}"#, #"{"name":"a","role":"ui","navs":[""]}"#,
    #"{"name":"a","role":"ui","navs":["*"],"uid":0}"#, #"{"name":"a","role":"ui","navs":[1]}"#,
    #"[]"#, #""root""#, "1",
  ])
  func `an actor of another form is refused`(actor: String) throws {
    let (world, _) = try world()
    let gateway = Client(world, 2, user: Self.gateway)
    let body = #"{"ver":[1,1],"client":"\#(gateway.client)","nonce":"x","actor":\#(actor)}"#
    #expect(try gateway.ask("hello", body).code == "invalid-argument", "\(actor)")
  }

  @Test func `rules that change end the sessions of who is no gateway any more, and of who is now`()
    throws
  {
    let (world, _) = try world()
    let page = try page(world, 2)
    try page.hello()
    let user = Client(world, 3, user: 3000)
    try user.hello()
    var access = Access()
    access.gateways = [.user(3000)]
    let sent = try world.turn([.access(access)])
    for client in [page, user] {
      let bye = sent.first { $0.connection == client.connection && $0.verb == .bye }
      #expect(bye?.json["why"] as? String == "revoked")
    }
  }

  /// A page of a gateway or a user, the gateways after a reload, and the answer to what waits.
  private static let reloads: [(isPage: Bool, gateways: [UInt32], code: String?)] = [
    (true, [gateway], nil), (true, [], "forbidden"),
    (false, [gateway], nil), (false, [gateway, 3000], "forbidden"),
  ]

  private func gateways(_ users: [UInt32]) -> HubEvent {
    var access = Access()
    access.gateways = users.map { .user($0) }
    return .access(access)
  }

  /// A session of a page, or of a user who is no gateway yet.
  private func peer(_ world: World, isPage: Bool) throws -> Client {
    let peer = isPage ? try page(world, 2) : Client(world, 2, user: 3000)
    #expect(try peer.hello().verb == .welcome)
    return peer
  }

  @Test(arguments: reloads)
  func `an op that waits for a delegate is judged by the gateways of the moment it runs`(
    isPage: Bool, users: [UInt32], code: String?
  ) throws {
    let (world, owner) = try world()
    let peer = try peer(world, isPage: isPage)
    let roles = #"{"id":\#(owner.nextID()),"nav":"kiosk","roles":["veto"]}"#
    #expect(try owner.ask("delegate", roles).verb == .ok)
    let op = peer.message("op", peer.opBody(Stage.push("a"), Stage.any))
    let ask = try #require(try world.turn([op]).to(owner).first?.json["ask"] as? Int)
    try world.turn([gateways(users)])
    let sent = try owner.send("answer", #"{"ask":\#(ask),"value":true}"#)
    #expect(sent.settled == ["allowed"])
    let answers = world.sent.to(peer).filter { $0.verb == .ok || $0.verb == .err }
    #expect(answers.map(\.code) == [code])
    #expect(try world.entry("kiosk").controller.stack.count == (code == nil ? 2 : 1))
    guard code != nil else { return }
    #expect(world.notices.last { $0.kind == .refused }?.principal == peer.principal)
  }

  @Test(arguments: reloads)
  func `a read that waits for the history is judged by the gateways of the moment it ends`(
    isPage: Bool, users: [UInt32], code: String?
  ) throws {
    let (world, owner) = try world()
    try owner.must(Stage.push("a"))
    let peer = try peer(world, isPage: isPage)
    world.holdsHistory = true
    let bodies = [#""at":1"#, #""what":"log""#].map {
      #"{"id":\#(peer.nextID()),"nav":"kiosk",\#($0)}"#
    }
    let first = try world.turn(bodies.map { peer.message("get", $0) })
    #expect(first.isEmpty && world.requests.count == 2)
    try world.turn([gateways(users)])
    world.holdsHistory = false
    let sent = try world.answerHistory().to(peer)
    #expect(sent.map(\.code) == [code, code])
    #expect(sent.allSatisfy { ($0.json["value"] == nil) == (code != nil) })
  }

  @Test func `an actor of root sees what its role sees, and no backups`() throws {
    let (world, _) = try world()
    let viewer = try page(world, 2, role: .read, user: 0)
    try viewer.hello()
    #expect(try viewer.ask("get", #"{"id":1,"nav":"kiosk"}"#).verb == .ok)
    #expect(try viewer.ask("get", #"{"id":2,"nav":"$navs"}"#).code == "forbidden")
    #expect(try viewer.ask("get", #"{"id":3,"what":"backup"}"#).code == "forbidden")
    let stats = try viewer.ask("get", #"{"id":4,"what":"stats"}"#)
    #expect((stats.json["value"] as? [String: Any])?["busiest"] == nil)
  }
}
