import NavigationClient
import NavigationCore
import NavigationHub
import Testing

@Suite struct NavigationOperationTests {
  private static let item = ItemDescription(
    title: "T", prompt: "P", hidesBackButton: true, leftItemsSupplementBackButton: true,
    leftItems: [ButtonDescription(id: "b1", .title("B"), style: .done, action: "go")],
    rightItems: [ButtonDescription(.systemItem(.add)), "b7", .existing("b8")],
    backBarButtonItem: ButtonDescription(
      .image("wave.png", title: "Wave"), isEnabled: false, isSelected: true,
      accessibilityLabel: "L", accessibilityHint: "H", accessibilityIdentifier: "I"),
    titleView: .init(["k": 1], height: 40), largeTitleDisplayMode: .never,
    appearance: [.standard: ["background": "red"]], accessibilityLabel: "L", language: "de",
    resetting: [.title])

  private static let screen = ScreenDescription(
    id: "home", title: "Home", item: item, toolbarItems: [.init(id: "t1", .title("T"))],
    prefersBarHidden: false, prefersToolbarHidden: true, hidesBottomBarWhenPushed: true,
    edges: [.top, .left], extendsUnderOpaqueBars: true,
    wantsFullScreenLayout: true, canPop: false, accessibilityLabel: "L", language: "de")

  private static let bar: [BarSetting] = [
    .barStyle(.default), .isTranslucent(false), .barTintColor("red"), .tintColor("blue"),
    .backgroundColor("white"), .shadowImage("line.png"),
    .backIndicatorImage(.init("back.png", hasAlpha: true)),
    .backIndicatorMask(.init("mask.png", isEmpty: false)),
    .titleTextAttributes([.color: "yellow"]), .titleOffsets([.default: 2.5]),
    .backgroundImages([.init(): "wave.png", .init(.topAttached, .compactPrompt): "low.png"]),
    .prefersLargeTitles(true),
  ]

  private static let environment: [EnvironmentSetting] = [
    .idiom(.pad), .isVerticallyCompact(true), .isAtScrollEdge(false), .hasKeyboard(true), .scale(3),
    .statusBar(44), .backTitleBudget(12), .orientation(.landscapeLeft),
    .barPosition(.topAttached), .reset(.locale), .animations(.reduced), .hasScreenReader(true),
    .contentSizeCategory(.extraSmall), .hasHighContrast(true),
  ]

  private static let screenSettings: [ScreenSetting] = [
    .title("T"), .route("r"), .args(["n": 1]), .restorationID("r"), .toolbarItems(["b"]),
    .prefersBarHidden(true), .prefersToolbarHidden(false), .hidesBottomBarWhenPushed(true),
    .edges([.top]), .extendsUnderOpaqueBars(true),
    .wantsFullScreenLayout(true), .canPop(false), .isModalInPresentation(true),
    .accessibilityLabel("L"), .language("de"),
  ]

  private static let buttonSettings: [ButtonSetting] = [
    .title("T"), .image("a.png"), .landscapeImage("b.png"), .systemItem(.add), .customView("v"),
    .style(.done), .action("a"), .isEnabled(false), .isSelected(true), .accessibilityLabel("L"),
    .accessibilityHint("H"), .accessibilityIdentifier("I"),
  ]

  private static let settings: [NavigationSetting] = [
    .container(["tab": 1]), .restorationID("nav"), .interactivePop(isEnabled: false, .fullScreen),
    .interactivePopWithoutBackButton(true), .simultaneous([(.edge, .fullScreen)]),
    .hidesBarsOnTap(true), .hidesBarsOnSwipe(true), .showsBarsOnNextScreen(true),
    .hidesBarsWhenVerticallyCompact(true), .hidesBarsWhenKeyboardAppears(true), .guards(.all),
    .vetoScope(.all), .veto(deadline: .milliseconds(200), onTimeout: .allow, isRequired: true),
    .questionDeadline(.milliseconds(100)), .transitionDeadline(.seconds(2)),
    .gestureDeadline(.seconds(20)), .queue(4),
    .profile(os: 12, compactHeight: 30, shadowNeedsBackground: false, extraSystemItems: true),
    .backTitles(["de": "Zurück"]),
    .routes([NavigationRoute("settings/:page", screens: ["home", .init(route: "settings/{page}")])]
    ),
  ]

