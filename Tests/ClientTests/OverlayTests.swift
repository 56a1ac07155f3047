import NavigationCore
import NavigationReplica
import Testing

@testable import NavigationClient

@Suite struct OverlayTests {
  private static let epoch = Epoch(bits: 1)

  private static func record(_ id: String, _ version: UInt64 = 1) -> MirrorRecord {
    let json = #"{"id":"\#(id)","ver":\#(version),"title":"\#(id.uppercased())"}"#
    return MirrorRecord(
      id: id, version: Revision(version), json: OpaqueJSON(validated: Array(json.utf8)))
  }

  private static func mirror(_ ids: [String], _ revision: UInt64 = 5) -> Mirror {
    let resolved = #"{"top":"x","visible":"x","height":44,"middle":{"title":"X"}}"#
    return Mirror(
      kind: "controller", epoch: epoch, revision: Revision(revision),
      screens: ids.map { record($0) }, parts: [],
      resolved: OpaqueJSON(validated: Array(resolved.utf8)), digest: Digest(bits: 7))
  }

  private static func begin(
    _ overlay: inout Overlay, _ id: UInt64, _ operations: [NavigationOperation], on mirror: Mirror,
    _ guards: Guards = Guards()
  ) -> Bool {
    guard let edits = OverlayEdit.read(operations, id: id, on: mirror) else { return false }
    return overlay.begin(id, edits, guards, on: mirror)
  }

  private static func top(_ id: String?) -> Guards {
    var guards = Guards()
    guards.top = .some(id)
    return guards
  }

  private static func ids(_ overlay: Overlay, _ mirror: Mirror) -> [String] {
    overlay.displayed(over: mirror, hasMenu: true).screens.map(\.id)
  }

  @Test(
    arguments: [
      ([.push(.init(id: "c"))], ["a", "b", "c"]), ([.pop()], ["a"]), ([.backTap()], ["a"]),
      ([.backMenu("a")], ["a"]),
      ([.push(.init(title: "C")), .push(.init(title: "D"))], ["a", "b", "~1.1", "~1.2"]),
      ([.popTo("a")], ["a"]), ([.popToRoot()], ["a"]), ([.show(.init(id: "c"))], ["a", "b", "c"]),
      ([.popToRoot(), .push(.init(id: "c"))], ["a", "c"]),
      ([.setStack(["b", .init(id: "c")])], ["b", "c"]),
      ([.setBarHidden(true), .pop()], ["a"]), ([.segue(to: .init(id: "c"))], ["a", "b", "c"]),
    ] as [([NavigationOperation], [String])])
  func `what an operation does to the stack is shown at once`(
    operations: [NavigationOperation], shown: [String]
  ) {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b"])
    #expect(Self.begin(&overlay, 1, operations, on: mirror))
    #expect(Self.ids(overlay, mirror) == shown)
    #expect(overlay.displayed(over: mirror, hasMenu: true).revision == mirror.revision)
    #expect(overlay.displayed(over: mirror, hasMenu: true).digest == mirror.digest)
  }

  @Test(
    arguments: [
      [.push(.init(id: "a"))], [.push("c")], [.push(.init(id: "a"), onDuplicate: .ignore)],
      [.popTo("c")], [.setStack(["c"])], [.setStack(["a", "a"])], [.open("x")], [.revert(to: 1)],
      [.setBarHidden(true)], [.pop(), .popTo("b")], [.setItem(of: "c", .init(title: "C"))],
      [.activateButton("b")], [.popTo("b")], [.popTo("b", inclusive: true)],
      [.push(.init(id: "a"), onDuplicate: .popTo)], [.push(.init(id: "c"), onDuplicate: .update)],
      [.replace(with: .init(id: "c"))], [.insert(.init(id: "c"), .below("b"))], [.remove(["a"])],
    ] as [[NavigationOperation]])
  func `what cannot be known, would be refused or changes nothing is not shown`(
    operations: [NavigationOperation]
  ) {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b"])
    #expect(!Self.begin(&overlay, 1, operations, on: mirror))
    #expect(overlay == Overlay())
    #expect(overlay.displayed(over: mirror, hasMenu: true) == mirror)
  }

