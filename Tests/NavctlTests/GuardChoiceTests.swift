import NavigationClient
import NavigationCore
import Testing

@testable import navctl

@Suite struct GuardChoiceTests {
  private func guards(
    _ options: [(String, String?)], _ kinds: [OperationKind], _ seen: SeenState?
  ) throws -> Guards {
    let operations = kinds.map { NavigationOperation($0) }
    return try GuardChoice(line(options)).guards(
      need: GuardChoice.strictestGuard(operations), seen: seen, obstacle: nil, command: "pop",
      nav: "kiosk")
  }

  @Test func `a pop is guarded by the epoch and top last seen`() throws {
    var expected = Guards()
    expected.epoch = Epoch(epoch)
    expected.top = "wifi"
    #expect(try guards([], [.pop], try seen()) == expected)
  }

  @Test func `a pop of an empty stack is guarded by its emptiness`() throws {
    let guards = try guards([], [.pop], try seen(top: nil))
    #expect(guards.top == .some(nil))
  }

  @Test(arguments: [OperationKind.setStack, .navClose, .revert, .open, .restore])
  func `what concerns the whole stack is guarded by the epoch and revision`(kind: OperationKind)
    throws
  {
    var expected = Guards()
    expected.epoch = Epoch(epoch)
    expected.revision = Revision(18)
    #expect(try guards([], [kind], try seen()) == expected)
  }

  @Test(arguments: [
    OperationKind.push, .show, .popTo, .popToRoot, .itemSet, .buttonActivate, .screenSet,
  ])
  func `what removes nothing by position needs no memory`(kind: OperationKind) throws {
    #expect(try guards([], [kind], nil) == Guards())
    #expect(try guards([], [kind], try seen()) == Guards())
  }

  @Test(arguments: OperationKind.allCases)
  func `without a memory exactly the removing operations are refused`(kind: OperationKind) {
    let isRefused: Bool
    do { isRefused = try guards([], [kind], nil) != Guards() } catch { isRefused = true }
    // What a dismissal takes without a name, the daemon leaves to the client. An insertion without
    // arguments names no index.
    let isGuarded = kind.neededGuard != .none && kind != .insert
    #expect(isRefused == (isGuarded || kind == .dismiss))
  }