  /// Every builder, with the operation that the daemon must read.
  static let all: [(NavigationOperation, OperationKind)] = [
    (.create(root: screen), .navCreate),
    (.create(), .navCreate), (.createBar(), .navCreate), (.close(), .navClose),
    (.configure([.guards(.all), .reset(.veto)]), .navConfigure), (.attach(), .attach),
    (.detach(), .detach),
    (.push(.init(title: "A", route: "a", args: ["n": -1.5, "l": [true, nil]])), .push),
    (.push("a", onDuplicate: .ignore), .push), (.show(.existing("a")), .show), (.pop(), .pop),
    (.popTo("home"), .popTo), (.popToRoot(), .popToRoot), (.setStack(["home", "a"]), .setStack),
    (.push(.init(route: "r", args: 1), onDuplicate: .update), .push),
    (.show("a", onDuplicate: .moveToTop), .show), (.popTo("a", inclusive: true), .popTo),
    (.popTo(route: "r", inclusive: true), .popTo),
    (.replace(with: "a"), .replace), (.replace("b", with: .init(id: "a"), isBack: true), .replace),
    (.insert("a", .below("b")), .insert), (.insert(.init(title: "T"), .above("b")), .insert),
    (.insert("a", .at(0)), .insert), (.remove(["a", "b"]), .remove),
    (.swipeDown(), .uiDismiss), (.swipeDown(result: true), .uiDismiss),
    (.pop(result: ["n": 1]), .pop), (.popTo("a", inclusive: true, result: 1), .popTo),
    (.popTo(route: "r", result: "x"), .popTo), (.dismiss(result: "x"), .dismiss),
    (.backTap(), .uiBackTap), (.backKey(), .uiBack), (.backMenu("a"), .uiBackMenu),
    (.setBarHidden(true), .barSetHidden),
    (.setToolbarHidden(false), .toolbarSetHidden),
    (.createScreen(.init(id: "x", restorationID: "r")), .screenCreate),
    (.setScreen("x", screenSettings), .screenSet),
    (.setScreen("x", ScreenSetting.Name.allCases.map { .reset($0) }), .screenSet),
    (.releaseScreen("x"), .screenRelease),
    (.setItem(of: "x", item, requireOnStack: true), .itemSet),
    (.createButton(.init(id: "b", .systemItem(.done))), .buttonCreate),
    (.setButton("b", buttonSettings), .buttonSet),
    (.setButton("b", ButtonSetting.Name.allCases.map { .reset($0) }), .buttonSet),
    (.releaseButton("b"), .buttonRelease),
    (.activateButton("b"), .buttonActivate), (.revert(to: 3), .revert),
    (.segue(to: .init(id: "d")), .segue), (.segue(.showDetail, to: "d"), .segue),
    (.popTo(route: "settings", match: .unique), .popTo), (.open("settings/wifi"), .open),
    (.restore(["v": 1, "entries": []], root: .init(id: "home")), .restore),
    (.present(.init(id: "pin"), from: "home", style: .overCurrentContext), .present),
    (.present("pin"), .present), (.dismiss(), .dismiss), (.dismiss(from: "home"), .dismiss),
    (.pushItem(.init(id: "i", ItemDescription(title: "T"))), .pushItem), (.popItem(), .popItem),
    (.setItems(["i", .init(item)]), .setItems), (.setItems([]), .setItems),
    (.setBar(bar), .barSet),
    (
      .setToolbar([
        .barStyle(.black), .tintColor("red"), .barTintColor("blue"), .isTranslucent(true),
      ]
      ), .toolbarSet
    ),
    (.setProxy(ofClass: "MyBar", [.barTintColor("red")]), .proxySet),
    (.setAppearance(.scrollEdge, ["background": "clear"], of: "home"), .appearanceSet),
    (.setAppearance(.standard, nil), .appearanceSet), (.setEnvironment(environment), .envSet),
    (.configure(settings), .navConfigure),
    (.configure(NavigationSetting.Name.allCases.map { .reset($0) }), .navConfigure),
    (.tap(), .uiTap), (.swipe(.up), .uiSwipe),
    (.beginGesture(.edge, translation: 5), .gestureBegin), (.updateGesture(0.4), .gestureUpdate),
    (.finishGesture(), .gestureFinish), (.cancelGesture(), .gestureCancel),
    (.completeTransition(19), .transitionComplete),
  ]

  @Test(arguments: all.indices)
  func `what a builder writes is what the daemon reads`(index: Int) throws {
    let (operation, kind) = Self.all[index]
    let body = ClientMessageWriter.op(
      OpRequest(id: 1, nav: "kiosk"), operations: [Array(operation.json.utf8)])
    var reader = ClientMessageReader(maximumBytes: 65536)
    guard case .op(let request) = try reader.read(frame: ClientVerb.op.frame.span, body: body.span)
    else {
      Issue.record("not an op: \(operation.json)")
      return
    }
    #expect(request.operations.map(\.kind) == [kind])
    guard kind != .revert else { return }
    // A daemon may not support all of them yet, and some are for bars that stand alone; how the
    // others read is settled.
    if case .unreadable(let failure)? = request.operations.first?.arguments,
      failure.code != .unsupported, failure.code != .barManaged
    {
      Issue.record("\(operation.json): \(failure)")
    }
  }

