import NavigationClient
@testable import NavigationCore
import Testing

/// What the operations on screens, items, buttons, bars and the display do.
@Suite struct BarOperationEffectTests {
  private func title(_ rig: HubRig) throws -> String? {
    guard case .title(let text)? = try rig.state.bar?.middle else { return nil }
    return text
  }

  private func buttons(_ slots: [NavigationBarContent.Slot]?) -> [String] {
    (slots ?? []).map { slot in
      switch slot {
      case .back(let back): "back:\(back.text ?? "")"
      case .button(let button): button.id
      }
    }
  }

  @Test func `a screen is created off the stack, changed there, and released`() throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.perform([.createScreen(.init(id: "x", title: "X"))]).depth == 3)
    try rig.perform([.setScreen("x", [.title("Y"), .args(["n": 1])])])
    #expect(try rig.read(.screen, screen: "x")["title"] == "Y")
    try rig.perform([.setScreen("x", [.reset(.title)])])
    #expect(try rig.read(.screen, screen: "x")["title"] == nil)
    try rig.perform([.releaseScreen("x")])
    #expect(try rig.refusal(of: [.push("x")]).code.rawValue == "unknown-screen")
    #expect(try rig.refusal(of: [.releaseScreen("wifi")]).code == .invalidArgument)
  }

  @Test func `the title of the item stands in place of the screen's, until it is cleared`() throws {
    var rig = try HubRig.kiosk()
    #expect(try title(rig) == "DNS")
    try rig.perform([.setItem(of: "dns", ItemDescription(title: "Servers"))])
    #expect(try title(rig) == "Servers" && rig.state.top?.title == "DNS")
    try rig.perform([.setItem(of: "dns", ItemDescription(resetting: [.title]))])
    #expect(try title(rig) == "DNS")
  }

  @Test func `an item can be changed off the stack, unless that is ruled out`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.pop()])
    let error = try rig.refusal(of: [
      .setItem(of: "dns", ItemDescription(title: "Servers"), requireOnStack: true)
    ])
    #expect(error.code == .notInStack)
    try rig.perform([.setItem(of: "dns", ItemDescription(title: "Servers"))])
    try rig.perform([.push("dns")])
    #expect(try title(rig) == "Servers")
  }

  @Test func `left buttons replace the back button, or stand beside it`() throws {
    var rig = try HubRig.kiosk()
    let edit = ButtonDescription(id: "edit", .title("Edit"))
    try rig.perform([.setItem(of: "dns", ItemDescription(leftItems: [edit]))])
    #expect(buttons(try rig.state.bar?.left) == ["edit"])
    try rig.perform([.setItem(of: "dns", ItemDescription(leftItemsSupplementBackButton: true))])
    #expect(buttons(try rig.state.bar?.left) == ["back:WIFI", "edit"])
    try rig.perform([.setItem(of: "dns", ItemDescription(hidesBackButton: true))])
    #expect(buttons(try rig.state.bar?.left) == ["edit"])
  }

  @Test func `right buttons come right-most first, and the back title from the screen below`()
    throws
  {
    var rig = try HubRig.kiosk()
    let items: [ButtonDescription] = [
      .init(id: "a", .title("A"), action: "a.tap"), .init(id: "b", .systemItem(.add)),
    ]
    try rig.perform([.setItem(of: "dns", ItemDescription(rightItems: items))])
    #expect(buttons(try rig.state.bar?.right) == ["a", "b"])
    guard case .button(let first)? = try rig.state.bar?.right.first else {
      Issue.record("no button")
      return
    }
    #expect(first.title == "A" && first.action == "a.tap")
    let back = ButtonDescription(.title("Back to it"))
    try rig.perform([.setItem(of: "wifi", ItemDescription(backBarButtonItem: back))])
    #expect(buttons(try rig.state.bar?.left) == ["back:Back to it"])
  }

  @Test func `a view stands in place of the title, under its name`() throws {
    var rig = try HubRig.kiosk()
    let view = ItemDescription.TitleView("clock", height: 20)
    try rig.perform([.setItem(of: "dns", ItemDescription(titleView: view))])
    #expect(try rig.state.bar?.middle == .view("clock"))
  }

  @Test func `a view that an object describes stands in place of the title, too`() throws {
    var rig = try HubRig.kiosk()
    let view = ItemDescription.TitleView(["kind": "clock"])
    try rig.perform([.setItem(of: "dns", ItemDescription(titleView: view))])
    #expect(try rig.state.bar?.middle == .view(["kind": "clock"]))
  }

  @Test func `a button is changed wherever it is shown, tapped, and released when unused`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.createButton(.init(id: "b", .title("B"), action: "go"))])
    try rig.perform([.setItem(of: "dns", ItemDescription(rightItems: ["b"]))])
    try rig.perform([.setButton("b", [.title("C")])])
    guard case .button(let button)? = try rig.state.bar?.right.first else {
      Issue.record("no button")
      return
    }
    #expect(button.title == "C")
    let reply = try rig.perform([.activateButton("b")])
    #expect(!reply.changed && reply.results.map(\.value) == [["delivered": 1]])
    #expect(rig.events.map(\.kind) == [.buttonActivated(button: "b", element: nil, action: "go")])
    #expect(try rig.refusal(of: [.releaseButton("b")]).code == .invalidArgument)
    try rig.perform([.setItem(of: "dns", ItemDescription(rightItems: []))])
    try rig.perform([.releaseButton("b")])
    #expect(try rig.refusal(of: [.activateButton("b")]).code.rawValue == "unknown-button")
  }

  @Test func `the bars are hidden and shown, by name and by touch`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.setBarHidden(true)])
    #expect(try rig.state.part(.bar)?["hidden"] == true)
    #expect(
      rig.events.map(\.kind) == [.barsVisibilityChanged(bar: false, toolbar: false, cause: .api)])
    try rig.perform([.setBarHidden(false), .setToolbarHidden(false)])
    #expect(try rig.state.part(.toolbar)?["hidden"] == false)
    #expect(!(try rig.perform([.tap()]).changed))
    try rig.perform([.configure([.hidesBarsOnTap(true), .hidesBarsOnSwipe(true)])])
    try rig.perform([.tap()])
    #expect(try rig.state.part(.bar)?["hidden"] == true)
    try rig.perform([.swipe(.down)])
    #expect(try rig.state.part(.bar)?["hidden"]?.bool != true)
    try rig.perform([.swipe(.up)])
    #expect(try rig.state.part(.bar)?["hid"]?["cause"] == "swipe")
  }

  @Test func `large titles are set and read in UIKit's names`() throws {
    var rig = try HubRig.kiosk()
    #expect(!(try rig.state.prefersLargeTitles))
    #expect(try rig.state.bar?.hasLargeTitle == false)
    try rig.perform([
      .setStack([.init(id: "a", title: "A", item: .init(largeTitleDisplayMode: .always))]),
      .setBar([.prefersLargeTitles(true)]),
    ])
    #expect(try rig.state.prefersLargeTitles)
    #expect(try rig.state.top?.largeTitleDisplayMode == .always)
    #expect(try rig.state.bar?.hasLargeTitle == true)
    try rig.perform([.setItem(of: "a", .init(largeTitleDisplayMode: .never))])
    #expect(try rig.state.top?.largeTitleDisplayMode == .never)
    #expect(try rig.state.bar?.hasLargeTitle == false)
    try rig.perform([
      .setItem(of: "a", .init(resetting: [.largeTitleDisplayMode])),
      .setBar([.reset(.prefersLargeTitles)]),
    ])
    #expect(try rig.state.top?.largeTitleDisplayMode == .automatic)
    #expect(!(try rig.state.prefersLargeTitles))
  }

  @Test func `a visible button has its content as values`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([
      .setItem(
        of: "dns",
        .init(rightItems: [
          .init(id: "a", .systemItem(.add)), .init(id: "b", .image("gear.png")),
          .init(id: "c", .title("C"), style: .done, action: "c.tap"),
        ]))
    ])
    let buttons = try rig.state.bar?.right.map { slot -> NavigationBarContent.BarButton? in
      if case .button(let button) = slot { button } else { nil }
    }
    #expect(buttons?.map(\.?.systemItem) == [.add, nil, nil])
    #expect(buttons?.map(\.?.image) == [nil, "gear.png", nil])
    #expect(buttons?.map(\.?.title) == [nil, nil, "C"])
    #expect(buttons?.map(\.?.style) == [.plain, .plain, .done])
  }

  @Test func `members of the bar, the toolbar and the proxy are set and reset`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([
      .setBar([.barTintColor("red"), .isTranslucent(false), .tintColor("green")]),
      .setToolbar([.tintColor("blue"), .barStyle(.black)]),
    ])
    let bar = try #require(try rig.state.part(.bar))
    #expect(bar["barTintColor"] == "red" && bar["translucent"] == false)
    #expect(try rig.state.bar?.details["tintColor"] == "green")
    #expect(try rig.state.part(.toolbar)?["tintColor"] == "blue")
    try rig.perform([.setBar([.reset(.barTintColor), .reset(.isTranslucent)])])
    #expect(try rig.state.part(.bar)?["barTintColor"] == nil)
    #expect(try rig.state.part(.bar)?["tintColor"] == "green")
    try rig.perform([.setProxy([.barTintColor("grey")])], on: "$appearance")
    #expect(try rig.state.bar?.details["background"] == "grey")
    #expect(try rig.refusal(of: [.setProxy([.barTintColor("x")])]).code == .readonly)
  }

  @Test func `an appearance is set for the bar or for one screen, and removed`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.setAppearance(.standard, ["background": "sand"])])
    #expect(try rig.state.bar?.details["appearance"]?["from"] == "bar")
    try rig.perform([.setAppearance(.standard, ["background": "sea"], of: "dns")])
    #expect(try rig.state.bar?.details["appearance"]?["from"] == "item")
    try rig.perform([.setAppearance(.standard, nil, of: "dns"), .setAppearance(.standard, nil)])
    #expect(try rig.state.bar?.details["appearance"] == nil)
  }

  @Test func `what a screen reader says is in the slots, the menu, the title and the screen`()
    throws
  {
    var rig = try HubRig.kiosk()
    let gear = ButtonDescription(
      id: "gear", .image("gear", title: "Setup"), isEnabled: false, isSelected: true,
      accessibilityLabel: "Settings", accessibilityHint: "Opens them")
    try rig.perform([
      .setStack([
        .init(
          id: "a", title: "A",
          item: .init(backBarButtonItem: .init(.title("Up"), accessibilityLabel: "Upwards"))),
        .init(
          id: "b", title: "B", item: .init(rightItems: [gear], accessibilityLabel: "Bee"),
          accessibilityLabel: "Page B", language: "fr"),
      ])
    ])
    let bar = try #require(try rig.state.bar)
    guard case .back(let back)? = bar.left.first, case .button(let button)? = bar.right.first else {
      Issue.record("no slots: \(bar.details.json)")
      return
    }
    #expect(back.accessibilityLabel == "Upwards" && back.language == nil)
    #expect(back.menu.map(\.accessibilityLabel) == ["Upwards"] && back.menu[0].language == nil)
    #expect(button.title == "Setup" && !button.isEnabled && button.isSelected)
    #expect(button.accessibilityLabel == "Settings" && button.accessibilityHint == "Opens them")
    #expect(bar.titleAccessibilityLabel == "Bee" && bar.titleLanguage == "fr")
    #expect(try rig.state.top?.accessibilityLabel == "Page B" && rig.state.top?.language == "fr")
    #expect(throws: (any Error).self) { try rig.perform([.activateButton("gear")]) }
  }

  @Test func `the display reports its environment, each member by its own setting`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([
      .setEnvironment([
        .idiom(.pad), .isVerticallyCompact(true), .isAtScrollEdge(true), .hasKeyboard(true),
        .scale(3), .statusBar(44), .backTitleBudget(4), .locale("zh-Hans"),
        .orientation(.landscapeLeft), .hasScreenReader(true), .contentSizeCategory(.small),
        .hasHighContrast(true),
      ])
    ])
    let environment = try #require(try rig.state.part(.environment))
    #expect(environment["idiom"] == "pad" && environment["vCompact"] == true)
    #expect(environment["scrollEdge"] == true && environment["keyboard"] == true)
    #expect(environment["scale"] == 3 && environment["statusBar"] == 44)
    #expect(environment["backTitleBudget"] == 4 && environment["locale"] == "zh-Hans")
    #expect(environment["orientation"] == "landscapeLeft")
    #expect(environment["screenReader"] == true && environment["contentSizeCategory"] == "small")
    #expect(environment["accessibilityContrast"] == "high")
    try rig.perform([
      .setEnvironment(EnvironmentSetting.Name.allCases.map { .reset($0) })
    ])
    #expect(try rig.state.part(.environment)?.object?.keys.sorted() == ["ver"])
  }

  @Test func `every setting is stored under its name, and standard removes it`() throws {
    var rig = try HubRig.kiosk()
    let before = try rig.state.part(.settings)?.object?.keys.sorted()
    let settings: [NavigationSetting] = [
      .container(["tab": 1]), .restorationID("nav"), .interactivePop(isEnabled: false),
      .interactivePopWithoutBackButton(true), .simultaneous([(.edge, .fullScreen)]),
      .hidesBarsOnTap(true), .hidesBarsOnSwipe(true), .showsBarsOnNextScreen(true),
      .dismissesOnOpen(true), .dismissesPopoversWithPage(true), .onBusy(.queue),
      .hidesBarsWhenVerticallyCompact(true), .hidesBarsWhenKeyboardAppears(true), .guards(.all),
      .vetoScope(.all), .veto(deadline: .milliseconds(1), onTimeout: .allow),
      .questionDeadline(.seconds(60)), .transitionDeadline(.seconds(60)),
      .gestureDeadline(.seconds(600)), .queue(64), .profile(os: 12),
      .backTitles(["de": "Zurück"]),
      .routes([NavigationRoute("a", screens: ["home"])]),
    ]
    try rig.perform([.configure(settings)])
    let set = try #require(try rig.state.part(.settings))
    for name in NavigationSetting.Name.allCases {
      #expect(set[name.rawValue] != nil, "\(name.rawValue)")
    }
    #expect(set["veto"]?["deadline"] == 1 && set["gestureDeadline"] == 600_000)
    try rig.perform([.configure(NavigationSetting.Name.allCases.map { .reset($0) })])
    #expect(try rig.state.part(.settings)?.object?.keys.sorted() == before)
  }

  @Test(
    arguments: [
      .queue(65), .queue(-1), .questionDeadline(.zero), .questionDeadline(.milliseconds(60_001)),
      .transitionDeadline(.milliseconds(60_001)), .gestureDeadline(.milliseconds(600_001)),
      .veto(deadline: .milliseconds(60_001)), .profile(os: 6), .profile(os: 100),
      .profile(compactHeight: 0), .profile(compactHeight: 1001),
    ] as [NavigationSetting])
  func `a setting beyond its limit is refused`(setting: NavigationSetting) throws {
    var rig = try HubRig.kiosk()
    #expect(try rig.refusal(of: [.configure([setting])]).code == .invalidArgument)
  }

  @Test func `a gesture pops at its end, or not, and reports its progress`() throws {
    var rig = try HubRig.kiosk()
    let begun = try rig.perform([.beginGesture(.edge)])
    let id = try #require(begun.results.first?.value["tid"]?.integer)
    #expect(try rig.state.part(.transition)?["phase"] == "interactive")
    try rig.perform([.updateGesture(0.5)])
    #expect(rig.events.map(\.kind) == [.transitionProgress(id: UInt64(id), value: 0.5)])
    try rig.perform([.cancelGesture()])
    #expect(rig.events.contains { $0.kind == .transitionEnded(id: UInt64(id), .cancelled) })
    #expect(try rig.stack == ["home", "wifi", "dns"])
    try rig.perform([.beginGesture(.edge)])
    #expect(try rig.perform([.finishGesture()]).popped == ["dns"])
    #expect(try rig.refusal(of: [.finishGesture()]).code == .invalidArgument)
    #expect(try rig.refusal(of: [.beginGesture(.fullScreen)]).code.rawValue == "gesture-refused")
  }

  @Test func `an animated change ends with the report of the display`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.push(.init(id: "a"))], animated: true)
    let id = try #require(try rig.state.part(.transition)?["tid"]?.integer)
    let began = rig.events.compactMap { event in
      if case .transitionBegan(let transition) = event.kind { transition } else { nil }
    }
    #expect(began.map(\.id) == [UInt64(id)] && began.first?.to == "a")
    #expect(try rig.refusal(of: [.pop()]).code == .transitionInProgress)
    try rig.perform([.completeTransition(UInt64(id))])
    #expect(rig.events.contains { $0.kind == .transitionEnded(id: UInt64(id), .completed) })
    #expect(rig.events.contains { $0.kind == .didShow(screen: "a", isAnimated: true) })
  }

  @Test func `a show is animated, unless it says otherwise`() throws {
    var rig = try HubRig.kiosk()
    try rig.perform([.show(.init(id: "a"))], animated: false)
    #expect(try rig.state.part(.transition)?["op"] == nil)
    try rig.perform([.show(.init(id: "b"))])
    #expect(try rig.state.part(.transition)?["op"] == "push")
  }

  @Test func `a standalone bar has items instead of screens`() throws {
    var rig = try HubRig()
    try rig.perform([.createBar(), .pushItem(.init(id: "i", ItemDescription(title: "Owen")))])
    try rig.watch()
    #expect(try title(rig) == "Owen")
    try rig.perform([.setItems([.init(id: "a", ItemDescription(title: "A")), "i"])])
    #expect(try rig.stack == ["a", "i"])
    #expect(try rig.perform([.popItem()]).popped == ["i"])
    try rig.perform([.setItems([])])
    #expect(try rig.state.top == nil)
    try rig.perform([.push(.init(id: "s", title: "S"))])
    #expect(try title(rig) == "S")
    #expect(try rig.perform([.pop()]).popped == ["s"])
    #expect(try rig.refusal(of: [.popToRoot()]).code == .invalidArgument)
    var controller = try HubRig.kiosk()
    #expect(try controller.refusal(of: [.popItem()]).code.rawValue == "bar-managed")
  }
}