  @Test func `a dismissal with a presenter heeds what was last visible, if anything was`() throws {
    let named = [try OperationParser.dismiss(line([("from", "wifi")]))]
    #expect(
      GuardChoice.removesPresentationsAbove(named) && GuardChoice.strictestGuard(named) == .none)
    #expect(
      !GuardChoice.removesPresentationsAbove([
        .popTo("a"), .swipeDown(), .dismiss(), .backMenu("a"),
      ]))
    let choice = try GuardChoice(line())
    let guards = choice.guards(adding: try seen(visible: .some("pin")))
    #expect(guards.visible == .some("pin") && guards.epoch == Epoch(epoch) && guards.top == nil)
    // Nothing was shown, or only the top: the command goes as it was typed.
    #expect(choice.guards(adding: nil) == Guards())
    #expect(choice.guards(adding: try seen()) == Guards())
    for option in [
      ("any", nil), ("visible", "pin"), ("rev", "18"), ("epoch", "00000000000000ff"),
    ] as [(String, String?)] {
      let choice = try GuardChoice(line([option]))
      #expect(choice.guards(adding: try seen(visible: .some("a"))) == choice.typed, "\(option)")
    }
    // Other conditions leave open what is visible.
    for option in [("top", "wifi"), ("has", "wifi"), ("epoch", epoch)] {
      let guards = try GuardChoice(line([option])).guards(adding: try seen(visible: .some("pin")))
      #expect(guards.visible == .some("pin") && guards.epoch == Epoch(epoch), "\(option)")
    }
  }

  @Test(arguments: [OperationKind.pop, .popItem, .uiBackTap, .gestureBegin])
  func `what removes by position is guarded by the epoch and the top`(kind: OperationKind) throws {
    let guards = try guards([], [kind], try seen())
    #expect(guards.epoch == Epoch(epoch) && guards.top == "wifi" && guards.revision == nil)
  }

  @Test func `a dismissal without a presenter is guarded by what is visible, one with it is not`()
    throws
  {
    let need = { (options: [(String, String?)]) in
      GuardChoice.strictestGuard([try OperationParser.dismiss(line(options))])
    }
    #expect(try need([]) == .visibleScreen)
    #expect(try need([("swipe", nil)]) == .visibleScreen)
    #expect(try need([("from", "wifi")]) == .none)
    // The terminal showed no visible screen, so navctl guards by the revision.
    #expect(try guards([], [.dismiss], try seen()).revision == Revision(18))
    let guards = try guards([], [.dismiss], try seen(visible: .some("pin")))
    #expect(guards.visible == .some("pin") && guards.revision == nil)
    #expect(guards.top == .some("wifi"))
    #expect(guards.epoch == Epoch(epoch))
    let error = #expect(throws: UsageError.self) {
      try GuardChoice(line()).guards(
        need: .visibleScreen, seen: nil, obstacle: nil, command: "dismiss", nav: "kiosk")
    }
    #expect(error?.remedy?.contains("--visible ID") == true)
  }

  @Test func `a pop is guarded by what is visible too, if the terminal has shown it`() throws {
    let guards = try guards([], [.pop], try seen(visible: .some("pin")))
    #expect(guards.top == .some("wifi") && guards.visible == .some("pin"))
  }

  @Test func `digest and stack guard as the revision does, depth and has only beside it`() throws {
    for kind in [OperationKind.pop, .setStack] {
      let digest = try guards([("digest", "985cc24d0000000000000007")], [kind], nil)
      #expect(digest.digest == Digest("985cc24d0000000000000007") && digest.epoch == nil)
      let stack = try guards([("stack", "home,wifi"), ("depth", "2")], [kind], nil)
      #expect(stack.stack == ["home", "wifi"] && stack.depth == 2)
      #expect(throws: UsageError.self) { try guards([("depth", "2")], [kind], nil) }
      #expect(throws: UsageError.self) { try guards([("has", "wifi")], [kind], nil) }
    }
    #expect(try guards([("stack", "")], [.pop], nil).stack == [])
    #expect(try guards([("has", "a"), ("has", "b")], [.push], nil).has == ["a", "b"])
    #expect(throws: UsageError.self) { try guards([("digest", "x")], [.push], nil) }
  }

  @Test func `a batch is guarded as its strictest operation`() throws {
    #expect(try guards([], [.push, .pop], try seen()).top == "wifi")
    #expect(try guards([], [.pop, .setStack], try seen()).revision == Revision(18))
    #expect(try guards([], [.navCreate, .push, .setStack], nil) == Guards())
  }

  @Test func `what is typed takes the place of the memory`() throws {
    var top = Guards()
    top.top = "home"
    #expect(try guards([("top", "home")], [.pop], try seen()) == top)
    var revision = Guards()
    revision.revision = Revision(7)
    #expect(try guards([("rev", "7")], [.navClose], nil) == revision)
    var any = Guards()
    any.any = true
    #expect(try guards([("any", nil)], [.setStack], nil) == any)
    #expect(try guards([("top", "")], [.pop], nil).top == .some(nil))
  }

  @Test func `a typed epoch alone is completed from the memory`() throws {
    let guards = try guards([("epoch", "00000000000000aa")], [.pop], try seen())
    #expect(guards.epoch == Epoch("00000000000000aa") && guards.top == "wifi")
  }

  @Test func `the top alone does not guard a whole stack`() throws {
    let error = #expect(throws: UsageError.self) {
      try guards([("top", "wifi")], [.setStack], try seen())
    }
    #expect(error?.remedy == "navctl pop kiosk --rev N, or --any")
  }

  @Test func `the refusal says what to type`() throws {
    let error = #expect(throws: UsageError.self) { try guards([], [.pop], nil) }
    #expect(error?.message == "pop would remove screens that this terminal has not shown")
    #expect(
      error?.remedy
        == "navctl show kiosk, then again; or add --top ID, or --any for any state")
    let close = #expect(throws: UsageError.self) { try guards([], [.navClose], nil) }
    #expect(close?.remedy?.contains("--rev N") == true)
  }

  @Test func `where nothing is recorded, the refusal does not advise show`() throws {
    let error = #expect(throws: UsageError.self) {
      try GuardChoice(line()).guards(
        need: .topScreen, seen: nil, obstacle: "HOME is not set", command: "pop", nav: "kiosk")
    }
    #expect(
      error?.message
        == "pop would remove screens, and navctl cannot record what it shows: HOME is not set")
    #expect(error?.remedy == "add --top ID, or --any for any state")
  }

  @Test(arguments: [("rev", "x"), ("rev", "-1"), ("epoch", "12"), ("rev", "9007199254740992")])
  func `a guard that cannot be read is no guard but an error`(name: String, text: String) {
    #expect(throws: UsageError.self) { try GuardChoice(line([(name, text)])) }
  }
}