  @Test func `titles are shown at once, and nothing else of the record changes`() throws {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b"])
    #expect(Self.begin(&overlay, 1, [.setItem(of: "a", .init(title: "New"))], on: mirror))
    #expect(Self.begin(&overlay, 2, [.setScreen("b", [.title("Newer")])], on: mirror))
    let screens = overlay.displayed(over: mirror, hasMenu: true).screens.map {
      NavigationScreen($0)
    }
    #expect(screens.map(\.title) == ["A", "Newer"])
    #expect(screens[0].value["item"] == ["title": "New"])
    #expect(screens.map(\.version) == [1, 1])
    #expect(Self.begin(&overlay, 3, [.setItem(of: "a", .init(resetting: [.title]))], on: mirror))
    #expect(overlay.displayed(over: mirror, hasMenu: true).screens[0].json.bytes.count > 0)
    #expect(
      NavigationScreen(overlay.displayed(over: mirror, hasMenu: true).screens[0]).value["item"]
        == nil)
  }

  @Test func `what is presented last is visible, the stack is left alone`() {
    var mirror = Self.mirror(["a", "b"])
    #expect(NavigationState(nav: "n", mirror: mirror).presented == [])
    #expect(NavigationState(nav: "n", mirror: mirror).visible?.id == "b")
    let chain =
      #"{"ver":7,"chain":[{"screen":{"id":"p","ver":6,"title":"P"},"from":"b"},{"screen":{"id":"q","ver":7}}]}"#
    mirror.parts = [
      MirrorRecord(
        id: "presented", version: Revision(7), json: OpaqueJSON(validated: Array(chain.utf8)))
    ]
    let state = NavigationState(nav: "n", mirror: mirror)
    #expect(state.presented.map(\.id) == ["p", "q"])
    #expect(state.presented.map(\.version) == [6, 7])
    #expect(state.presented[0].json == #"{"id":"p","ver":6,"title":"P"}"#)
    #expect(state.visible?.id == "q")
    #expect(state.top?.id == "b")
  }

  @Test(arguments: ["", #","style":"sheet""#, #","style":"popover""#])
  func `a tap on a covered back button is not shown`(style: String) {
    var mirror = Self.mirror(["a", "b"])
    let chain = #"{"ver":7,"chain":[{"screen":{"id":"p","ver":6}\#(style)}]}"#
    mirror.parts = [
      MirrorRecord(
        id: "presented", version: Revision(7), json: OpaqueJSON(validated: Array(chain.utf8)))
    ]
    var overlay = Overlay()
    let isVisible = style.contains("popover")
    var other = Overlay()
    #expect(Self.begin(&other, 1, [.backMenu("a")], on: mirror) == isVisible)
    #expect(Self.begin(&overlay, 1, [.backTap()], on: mirror) == isVisible)
    #expect(Self.begin(&overlay, 2, [.pop()], on: mirror) == !isVisible)
  }

  @Test func `the bar shows what the daemon will say, as far as it can be known`() throws {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b"])
    let button = ButtonDescription(id: "scan", .title("Scan"), action: "go")
    let screen = ScreenDescription(
      id: "c", title: "C", item: ItemDescription(rightItems: [button]))
    #expect(Self.begin(&overlay, 1, [.push(screen)], on: mirror))
    let shown = overlay.displayed(over: mirror, hasMenu: true)
    let state = NavigationState(nav: "n", mirror: mirror).showing(shown)
    let bar = try #require(state.bar)
    #expect(bar.middle == .title("C"))
    #expect(bar.height == 44)
    guard case .back(let back)? = bar.left.first, case .button(let right)? = bar.right.first else {
      Issue.record("shows \(bar)")
      return
    }
    #expect(back.text == "B")
    #expect(back.menu == [.init(screen: "b", text: "B"), .init(screen: "a", text: "A")])
    #expect(right.id == "scan")
    #expect(right.action == "go")
    #expect(NavigationGuard.top(of: state) == .top(of: NavigationState(nav: "n", mirror: mirror)))
  }

  @Test func `the menu shows each screen below the top, where the daemon has one`() throws {
    func menu(
      _ operations: [NavigationOperation], _ mirror: Mirror, hasMenu: Bool = true
    ) -> [NavigationBarContent.MenuEntry]? {
      var overlay = Overlay()
      guard Self.begin(&overlay, 1, operations, on: mirror) else { return nil }
      let shown = overlay.displayed(over: mirror, hasMenu: hasMenu)
      let bar = NavigationState(nav: "n", mirror: mirror).showing(shown).bar
      guard case .back(let back)? = bar?.left.first else { return nil }
      return back.menu
    }
    var mirror = Self.mirror(["a", "b", "c"])
    let left =
      #"[{"back":{"text":"B","menu":[{"screen":"b","text":"B"},{"screen":"a","text":"A"}]}}]"#
    mirror.resolved = OpaqueJSON(
      validated: Array(#"{"left":\#(left),"middle":{"title":"C"}}"#.utf8))
    // The top and the screen below stay, the screens further down change.
    #expect(menu([.setStack(["b", "c"])], mirror) == [.init(screen: "b", text: "B")])
    #expect(
      menu([.setScreen("a", [.title("New")])], mirror)
        == [.init(screen: "b", text: "B"), .init(screen: "a", text: "New")])
    // The daemon's texts of other screens stay, also where the client would not find them.
    mirror.resolved = mirror.resolved.map {
      let text = String(decoding: $0.bytes, as: UTF8.self)
      return OpaqueJSON(
        validated: Array(text.replacing(#""b","text":"B""#, with: #""b","text":"Zurück""#).utf8))
    }
    #expect(menu([.setScreen("a", [.title("")])], mirror)?.map(\.text) == ["Zurück", "Back"])
    // The texts are those of the back button: none for an image, the general word for a long one.
    let image = ButtonDescription(id: "k", .image("i"))
    let long = String(repeating: "x", count: 129)
    #expect(
      menu(
        [
          .push(.init(id: "d", title: long)),
          .push(.init(id: "e", item: .init(backBarButtonItem: image))),
          .push(.init(id: "f")),
        ], mirror)?.prefix(2).map(\.text) == [nil, "Back"])
    // A daemon without the feature has no such operation either.
    #expect(menu([.push(.init(id: "d"))], mirror, hasMenu: false) == [])
  }

  @Test func `what is refused leaves nothing behind, nor what was built on it`() {
    var overlay = Overlay()
    let mirror = Self.mirror(["a"])
    #expect(Self.begin(&overlay, 1, [.push(.init(id: "b"))], on: mirror))
    #expect(Self.begin(&overlay, 2, [.setItem(of: "b", .init(title: "B"))], on: mirror))
    overlay.withdraw(1, from: mirror)
    #expect(overlay.isEmpty)
    #expect(overlay.displayed(over: mirror, hasMenu: true) == mirror)
  }

  @Test func `it is shown until the mirror has reached the revision of its ok`() {
    var overlay = Overlay()
    let mirror = Self.mirror(["a"])
    #expect(Self.begin(&overlay, 1, [.push(.init(title: "B"))], on: mirror))
    overlay.confirm(1, at: Revision(7), changed: true, in: mirror)
    #expect(Self.ids(overlay, mirror) == ["a", "~1.1"])
    let between = Self.mirror(["a", "x"], 6)
    overlay.rebase(onto: between)
    #expect(Self.ids(overlay, between) == ["a", "x", "~1.1"])
    let final = Self.mirror(["a", "x", "s7.1"], 7)
    overlay.rebase(onto: final)
    #expect(overlay.isEmpty)
    #expect(overlay.displayed(over: final, hasMenu: true) == final)
  }

  @Test func `the revision that it led to takes its place, before its ok`() {
    var overlay = Overlay()
    #expect(Self.begin(&overlay, 1, [.push(.init(title: "B"))], on: Self.mirror(["a"])))
    let next = Self.mirror(["a", "s6.1"], 6)
    overlay.rebase(onto: next, by: 1)
    #expect(Self.ids(overlay, next) == ["a", "s6.1"])
    overlay.confirm(1, at: Revision(6), changed: true, in: next)
    #expect(overlay.isEmpty)
  }

  @Test func `an ok that changed nothing withdraws it`() {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b"])
    #expect(Self.begin(&overlay, 1, [.pop()], on: mirror))
    overlay.confirm(1, at: Revision(5), changed: false, in: mirror)
    #expect(overlay.displayed(over: mirror, hasMenu: true) == mirror)
  }

  @Test(arguments: [
    ([NavigationOperation.pop()], ["a", "b", "x"]), ([.pop()], ["a"]), ([.popTo("b")], ["a", "x"]),
    ([.push(.init(id: "d"))], ["a", "d"]), ([.setStack(["b"])], ["a"]),
    ([.setItem(of: "b", .init(title: "T"))], ["a"]),
  ])
  func `what does not apply any more is withdrawn at once, and for good`(
    operations: [NavigationOperation], stack: [String]
  ) {
    var overlay = Overlay()
    let mirror = Self.mirror(["a", "b", "c"].prefix(operations == [.pop()] ? 2 : 3).map { $0 })
    #expect(Self.begin(&overlay, 1, operations, on: mirror))
    let other = Self.mirror(stack, 6)
    overlay.rebase(onto: other)
    #expect(overlay.displayed(over: other, hasMenu: true) == other)
    overlay.rebase(onto: mirror)
    #expect(overlay.isEmpty)
  }

  @Test func `what its guards forbid is not shown`() {
    var guards = Guards()
    guards.revision = Revision(5)
    let mirror = Self.mirror(["a", "b"])
    var overlay = Overlay()
    #expect(!Self.begin(&overlay, 1, [.pop()], on: mirror, Self.top("a")))
    #expect(Self.begin(&overlay, 2, [.push(.init(id: "c"))], on: mirror, guards))
    #expect(!Self.begin(&overlay, 3, [.push(.init(id: "d"))], on: mirror, guards))
    overlay.rebase(onto: Self.mirror(["a", "b"], 6))
    #expect(overlay.isEmpty)
    #expect(Self.begin(&overlay, 4, [.push(.init(id: "c"))], on: mirror, Self.top("b")))
    overlay.rebase(onto: Self.mirror(["a", "x"], 6))
    #expect(overlay.isEmpty)
  }

  @Test func `another life of the nav begins without anything`() {
    var overlay = Overlay()
    #expect(Self.begin(&overlay, 1, [.push(.init(id: "c"))], on: Self.mirror(["a"])))
    var other = Self.mirror(["a"], 1)
    other.epoch = Epoch(bits: 2)
    overlay.rebase(onto: other)
    #expect(overlay.isEmpty)
  }

  /// What can come from the daemon, in any order: answers to ops, and revisions.
  private enum Arrival: CaseIterable {
    case firstOk, secondOk, firstRevision, secondRevision
  }

  private static func orders(_ rest: [Arrival] = Arrival.allCases) -> [[Arrival]] {
    guard !rest.isEmpty else { return [[]] }
    return rest.indices.flatMap { index in
      var others = rest
      let arrival = others.remove(at: index)
      return orders(others).map { [arrival] + $0 }
    }.filter { order in
      guard let first = order.firstIndex(of: .firstRevision),
        let second = order.firstIndex(of: .secondRevision)
      else { return true }
      return first < second
    }
  }

  @Test func `in whichever order answers and revisions come, the end is the mirror`() {
    for order in Self.orders() {
      for isNamed in [false, true] {
        var overlay = Overlay()
        var mirror = Self.mirror(["a"])
        _ = Self.begin(&overlay, 1, [.push(.init(id: "b"))], on: mirror)
        _ = Self.begin(&overlay, 2, [.push(.init(title: "C"))], on: mirror)
        for arrival in order {
          switch arrival {
          case .firstOk: overlay.confirm(1, at: Revision(6), changed: true, in: mirror)
          case .secondOk: overlay.confirm(2, at: Revision(7), changed: true, in: mirror)
          case .firstRevision:
            mirror = Self.mirror(["a", "b"], 6)
            overlay.rebase(onto: mirror, by: isNamed ? 1 : nil)
          case .secondRevision:
            mirror = Self.mirror(["a", "b", "s7.1"], 7)
            overlay.rebase(onto: mirror, by: isNamed ? 2 : nil)
          }
          #expect(Self.ids(overlay, mirror).first == "a")
        }
        #expect(overlay.isEmpty, "\(order)")
        #expect(overlay.displayed(over: mirror, hasMenu: true) == mirror)
      }
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `when everything is answered and seen, the mirror is shown`(seed: UInt64) {
    var random = Generator(state: seed)
    var overlay = Overlay()
    var mirror = Self.mirror(["a", "b"])
    var open: [UInt64] = []
    for step in 1...60 as ClosedRange<UInt64> {
      switch random.next() % 5 {
      case 0, 1:
        let operations: [NavigationOperation] = [
          .push(.init(id: "n\(step)")), .push(.init(title: "T")), .pop(), .popToRoot(),
          .popTo("b"), .setStack(["a", .init(id: "m\(step)")]),
          .setItem(of: "b", .init(title: "\(step)")),
        ]
        let operation = operations[Int(random.next() % UInt64(operations.count))]
        let guards = random.next() % 2 == 0 ? Guards() : Self.top(mirror.top)
        if Self.begin(&overlay, step, [operation], on: mirror, guards) { open.append(step) }
      case 2:
        if let id = open.popLast() { overlay.withdraw(id, from: mirror) }
      case 3:
        guard !open.isEmpty else { continue }
        let id = open.removeFirst()
        let revision = Revision(mirror.revision.number + random.next() % 3)
        overlay.confirm(id, at: revision, changed: true, in: mirror)
      default:
        let ids = [["a"], ["a", "b"], ["a", "b", "x"], ["b"]][Int(random.next() % 4)]
        mirror = Self.mirror(ids, mirror.revision.number + 1)
        overlay.rebase(onto: mirror)
      }
      let shown = Self.ids(overlay, mirror)
      #expect(Set(shown).count == shown.count)
      if overlay.isEmpty { #expect(overlay.displayed(over: mirror, hasMenu: true) == mirror) }
    }
    for id in open { overlay.withdraw(id, from: mirror) }
    overlay.rebase(onto: Self.mirror(["a"], mirror.revision.number + 10))
    #expect(overlay == Overlay() || overlay.isEmpty, "swift test --filter OverlayTests, \(seed)")
  }

  private struct Generator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
  }
}
