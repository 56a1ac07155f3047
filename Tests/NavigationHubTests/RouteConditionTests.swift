import Foundation
@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Routes that only some clients may open, or only from some screens; and what wins over a stack that
/// navd has restored.
@Suite struct RouteConditionTests {
  private static let routes = #"""
    [{"match":"admin/:page","needs":{"roles":["staff","admin"],"has":["pin"]},
      "screens":["home","pin",{"route":"admin/{page}"}]},
     {"match":"admin/:page","needs":{"roles":["staff","admin"]},"screens":["home","pin"]},
     {"match":"cart","needs":{"has":["home","list"]},"screens":["home","list","cart"]},
     {"match":"help","screens":["home","help"]}]
    """#

  private func kiosk() throws -> (World, Client) {
    let world = World()
    var access = Access()
    access.roles = [Access.RoleRule(Role("staff"), [.user(1007)])]
    access.grants = [
      Access.Grant(.role(Role("staff")), try #require(NavGlob("*")), .all),
      Access.Grant(.user(1000), try #require(NavGlob("*")), .all),
    ]
    try world.turn([.access(access)])
    let client = try world.kiosk()
    try client.must(#"{"nav.configure":{"routes":\#(Self.routes)}}"#)
    return (world, client)
  }

  private static func open(_ route: String) -> String { #"{"open":{"route":"\#(route)"}}"# }

  private func stack(_ world: World) throws -> [String] {
    try world.entry("kiosk").controller.stack.map { $0.route ?? $0.id.text }
  }

  @Test func `a condition on roles is that of the client that opens the route`() throws {
    let (world, client) = try kiosk()
    let staff = try world.client(7, user: 1007)
    let any = #""if":{"any":true}"#
    let refused = try client.op(Self.open("admin/users"), any)
    #expect(refused.code == "no-route" && refused.json["reason"] as? String == "roles")
    #expect(refused.json["expected"] as? [String] == ["staff", "admin"])
    #expect(refused.text.contains("admin/users needs one of the roles staff, admin"))
    #expect(try stack(world) == ["home"])
    try staff.must(Self.open("admin/users"), any)
    #expect(try stack(world) == ["home", "pin"])
    // The first template matches as soon as its screen is there.
    try staff.must(Self.open("admin/users"), any)
    #expect(try stack(world) == ["home", "pin", "admin/users"])
    #expect(try client.op(Self.open("admin/users"), any).code == "no-route")
  }

  @Test func `a condition on screens is about the stack at the time`() throws {
    let (world, client) = try kiosk()
    let any = #""if":{"any":true}"#
    let refused = try client.op(Self.open("cart"), any)
    #expect(refused.code == "no-route" && refused.json["reason"] as? String == "has")
    #expect(refused.json["expected"] as? [String] == ["home", "list"])
    try client.must(#"{"push":{"screen":{"id":"list"}}},{"open":{"route":"cart"}}"#, any)
    #expect(try stack(world) == ["home", "list", "cart"])
    #expect(try client.op(Self.open("zoo"), any).json["reason"] == nil)
    let dry = try client.op(Self.open("cart"), #""dry":true,"# + any)
    #expect(dry.json["dry"] as? Bool == true && dry.code == nil)
  }

  @Test func `the condition holds in the message that creates the nav, and for a queued op`() throws
  {
    let (world, client) = try kiosk()
    let create =
      #"{"nav.create":{"root":{"id":"home"}}},{"nav.configure":{"routes":\#(Self.routes)}},"#
    let refused = try client.op(create + Self.open("admin/users"), nav: "other")
    #expect(refused.code == "no-route" && refused.json["index"] as? Int == 2)
    let staff = try world.client(7, user: 1007)
    #expect(try staff.op(create + Self.open("admin/users"), nav: "other").code == nil)
  }

  @Test(arguments: [
    (#"{"roles":[]}"#, "roles of the route a is a list of names of roles"),
    (#"{"roles":"staff"}"#, "roles of the route a is a list of names of roles"),
    (#"{"has":["-"]}"#, "has of the route a is a list of ids of screens"),
    (#"{"screen":["a"]}"#, "needs of the route a has screen; it may have roles and has"),
    ("{}", "needs of the route a is {roles, has}"), ("[]", "needs of the route a is {roles, has}"),
  ])
  func `wrong conditions are refused by name`(needs: String, text: String) throws {
    let (world, client) = try kiosk()
    let before = try world.standing("kiosk")
    let refused = try client.op(
      #"{"nav.configure":{"routes":[{"match":"a","needs":\#(needs),"screens":["home"]}]}}"#)
    #expect(refused.code == "invalid-argument" && refused.text.contains(text), "\(refused.text)")
    #expect(try world.standing("kiosk") == before)
  }

  @Test func `a deep link wins over the stack that a restart restores, and over a guarded restore`()
    throws
  {
    let (world, client) = try kiosk()
    let any = #""if":{"any":true}"#
    try client.must(#"{"push":{"screen":{"id":"a"}}},{"push":{"screen":{"id":"b"}}}"#, any)
    try world.restart()
    #expect(try stack(world) == ["home", "a", "b"])
    let shell = try world.client(21)
    let read = try #require(try shell.get("state").revision)
    let link = try world.client(22)
    try link.must(Self.open("help"), any)
    #expect(try stack(world) == ["home", "help"])
    let restore =
      #"{"restore":{"payload":{"v":1,"entries":[{"path":"p","screen":{"id":"c"}}]}}}"#
    #expect(try shell.op(restore, #""if":{"rev":\#(read)}"#).code == "desync")
    #expect(try stack(world) == ["home", "help"])
    try shell.must(restore, any)
    #expect(try stack(world) == ["c"])
  }
}
