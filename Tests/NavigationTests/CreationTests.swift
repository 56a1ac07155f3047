@testable import NavigationCore
@testable import NavigationHub
import Testing

@Suite struct CreationTests {
  private let context = NavigationContext(isBarByClass: ["MyBar": true, "MyToolbar": false])

  private func create(
    _ creation: Creation, then operations: Operation...
  ) throws(Refusal) -> (controller: NavigationController, performance: OperationResult) {
    try NavigationController.create(creation, then: operations, isAnimated: nil, in: context)
  }

  @Test func `C-001 a controller made with a root holds it and is at its defaults`() throws {
    let (controller, performance) = try create(.root(.new("A"), []))
    #expect(controller.stack.map(\.id) == ["A"])
    #expect(controller.revision == Revision(1))
    #expect(controller.top?.version == Revision(1))
    #expect(!controller.isAttached)
    #expect(controller.bar == Part(version: Revision(1)))
    #expect(controller.toolbar.content.isHidden)
    #expect(performance.commit?.revision == Revision(1))
    #expect(performance.commit?.events == [])
    #expect(controller.violatedInvariants() == [])
  }

  @Test func `C-002 a tab bar controller is no root`() {
    #expect(throws: Refusal(operationIndex: 0, error: .forbiddenKind("T", .tabBar))) {
      try create(.root(.record(ScreenRecord(id: "T", kind: .tabBar)), []))
    }
  }

  @Test func `C-023 a root that is only named is unknown`() {
    #expect(throws: Refusal(operationIndex: 0, error: .unknownScreen("A"))) {
      try create(.root(.id("A"), []))
    }
  }

  @Test func `C-004 a controller made with classes is empty, with the default classes`() throws {
    let (controller, _) = try create(.classes(bar: nil, toolbar: nil, []))
    #expect(controller.stack.isEmpty)
    #expect(controller.bar.content.className == "NavigationBar")
    #expect(controller.toolbar.content.className == "Toolbar")
  }

  @Test func `classes must be declared, with the right base`() throws {
    let (controller, performance) = try create(
      .classes(bar: "MyBar", toolbar: "MyToolbar", []), then: .push(ScreenRecord(id: "A")))
    #expect(controller.bar.content.className == "MyBar")
    #expect(controller.toolbar.content.className == "MyToolbar")
    #expect(controller.bar.version == Revision(1))
    #expect(performance.commit?.parts == [.bar, .toolbar])
    #expect(throws: Refusal(operationIndex: 0, error: .unknownClass("Nope"))) {
      try create(.classes(bar: "Nope", toolbar: nil, []))
    }
    #expect(throws: Refusal(operationIndex: 0, error: .wrongBaseClass("MyToolbar"))) {
      try create(.classes(bar: "MyToolbar", toolbar: nil, []))
    }
    #expect(throws: Refusal(operationIndex: 0, error: .wrongBaseClass("NavigationBar"))) {
      try create(.classes(bar: nil, toolbar: "NavigationBar", []))
    }
  }

  @Test func `C-007 an empty controller is not attached`() throws {
    var nav = Nav(try create(.classes(bar: nil, toolbar: nil, [])).controller)
    nav.refuses(.attach, with: .rootRequired)
    #expect(throws: Refusal(operationIndex: 1, error: .rootRequired)) {
      try create(.classes(bar: nil, toolbar: nil, []), then: .attach)
    }
  }

  @Test func `C-008 attaching shows the top once, not animated`() throws {
    var nav = Nav(try create(.classes(bar: nil, toolbar: nil, [])).controller)
    try nav.run(.push(ScreenRecord(id: "A")))
    try nav.run(.push(ScreenRecord(id: "B")))
    try nav.run(.attach, animated: true)
    #expect(nav.events == [.willShow("B", animated: false), .didShow("B", animated: false)])
    #expect(nav.commit?.parts == [.settings])
    try nav.runsWithoutEffect(.attach)
  }

  @Test func `creating, attaching and pushing in one message is revision 1`() throws {
    let (controller, performance) = try create(
      .root(.new("A"), [.set(\.waitingOpLimit, 3)]), then: .attach, .push(ScreenRecord(id: "B")))
    #expect(controller.revision == Revision(1))
    #expect(controller.settings.version == Revision(1))
    #expect(performance.outputs == [.nothing, .screen("B")])
    #expect(performance.commit?.parts == [.settings])
    #expect(performance.commit?.splice == Splice(at: 0, removed: [], insertedCount: 2))
    #expect(
      performance.commit?.events == [
        .willShow("B", animated: false), .didShow("B", animated: false),
      ])
    #expect(controller.stack.allSatisfy { $0.version == Revision(1) })
  }

  @Test func `settings given at creation count, whatever follows`() throws {
    for operations in [[], [.attach, .detach], [.pop, .pop]] as [[Operation]] {
      let (controller, performance) = try NavigationController.create(
        .root(.new("A"), [.set(\.waitingOpLimit, 3)]), then: operations, isAnimated: nil,
        in: context)
      #expect(performance.commit?.parts == [.settings])
      for part in PartName.allCases { #expect(controller.version(of: part) == Revision(1)) }
    }
  }

  @Test func `a refusal counts the creation as the first operation`() {
    #expect(throws: Refusal(operationIndex: 2, error: .unknownScreen("Z"))) {
      try create(.root(.new("A"), []), then: .attach, .push("Z"))
    }
  }

  @Test func `a root without id is named after revision 1`() throws {
    let (controller, _) = try create(.root(.record(ScreenRecord()), []))
    #expect(controller.top?.id == "s1.1")
  }

  @Test func `detaching takes the controller off display, silently`() throws {
    var nav = try Nav("A", "B")
    try nav.run(.detach)
    #expect(nav.events == [])
    #expect(nav.commit?.parts == [.settings])
    #expect(!nav.controller.isAttached)
    try nav.runsWithoutEffect(.detach)
  }

  @Test func `configuring equal values changes nothing`() throws {
    var nav = try Nav("A")
    try nav.run(.configure([.set(\.guardPolicy, .all), .set(\.waitingOpLimit, 0)]))
    #expect(nav.controller.settings.content.guardPolicy == .all)
    #expect(nav.controller.settings.version == Revision(11))
    try nav.runsWithoutEffect(.configure([.set(\.waitingOpLimit, 0)]))
    try nav.runsWithoutEffect(
      .configure([.set(\.waitingOpLimit, 1)]), .configure([.set(\.waitingOpLimit, 0)]))
  }

  @Test func `the parts have their names, in the order of the digest`() {
    let names = ["bar", "toolbar", "presented", "transition", "environment", "settings"]
    #expect(PartName.allCases.map(\.text) == names)
    #expect(Part<Bar>(version: Revision(1)).isDefault)
  }

  @Test func `every setting can be set`() throws {
    var nav = try Nav("A")
    let json = OpaqueJSON(validated: Array("[]".utf8))
    let edits: [Edit<Settings>] = [
      .set(\.container, json), .set(\.restorationID, "nav"),
      .set(\.interactivePop.isEnabled, false),
      .set(\.interactivePop.isFullScreen, true),
      .set(\.interactivePopWithoutBackButton, true), .set(\.simultaneousGestures, json),
      .set(\.hidesBarsOnTap, true), .set(\.hidesBarsOnSwipe, true),
      .set(\.hidesBarsWhenVerticallyCompact, true),
      .set(\.hidesBarsWhenKeyboardAppears, true), .set(\.guardPolicy, .none),
      .set(\.vetoScope, .all), .set(\.veto.deadlineMilliseconds, 5),
      .set(\.veto.allowsOnTimeout, true), .set(\.veto.requiresDelegate, true),
      .set(\.profile.compactBarHeight, 40),
      .set(\.profile.shadowNeedsBackground, false), .set(\.profile.allowsExtraSystemItems, true),
      .set(\.questionDeadlineMilliseconds, 1), .set(\.transitionDeadlineMilliseconds, 2),
      .set(\.gestureDeadlineMilliseconds, 3),
      .set(\.waitingOpLimit, 4),
      .set(\.profile.iOS, 14), .set(\.routes, json), .set(\.backTitles, ["de": "Zurück"]),
    ]
    for edit in edits {
      try nav.run(.configure([edit]))
      #expect(nav.commit?.parts == [.settings])
      try nav.runsWithoutEffect(.configure([edit]))
    }
  }
}
