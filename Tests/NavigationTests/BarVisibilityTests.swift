@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Bars that hide and show by themselves, and what is told of it.
@Suite struct BarVisibilityTests {
  /// A nav whose toolbar shows an item of the top.
  private func nav(_ rules: Edit<Settings>...) throws -> Nav {
    var nav = try Nav("A", detached: ["B"])
    try nav.run(
      .setScreen("A", [.toolbarItems([.new("x")])]), .setToolbarHidden(false),
      .configure(rules))
    return nav
  }

  private func expect(
    _ nav: Nav, bar: Bool, toolbar: Bool, _ cause: VisibilityCause,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(nav.controller.visibility == BarVisibility(showsBar: bar, showsToolbar: toolbar))
    #expect(
      nav.events == [.barsVisibilityChanged(bar: bar, toolbar: toolbar, cause: cause)],
      sourceLocation: sourceLocation)
  }

  @Test func `the bar is hidden and shown, and hiding it again is no change`() throws {
    var nav = try Nav("A")
    try nav.run(.setBarHidden(true))
    expect(nav, bar: false, toolbar: false, .api)
    #expect(nav.commit?.parts == [.bar])
    try nav.runsWithoutEffect(.setBarHidden(true))
    try nav.run(.setBarHidden(false))
    expect(nav, bar: true, toolbar: false, .api)
  }

  @Test func `the toolbar is hidden until it is shown`() throws {
    var nav = try Nav("A")
    try nav.runsWithoutEffect(.setToolbarHidden(true))
    try nav.run(.setToolbarHidden(false))
    expect(nav, bar: true, toolbar: true, .api)
    #expect(nav.commit?.parts == [.toolbar])
  }

  @Test func `a tap hides both bars and the next one shows them`() throws {
    var nav = try nav(.set(\.hidesBarsOnTap, true))
    try nav.run(.tapContent)
    expect(nav, bar: false, toolbar: false, .automatic(.tap))
    #expect(
      nav.controller.bar.content.automaticHiding
        == AutomaticHiding(cause: .tap, includesToolbar: true))
    #expect(nav.commit?.parts == [.bar, .toolbar])
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: true, .automatic(.tap))
    #expect(nav.controller.bar.isDefault)
  }

  @Test func `a tap does nothing by default`() throws {
    var nav = try nav()
    try nav.runsWithoutEffect(.tapContent)
    try nav.run(.setBarHidden(true))
    try nav.runsWithoutEffect(.tapContent)
  }

  @Test func `a swipe up hides, a swipe down shows`() throws {
    var nav = try nav(.set(\.hidesBarsOnSwipe, true))
    try nav.runsWithoutEffect(.swipeContent(.down))
    try nav.run(.swipeContent(.up))
    expect(nav, bar: false, toolbar: false, .automatic(.swipe))
    try nav.runsWithoutEffect(.swipeContent(.up))
    try nav.run(.swipeContent(.down))
    expect(nav, bar: true, toolbar: true, .automatic(.swipe))
    try nav.run(.configure([.set(\.hidesBarsOnSwipe, false)]))
    try nav.runsWithoutEffect(.swipeContent(.up))
  }

  @Test func `the keyboard hides, and only a tap shows again`() throws {
    var nav = try nav(.set(\.hidesBarsWhenKeyboardAppears, true))
    try nav.run(.setEnvironment([.set(\.showsKeyboard, true)]))
    expect(nav, bar: false, toolbar: false, .automatic(.keyboard))
    #expect(nav.commit?.parts == [.bar, .toolbar, .environment])
    try nav.run(.setEnvironment([.set(\.showsKeyboard, false)]))
    #expect(nav.events == [])
    #expect(nav.controller.bar.content.isHidden)
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: true, .automatic(.tap))
  }

  @Test func `a tap shows nothing once the rule is off`() throws {
    var nav = try nav(.set(\.hidesBarsWhenKeyboardAppears, true))
    try nav.run(.setEnvironment([.set(\.showsKeyboard, true)]))
    try nav.run(.configure([.set(\.hidesBarsWhenKeyboardAppears, false)]))
    try nav.runsWithoutEffect(.tapContent)
  }

  @Test func `landscape hides and portrait shows`() throws {
    var nav = try nav(.set(\.hidesBarsWhenVerticallyCompact, true))
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, true)]))
    expect(nav, bar: false, toolbar: false, .automatic(.vCompact))
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, false)]))
    expect(nav, bar: true, toolbar: true, .automatic(.vCompact))
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, true)]))
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: true, .automatic(.tap))
  }

  @Test func `C-191 the rule set while compact hides in the same revision`() throws {
    var nav = try nav()
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, true)]))
    #expect(nav.events == [])
    try nav.run(.configure([.set(\.hidesBarsWhenVerticallyCompact, true)]))
    expect(nav, bar: false, toolbar: false, .automatic(.vCompact))
    #expect(nav.commit?.parts == [.bar, .toolbar, .settings])
  }

  @Test func `portrait does not show what something else hid`() throws {
    var nav = try nav(.set(\.hidesBarsWhenVerticallyCompact, true), .set(\.hidesBarsOnTap, true))
    try nav.run(.tapContent)
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, true)]))
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, false)]))
    #expect(nav.controller.bar.content.automaticHiding?.cause == .tap)
  }

  @Test func `keyboard and rotation at once: the keyboard was first`() throws {
    var nav = try nav(
      .set(\.hidesBarsWhenVerticallyCompact, true), .set(\.hidesBarsWhenKeyboardAppears, true))
    try nav.run(.setEnvironment([.set(\.isVerticallyCompact, true), .set(\.showsKeyboard, true)]))
    expect(nav, bar: false, toolbar: false, .automatic(.keyboard))
  }

  @Test func `a toolbar without items neither goes nor comes`() throws {
    var nav = try nav(.set(\.hidesBarsOnTap, true))
    try nav.run(.setScreen("A", [.toolbarItems([])]))
    try nav.run(.tapContent)
    expect(nav, bar: false, toolbar: true, .automatic(.tap))
    try nav.run(.tapContent)
    try nav.run(.setScreen("A", [.toolbarItems([.id("x")])]))
    try nav.run(.tapContent)
    try nav.run(.setScreen("A", [.toolbarItems([])]))
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: false, .automatic(.tap))
  }

  @Test func `showing brings back only what went`() throws {
    var nav = try nav(.set(\.hidesBarsOnTap, true))
    try nav.run(.setToolbarHidden(true))
    try nav.run(.tapContent)
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: false, .automatic(.tap))
  }

  @Test func `an explicit call wins and forgets the cause`() throws {
    var nav = try nav(.set(\.hidesBarsOnTap, true))
    try nav.run(.tapContent)
    try nav.run(.setBarHidden(true))
    #expect(nav.events == [], "nothing came or went")
    #expect(nav.controller.bar.content.automaticHiding == nil)
    try nav.run(.tapContent)
    expect(nav, bar: true, toolbar: false, .automatic(.tap))
    try nav.run(.setToolbarHidden(false))
    try nav.run(.tapContent)
    try nav.run(.setToolbarHidden(true))
    #expect(
      nav.controller.bar.content.automaticHiding
        == AutomaticHiding(cause: .tap, includesToolbar: false))
  }

  @Test func `nobody touches a detached controller`() throws {
    var nav = try Nav("A", isAttached: false)
    for operation in [.tapContent, .swipeContent(.up)] as [Operation] {
      #expect(throws: Refusal.self) { try nav.run(operation) }
    }
  }

  @Test func `a batch without net effect on visibility tells nothing of it`() throws {
    var nav = try nav(.set(\.hidesBarsOnTap, true))
    try nav.runsWithoutEffect(.tapContent, .tapContent)
    try nav.runsWithoutEffect(.setBarHidden(true), .setBarHidden(false))
    try nav.run(.tapContent, .title("A", "T"), .tapContent)
    #expect(nav.events == [])
    #expect(nav.commit?.parts == [])
    try nav.run(.setToolbarHidden(true), .tapContent)
    expect(nav, bar: false, toolbar: false, .automatic(.tap))
  }

  @Test func `a new top that prefers it hides the bar in its commit`() throws {
    var nav = try nav()
    try nav.run(.setScreen("B", [.set(\.prefersBarHidden, true)]))
    try nav.run(.push("B"))
    #expect(
      nav.events == [
        .willHide("A", animated: false), .willShow("B", animated: false), .didPush("B"),
        .didHide("A", animated: false), .didShow("B", animated: false),
        .barsVisibilityChanged(bar: false, toolbar: true, cause: .screen),
      ])
    try nav.run(.pop)
    #expect(nav.controller.bar.isDefault, "the preference held while the screen was the top")
    try nav.run(.setScreen("A", [.set(\.prefersBarHidden, true)]))
    #expect(nav.controller.bar.content.isHidden, "a new preference of the top counts at once")
    try nav.run(.setScreen("A", [.set(\.prefersBarHidden, nil)]))
    #expect(nav.controller.bar.isDefault)
    try nav.runsWithoutEffect(.push("B"), .pop)
    try nav.run(.push("B"), .setBarHidden(false))
    #expect(nav.controller.bar.isDefault, "the client has the last word")
    try nav.run(.setScreen("A", [.set(\.prefersBarHidden, false)]))
    try nav.run(.setBarHidden(true), .pop)
    #expect(!nav.controller.bar.content.isHidden, "but not over the screen that comes after it")
    #expect(nav.controller.bar.content.isHiddenElsewhere == true, "where it lasts")
  }

  @Test func `a detached controller follows without a word`() throws {
    var nav = try Nav("A", isAttached: false)
    try nav.run(.push(ScreenRecord(id: "B", edits: [.set(\.prefersBarHidden, true)])))
    #expect(nav.controller.bar.content.isHidden)
    #expect(nav.events == [])
  }
}

