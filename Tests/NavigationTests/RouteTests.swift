@testable import NavigationCore
@testable import NavigationHub
import Testing

extension Operation {
  static func open(_ route: String) -> Operation { .open(route: route) }
}

@Suite struct RouteTests {
  /// `settings/:page` stands for home, settings and the page.
  private static let templates = [
    RouteTemplate(
      segments: [.text("settings"), .parameter("page")],
      screens: [
        .id("home"), .record(ScreenRecord(edits: [.route("settings")])),
        .record(ScreenRecord(edits: [.title("P"), .route("settings/{page}")])),
      ]),
    RouteTemplate(segments: [.text("settings"), .text("wifi")], screens: [.id("never")]),
    RouteTemplate(
      segments: [.text("a"), .parameter("x"), .parameter("y")], screens: [.id("home")]),
    RouteTemplate(
      segments: [.text("fixed")],
      screens: [.id("home"), .record(ScreenRecord(id: "F")), .id("M")]),
    RouteTemplate(segments: [.text("none")], screens: []),
  ]

  private func nav(_ stack: ScreenID...) throws -> Nav {
    var nav = try Nav()
    nav.context.routeTemplates = { _ in Self.templates }
    for id in stack { try nav.run(.push(ScreenRecord(id: id))) }
    if !stack.isEmpty { try nav.run(.attach) }
    try nav.run(.configure([.set(\.routes, OpaqueJSON(validated: Array("[]".utf8)))]))
    return nav
  }

  private func routes(_ nav: Nav) -> [String?] { nav.controller.stack.map(\.route) }

  @Test func `the first template that matches is filled and becomes the stack`() throws {
    var nav = try nav("home", "X")
    let output = try nav.run(.open("settings/wifi"), animated: true)
    guard case .replaced(let popped, let ids) = output else {
      Issue.record("\(output)")
      return
    }
    #expect(popped == ["X"])
    #expect(ids.count == 3 && ids[0] == "home")
    #expect(routes(nav) == [nil, "settings", "settings/wifi"])
    #expect(nav.controller.top?.title == "P")
    #expect(nav.commit?.topRelation == .new)
    #expect(nav.events.count == 3)
  }

  @Test func `screens that agree from the bottom are kept`() throws {
    var nav = try nav("home")
    try nav.run(.open("settings/wifi"))
    let before = nav.controller.stack
    try nav.runsWithoutEffect(.open("settings/wifi"))
    try nav.run(.open("settings/dns"))
    #expect(Array(nav.controller.stack.prefix(2)) == Array(before.prefix(2)))
    #expect(routes(nav) == [nil, "settings", "settings/dns"])
    // Other arguments are another screen, and so is everything above it.
    let args = OpaqueJSON(validated: Array("1".utf8))
    try nav.run(.setScreen(before[1].id, [.args(args)]))
    try nav.run(.open("settings/dns"))
    #expect(nav.controller.stack[1].id != before[1].id)
    #expect(nav.controller.stack[2].id != before[2].id)
  }

  @Test func `an identity names the screen wherever it is`() throws {
    var nav = try nav("F", "home")
    try nav.run(.open("fixed"))
    #expect(nav.ids == ["home", "F", "M"])
    try nav.run(.present(ScreenRecord(id: "N")))
    try nav.run(.popTo("home"))
    try nav.run(.open("fixed"))
    #expect(nav.ids == ["home", "F", "M"])
    try nav.send([.dismiss(), .pop, .present("M")])
    nav.refuses(.open("fixed"), with: .alreadyPresented("M"))
  }

  @Test(arguments: [
    "", "settings", "settings/", "settings/a/b", "Settings/a", "a/x", "a//y", "b/x/y",
  ])
  func `a route that no template matches is refused`(route: String) throws {
    var nav = try nav("home")
    nav.refuses(.open(route), with: .noMatchingRoute(route))
  }

  @Test func `a route is not percent-decoded, and no routes match nothing`() throws {
    var nav = try nav("home")
    try nav.run(.open("settings/a%2Fb"))
    #expect(nav.controller.top?.route == "settings/a%2Fb")
    nav.refuses(.open("none"), with: .rootRequired)
    try nav.run(.configure([.set(\.routes, nil)]))
    nav.refuses(.open("settings/a"), with: .noMatchingRoute("settings/a"))
  }
}

extension Nav {
  /// A detached controller without screens.
  init() throws { self.init(NavigationController(revision: Revision(1))) }
}
