@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Bars and environment as clients set them.
@Suite struct BarWireTests {
  private func part(_ name: PartName, of world: World) throws -> String {
    let controller = try world.entry("kiosk").controller
    return String(decoding: JSONWriter.value { $0.part(name, of: controller) }, as: UTF8.self)
  }

  @Test func `members are written in a fixed order without defaults`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(
      #"{"bar.set":{"appearance":{"compact":{"a":1}},"prefersLargeTitles":true,"backgroundImages":{"compact":"c","top/default":{"ref":"t","hasAlpha":true},"any/default":null},"titleOffsets":{"compact":1.5,"default":null},"titleTextAttributes":{"UITextAttributeTextColor":"yellow","font":{"n":1}},"tintColor":"green","barStyle":"black","translucent":false,"shadowImage":"s","backgroundColor":null}}"#
    )
    #expect(
      try part(.bar, of: world)
        == #"{"ver":2,"barStyle":"black","translucent":false,"tintColor":"green","shadowImage":{"ref":"s"},"titleTextAttributes":{"font":{"n":1},"color":"yellow"},"titleOffsets":{"compact":1.5},"backgroundImages":{"any/compact":{"ref":"c"},"top/default":{"ref":"t","hasAlpha":true}},"prefersLargeTitles":true,"appearance":{"compact":{"a":1}}}"#
    )
    try client.must(#"{"toolbar.set":{"tintColor":"t"}},{"toolbar.setHidden":{"hidden":false}}"#)
    #expect(try part(.toolbar, of: world) == #"{"ver":3,"hidden":false,"tintColor":"t"}"#)
    try client.must(
      #"{"env.set":{"locale":"de","vCompact":true,"idiom":"pad","scale":3,"horizontal":"compact"}}"#
    )
    #expect(
      try part(.environment, of: world)
        == #"{"ver":4,"idiom":"pad","vCompact":true,"scale":3,"locale":"de"}"#)
    try world.client(2, user: 0).must(
      #"{"proxy.set":{"barTintColor":"red"}}"#, nav: "$appearance")
    #expect(
      try part(.settings, of: world)
        == #"{"ver":5,"attached":true,"proxy":{"NavigationBar":{"barTintColor":"red"}}}"#)
  }

  @Test func `the cause of hiding is told`() throws {
    let world = World()
    let client = try world.kiosk()
    try client.must(#"{"nav.configure":{"hidesBarsOnTap":true}}"#)
    try client.watch()
    let sent = try client.send("op", client.opBody(#"{"ui.tap":{}}"#))
    #expect(
      sent.contains {
        $0.text.contains(
          #""ev":[{"barsVisibilityChanged":{"bar":false,"toolbar":false,"cause":"tap"}}]"#)
      })
    #expect(
      try part(.bar, of: world)
        == #"{"ver":3,"hidden":true,"hid":{"cause":"tap","toolbar":false}}"#)
  }

  @Test(arguments: [
    #"{"env.set":{"horizontal":"regular"}}"#, #"{"env.set":{"scale":2.0,"locale":null}}"#,
    #"{"bar.set":{"translucent":null,"backgroundImages":{"compact":null}}}"#, #"{"ui.tap":{}}"#,
    #"{"nav.configure":{"backTitles":{}}}"#,
    #"{"ui.swipe":{"dir":"up"}}"#, #"{"appearance.set":{"slot":"compact","object":null}}"#,
  ])
  func `setting what is so already changes nothing`(ops: String) throws {
    let client = try World().kiosk()
    #expect(try client.must(ops).json["changed"] as? Bool == false)
  }

  @Test(arguments: [
    ("readonly", #"{"bar.set":{"tintColor":5,"alpha":1}}"#),
    ("readonly", #"{"bar.set":{"hid":null}}"#), ("readonly", #"{"bar.set":{"class":"X"}}"#),
    ("readonly", #"{"toolbar.set":{"hidden":true}}"#), ("readonly", #"{"env.set":{"owner":"x"}}"#),
    ("readonly", #"{"env.set":{"orientations":null}}"#),
    ("readonly", #"{"nav.configure":{"fullInteractivePopGestureRecognizer":1}}"#),
    ("readonly", #"{"nav.configure":{"top":"x"}}"#),
    ("bar-delegate-managed", #"{"bar.set":{"frame":1,"delegate":1}}"#),
    ("invalid-argument", #"{"bar.set":{"wobble":1}}"#),
    ("invalid-argument", #"{"bar.set":{"barStyle":"blue"}}"#),
    ("invalid-argument", #"{"bar.set":{"titleTextAttributes":{"wobble":1}}}"#),
    (
      "invalid-argument", #"{"bar.set":{"titleTextAttributes":{"font":1,"UITextAttributeFont":1}}}"#
    ),
    ("invalid-argument", #"{"bar.set":{"titleOffsets":{"compact":"1"}}}"#),
    ("invalid-argument", #"{"bar.set":{"backgroundImages":{"middle/default":"x"}}}"#),
    ("invalid-argument", #"{"bar.set":{"backgroundImages":{"default":"x","any/default":"x"}}}"#),
    ("readonly", #"{"proxy.set":{"barTintColor":"red"}}"#),
    ("readonly", #"{"nav.configure":{"proxy":{"NavigationBar":{"barTintColor":"red"}}}}"#),
    ("invalid-argument", #"{"nav.configure":{"backTitles":{"de":""}}}"#),
    ("invalid-argument", #"{"nav.configure":{"backTitles":{"de":"x","DE":"y"}}}"#),
    ("invalid-argument", #"{"nav.configure":{"backTitles":{".":"x"}}}"#),
    ("invalid-argument", #"{"bar.setHidden":{}}"#),
    ("invalid-argument", #"{"toolbar.setHidden":{"hidden":1}}"#),
    ("invalid-argument", #"{"appearance.set":{"slot":"top","object":null}}"#),
    ("invalid-argument", #"{"appearance.set":{"slot":"compact"}}"#),
    ("invalid-argument", #"{"appearance.set":{"slot":"compact","object":1}}"#),
    ("unknown-screen", #"{"appearance.set":{"slot":"compact","object":{},"screen":"z"}}"#),
    ("invalid-argument", #"{"ui.swipe":{"dir":"left"}}"#),
    ("invalid-argument", #"{"env.set":{"horizontal":"wide"}}"#),
    ("invalid-argument", #"{"env.set":{"scale":0}}"#),
    ("invalid-argument", #"{"env.set":{"orientation":"up"}}"#),
    ("invalid-argument", #"{"detach":{}},{"ui.tap":{}}"#),
  ])
  func `what cannot be set is refused and changes nothing`(code: String, ops: String) throws {
    let world = World()
    let client = try world.kiosk()
    let before = try world.standing("kiosk")
    #expect(try client.op(ops).code == code)
    #expect(try world.standing("kiosk") == before)
  }
}

/// What is written is read back equal.
@Suite struct BarRoundTripTests {
  struct Maker {
    var random: OperationGenerator
    mutating func below(_ bound: UInt64) -> UInt64 { random.below(bound) }
    mutating func maybe<Value>(_ value: Value) -> Value? { below(3) == 0 ? nil : value }
    mutating func flag() -> Bool { below(2) == 0 }
    mutating func pick<Value>(_ list: [Value]) -> Value { random.pick(list) }
    mutating func opaque() -> OpaqueJSON? {
      maybe(OpaqueJSON(validated: Array(#"{"a":[1,\#(below(9))]}"#.utf8)))
    }
    mutating func image() -> ImageReference? {
      maybe(ImageReference(ref: "i\"\(below(9))", hasAlpha: flag(), isEmpty: flag()))
    }
    mutating func look() -> BarLook {
      var look = BarLook()
      look.barStyle = maybe(pick(BarStyle.allCases))
      look.translucent = maybe(flag())
      look.barTintColor = maybe("c\(below(9))")
      look.titleTextAttributes.font = opaque()
      look.titleTextAttributes.color = maybe("é")
      look.titleTextAttributes.shadowColor = opaque()
      look.titleTextAttributes.shadowOffset = opaque()
      for metrics in BarMetrics.allCases where flag() {
        look.titleOffsets[metrics] = OpaqueJSON(validated: Array("-\(1 + below(9)).5".utf8))
      }
      for slot in BackgroundSlot.allSlots where flag() { look.backgroundImages[slot] = image() }
      look.shadowImage = image()
      look.backIndicatorImage = image()
      look.backIndicatorMask = image()
      return look
    }
    mutating func bar() -> Bar {
      var bar = Bar()
      if flag() { bar.className = "MyBar" }
      bar.isHidden = flag()
      bar.automaticHiding = maybe(
        AutomaticHiding(cause: pick(HidingCause.allCases), includesToolbar: flag()))
      bar.look = look()
      bar.tintColor = maybe("t")
      bar.backgroundColor = maybe("b")
      bar.prefersLargeTitles = flag()
      for slot in AppearanceSlot.allCases { bar.appearance[slot] = opaque() }
      return bar
    }
    mutating func toolbar() -> Toolbar {
      var toolbar = Toolbar()
      if flag() { toolbar.className = "Mine" }
      toolbar.isHidden = flag()
      toolbar.barStyle = maybe(pick(BarStyle.allCases))
      toolbar.tintColor = maybe("t")
      toolbar.barTintColor = maybe("b")
      toolbar.translucent = maybe(flag())
      return toolbar
    }
    mutating func environment() -> Environment {
      var environment = Environment()
      environment.owner = maybe("shell")
      environment.isPhone = flag()
      environment.isVerticallyCompact = flag()
      environment.isAtScrollEdge = flag()
      environment.showsKeyboard = flag()
      environment.scale = maybe(OpaqueJSON(validated: Array("2.5".utf8)))
      environment.statusBarHeight = below(50)
      environment.backTitleColumns = maybe(Int(below(20)))
      environment.locale = pick(["en", "de"])
      environment.orientation = pick(Orientation.allCases)
      environment.barPosition = pick(BarPosition.allCases)
      environment.animations = pick(Animations.allCases)
      environment.delegateOrientations = maybe(
        DelegateOrientations(
          supported: Orientation.allCases, preferred: maybe(pick(Orientation.allCases))))
      return environment
    }
    mutating func settings() -> Settings {
      var settings = Settings()
      settings.hidesBarsOnTap = flag()
      settings.interactivePopWithoutBackButton = flag()
      settings.container = opaque()
      settings.waitingOpLimit = below(9)
      for name in ["NavigationBar", "MyBar"] where flag() {
        settings.appearanceProxies[Text(name)] = look()
      }
      settings.appearanceProxies = settings.appearanceProxies.filter { $0.value != BarLook() }
      return settings
    }
  }

  private func tape(_ write: (inout JSONWriter) -> Void) throws -> JSONTape {
    var tape = JSONTape()
    try tape.read(
      JSONWriter.value { json in
        json.beginObject()
        write(&json)
        json.endObject()
      })
    return tape
  }

  @Test(arguments: UInt64(1)...100)
  func `what is written is read back equal`(seed: UInt64) throws {
    var maker = Maker(random: OperationGenerator(seed: seed))
    func survives<Record: TabledRecord>(_ record: Record) throws {
      let tape = try tape { Record.table.write(record, &$0) }
      #expect(try tape.storedRecord(0) == record)
    }
    try survives(maker.bar())
    try survives(maker.toolbar())
    try survives(maker.environment())
    try survives(maker.settings())
  }
}
