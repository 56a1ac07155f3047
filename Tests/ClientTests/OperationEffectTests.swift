import NavigationCore
import Testing

@testable import NavigationClient

extension HubRig {
  /// The events of the newest diff or event message.
  var events: [NavigationClient::NavigationEvent] { NavigationEvent.list(eventList) }
}

/// What the operations of the library do to a nav, by their documentation.
@Suite struct StackOperationEffectTests {
  @Test func `create with a root puts this screen on the stack, off the display`() throws {
    var rig = try HubRig()
    let reply = try rig.perform([.create(root: .init(id: "home", title: "Home"))])
    #expect((reply.revision, reply.depth, reply.top) == (1, 1, "home"))
    try rig.watch()
    #expect(try rig.stack == ["home"])
    #expect(try rig.state.part(.settings)?["attached"]?.bool != true)
    try rig.perform([.attach()])
    #expect(try rig.state.part(.settings)?["attached"]?.bool == true)
    try rig.perform([.detach()])
    #expect(try rig.state.part(.settings)?["attached"]?.bool != true)
  }

  @Test func `create without a root makes an empty stack, which cannot be put on display`() throws {
    var rig = try HubRig()
    #expect(try rig.perform([.create()]).top == nil)
    #expect(try rig.refusal(of: [.attach()]).code.rawValue == "no-root")
    try rig.perform([.push(.init(id: "home")), .attach()])
    try rig.watch()
    #expect(try rig.stack == ["home"])
  }

  @Test func `create must be the first of a list`() throws {
    var rig = try HubRig()
    let error = try rig.refusal(of: [.attach(), .create()])
    #expect(error.code == .noNav || error.code == .invalidArgument)
    try rig.perform([.create(root: "home", withID: "home")])
    #expect(try rig.refusal(of: [.create()]).code == .navExists)
  }

  @Test func `a push puts a screen on top, and the daemon chooses an id that is left out`() throws {
    var rig = try HubRig.kiosk()
    let reply = try rig.perform([.push(.init(title: "New"))])
    let id = try #require(reply.ids.first)
    #expect(reply.ids.count == 1 && reply.top == id && reply.depth == 4)
    #expect(try rig.state.top?.title == "New")
    #expect(try rig.state.top?.version == reply.revision)
  }