/// Changes of the bar while a transition runs.
@Suite struct BarChangeTests {
  private func nav(_ kind: RunningTransition.Kind = .push) throws -> Nav {
    var nav = try Nav("A", "B")
    var change = RecordedChange(revision: nav.controller.revision.next)
    change.parts.transition = Transition()
    change.parts.transition?.running = RunningTransition(
      id: change.revision, kind: kind, from: "A", to: "B", timeLimitMilliseconds: 1000)
    try nav.controller.replay(change)
    return nav
  }

  @Test(arguments: [true, false])
  func `an explicit change is attached, and jumps unless it is animated`(
    animated: Bool
  ) throws {
    var nav = try nav()
    let id = nav.controller.revision
    try nav.run(.setBarHidden(true), animated: animated)
    let change = BarChange(
      isHidden: true, isAnimated: animated, isJump: !animated)
    #expect(nav.events == [.barChange(id, change)])
    #expect(nav.commit?.parts == [.bar, .transition])
    #expect(nav.controller.transition.content.running?.barChange == change)
    try nav.run(.setBarHidden(false), animated: true)
    let second = BarChange(isHidden: false, isAnimated: true, isJump: false)
    #expect(nav.events == [.barChange(id, second)])
  }

  @Test func `a change that its batch takes back is not attached`() throws {
    var nav = try nav()
    try nav.runsWithoutEffect(.setBarHidden(true), .setBarHidden(false))
  }