  @Test func `a setting is written as the protocol has it`() {
    #expect(
      NavigationOperation.configure(Self.settings).json
        == #"{"nav.configure":{"container":{"tab":1},"restorationID":"nav","interactivePop":{"enabled":false,"mode":"fullScreen"},"interactivePopWithoutBackButton":true,"simultaneous":[["edge","fullScreen"]],"hidesBarsOnTap":true,"hidesBarsOnSwipe":true,"showsBarsOnNextScreen":true,"hidesBarsWhenVerticallyCompact":true,"hidesBarsWhenKeyboardAppears":true,"guard":"all","vetoScope":"all","veto":{"deadline":200,"policy":"allow","required":true},"questionDeadline":100,"transitionDeadline":2000,"gestureDeadline":20000,"queue":4,"profile":{"compactHeight":30,"extraSystemItems":true,"os":12,"shadowNeedsBackground":false},"backTitles":{"de":"Zurück"},"routes":[{"match":"settings/:page","screens":["home",{"route":"settings/{page}"}]}]}}"#
    )
    #expect(
      NavigationOperation.setScreen("x", Self.screenSettings).json
        == #"{"screen.set":{"screen":"x","title":"T","route":"r","args":{"n":1},"restorationID":"r","toolbarItems":["b"],"prefersBarHidden":true,"prefersToolbarHidden":false,"hidesBottomBarWhenPushed":true,"edges":["top"],"extendsUnderOpaqueBars":true,"wantsFullScreenLayout":true,"canPop":false,"modalInPresentation":true,"accessibilityLabel":"L","language":"de"}}"#
    )
    #expect(
      NavigationOperation.setButton("b", Self.buttonSettings).json
        == #"{"button.set":{"button":"b","title":"T","image":"a.png","landscapeImage":"b.png","systemItem":"add","customView":"v","style":"done","action":"a","isEnabled":false,"isSelected":true,"accessibilityLabel":"L","accessibilityHint":"H","accessibilityIdentifier":"I"}}"#
    )
    #expect(
      NavigationOperation.setBar(Self.bar).json
        == #"{"bar.set":{"barStyle":"default","translucent":false,"barTintColor":"red","tintColor":"blue","backgroundColor":"white","shadowImage":"line.png","backIndicatorImage":{"hasAlpha":true,"ref":"back.png"},"backIndicatorMask":{"empty":false,"ref":"mask.png"},"titleTextAttributes":{"color":"yellow"},"titleOffsets":{"default":2.5},"backgroundImages":{"any/default":"wave.png","topAttached/compactPrompt":"low.png"},"prefersLargeTitles":true}}"#
    )
  }

  @Test func `raw JSON must be one operation`() throws {
    #expect(try NavigationOperation(json: #"{"pop":{}}"#) == .pop())
    for json in ["", "{}", "[]", #"{"pop":{},"push":{}}"#, #"{"pop":{}"#] {
      #expect(throws: NavigationClientError.self) { try NavigationOperation(json: json) }
    }
  }

  @Test func `a value written and read is the same`() throws {
    let value: NavigationValue = [
      "text": "a\"\\\n\u{1F600}", "list": [1, -2, 0.5, true, false, nil], "empty": [:],
      "big": 9_007_199_254_740_991,
    ]
    #expect(try NavigationValue(json: value.json) == value)
    #expect(value["list"]?.array?[1].integer == -2)
    #expect(value["empty"]?.object == [:])
    #expect(
      value.json
        == #"{"big":9007199254740991,"empty":{},"list":[1,-2,0.5,true,false,null],"text":"a\"\\\n😀"}"#
    )
  }

  @Test func `what is not given is not written`() {
    let written: [(NavigationOperation, String)] = [
      (.push("a"), #"{"push":{"screen":"a"}}"#),
      (.push("a", onDuplicate: .ignore), #"{"push":{"screen":"a","onDuplicate":"ignore"}}"#),
      (.show("a"), #"{"show":{"screen":"a"}}"#), (.pop(), #"{"pop":{}}"#),
      (.popTo("a"), #"{"popTo":{"screen":"a"}}"#),
      (.popTo(route: "r"), #"{"popTo":{"route":"r","match":"top"}}"#),
      (.dismiss(), #"{"dismiss":{}}"#), (.dismiss(from: "a"), #"{"dismiss":{"from":"a"}}"#),
      (.push(.init(id: "a", title: "A")), #"{"push":{"screen":{"id":"a","title":"A"}}}"#),
    ]
    for (operation, json) in written { #expect(operation.json == json) }
  }
}