  @Test func `a popped screen is kept, and a push by its id brings it back`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.perform([.pop()]).popped == ["dns"])
    #expect(try rig.perform([.push("dns")]).top == "dns")
    #expect(try rig.state.top?.title == "DNS")
    #expect(try rig.state.top?.route == "settings/dns")
  }

  @Test func `a push of a screen on the stack fails, or changes nothing if that is asked`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.refusal(of: [.push("wifi")]).code == .duplicateScreen)
    let reply = try rig.perform([.push("wifi", onDuplicate: .ignore)])
    #expect(!reply.changed)
    #expect(reply.results.map(\.wasInStack) == [true] && reply.ids == ["wifi"])
    #expect(try rig.stack == ["home", "wifi", "dns"])
  }

  @Test func `a pop at the root changes nothing`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.perform([.popToRoot()]).popped == ["wifi", "dns"])
    let reply = try rig.perform([.pop()])
    #expect(!reply.changed && reply.popped == [] && reply.results.map(\.value) == [["popped": nil]])
    #expect(try rig.stack == ["home"])
  }

  @Test func `popTo removes what is above the screen, by its id or by its route`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.push(.init(id: "again", route: "settings/wifi"))])
    let error = try rig.refusal(of: [.popTo(route: "settings/wifi", match: .unique)])
    #expect(error.code == .invalidArgument)
    #expect(!(try rig.perform([.popTo(route: "settings/wifi")]).changed))
    #expect(try rig.perform([.popTo(route: "settings/dns")]).popped == ["again"])
    #expect(try rig.perform([.popTo("home")]).popped == ["wifi", "dns"])
    #expect(try rig.refusal(of: [.popTo("dns")]).code == .notInStack)
  }

  @Test func `setStack replaces the stack, bottom first, by known and new screens`() throws {
    var rig = try HubRig.kiosk()
    let reply = try rig.perform([.setStack(["dns", .init(id: "about", title: "About"), "home"])])
    #expect(try rig.stack == ["dns", "about", "home"])
    #expect(reply.popped == ["wifi"])
    #expect(reply.ids == ["dns", "about", "home"])
    #expect(try rig.refusal(of: [.setStack([])]).code.rawValue == "no-root")
  }

  @Test func `a back tap pops, and at the root there is no back button`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.perform([.backTap()]).popped == ["dns"])
    try rig.perform([.popToRoot()])
    #expect(try rig.refusal(of: [.backTap()]).code.rawValue == "no-back-button")
  }

  @Test func `the menu of the back button leads to any screen below the top`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.stack == ["home", "wifi", "dns"])
    guard case .back(let back)? = try rig.state.bar?.left.first else {
      Issue.record("the bar shows no back button")
      return
    }
    #expect(back.menu.map(\.screen) == ["wifi", "home"])
    #expect(back.menu.map(\.text) == [back.text, "Home"])
    #expect(try rig.perform([.backMenu("home")]).popped == ["wifi", "dns"])
    #expect(!(try rig.perform([.backMenu("home")]).changed))
    #expect(try rig.refusal(of: [.backMenu("dns")]).code == .notInStack)
  }

  @Test func `a list is one revision, and what a later operation undoes is no change`() throws {
    var rig = try HubRig.kiosk()
    let before = try rig.state.revision
    let reply = try rig.perform([.popToRoot(), .push(.init(id: "a")), .push(.init(id: "b"))])
    #expect(reply.revision == before + 1 && reply.results.count == 3)
    #expect(!(try rig.perform([.pop(), .push("b")]).changed))
    #expect(try rig.state.revision == before + 1)
  }

  @Test func `one refused operation of a list leaves all of them out`() throws {
    var rig = try HubRig.kiosk()
    let error = try rig.refusal(of: [.pop(), .setBarHidden(true), .popTo("nowhere")])
    #expect(error.code.rawValue == "unknown-screen" && error.index == 2)
    #expect(try rig.stack == ["home", "wifi", "dns"])
    #expect(try rig.state.part(.bar)?["hidden"]?.bool != true)
  }

  @Test func `seventeen operations are too many, sixteen are not`() throws {
    var rig = try HubRig.kiosk()
    let pushes = (0..<17).map { NavigationOperation.push(.init(id: "n\($0)")) }
    #expect(try rig.refusal(of: pushes).code == .invalidArgument)
    #expect(try rig.refusal(of: []).code == .invalidArgument)
    #expect(try rig.perform(Array(pushes.prefix(16))).depth == 19)
  }

  @Test func `a segue pushes, and showDetail presents`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.perform([.segue(to: .init(id: "a"))]).top == "a")
    #expect(try rig.perform([.segue(.showDetail, to: .init(id: "b"))]).top == "a")
    #expect(try rig.state.presented.map(\.id) == ["b"])
    #expect(try rig.state.visible?.id == "b")
  }

  @Test func `presentations form a chain, and dismiss ends those above a screen`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.present(.init(id: "pin", title: "PIN"), from: "wifi")])
    try rig.perform([.present(.init(id: "help"), style: .overCurrentContext)])
    #expect(try rig.state.presented.map(\.id) == ["pin", "help"])
    #expect(try rig.state.presented.first?.title == "PIN")
    #expect(try rig.state.visible?.id == "help")
    #expect(
      try rig.perform([.dismiss(from: "pin")]).results.map(\.value) == [["dismissed": ["help"]]])
    #expect(try rig.perform([.dismiss()]).results.map(\.value) == [["dismissed": ["pin"]]])
    #expect(try rig.state.presented == [] && rig.state.visible?.id == "dns")
    #expect(!(try rig.perform([.dismiss()]).changed))
  }

  @Test func `open makes the stack of the first template that matches`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([
      .configure([
        .routes([
          NavigationRoute("settings/:page", screens: ["home", .init(route: "settings/{page}")]),
          NavigationRoute(":a/:b", screens: ["home"]),
        ])
      ])
    ])
    try rig.perform([.open("settings/sound")])
    #expect(try rig.state.screens.map(\.route) == ["home", "settings/sound"])
    try rig.perform([.open("x/y")])
    #expect(try rig.stack == ["home"])
    #expect(try rig.refusal(of: [.open("x")]).code.rawValue == "no-route")
  }

  @Test func `what was saved is restored, and the root is for nothing saved`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.configure([.restorationID("nav")])])
    try rig.perform([.setScreen("home", [.restorationID("home")])])
    try rig.perform([.setScreen("wifi", [.restorationID("wifi")])])
    let payload = try rig.read(.restoration)
    try rig.perform([.setStack([.init(id: "other")])])
    let reply = try rig.perform([.restore(payload)])
    #expect(reply.ids == ["home", "wifi"])
    #expect(try rig.stack == ["home", "wifi"])
    try rig.perform([.restore([:], root: "other")])
    #expect(try rig.stack == ["other"])
    #expect(try rig.refusal(of: [.restore(["v": 9])]).code.rawValue == "restore-failed")
  }

  @Test func `close ends the nav, alone in its list`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.refusal(of: [.close(), .pop()]).code == .invalidArgument)
    try rig.perform([.close()])
    #expect(try rig.refusal(of: [.popToRoot()]).code == .noNav)
  }
}

extension NavigationOperation {
  fileprivate static func create(root title: String, withID id: String) -> NavigationOperation {
    .create(root: ScreenDescription(id: id, title: title))
  }
}