  @Test func `the toolbar is no part of a transition, nor is the bar in a presentation`() throws {
    var nav = try nav()
    try nav.run(.setToolbarHidden(false))
    #expect(nav.events == [.barsVisibilityChanged(bar: true, toolbar: true, cause: .api)])
    nav = try self.nav(.present)
    try nav.run(.setBarHidden(true))
    #expect(nav.events == [.barsVisibilityChanged(bar: false, toolbar: false, cause: .api)])
  }

  @Test func `what a screen prefers is attached, and animated`() throws {
    var nav = try nav()
    let id = nav.controller.revision
    try nav.run(.setScreen("B", [.set(\.prefersBarHidden, true)]))
    let change = BarChange(isHidden: true, isAnimated: true, isJump: false)
    #expect(nav.events == [.barChange(id, change)])
    #expect(nav.controller.transition.content.running?.barChange == change)
  }

  @Test func `what a program sets during a swipe lasts when the swipe is cancelled`() throws {
    var nav = try Nav("A", "B")
    try nav.run(
      .configure([.set(\.hidesBarsOnTap, true), .set(\.interactivePopWithoutBackButton, true)]))
    try nav.run(.tapContent)
    try nav.run(.beginGesture(isFullScreen: false, translation: 1, owner: "c"))
    try nav.run(.setBarHidden(false))
    try nav.run(.cancelGesture)
    #expect(nav.controller.bar.isDefault)
  }
}
