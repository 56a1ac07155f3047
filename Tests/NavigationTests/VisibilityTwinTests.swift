@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Which bars hide and show by themselves, written down as plainly as it is said.
struct VisibilityTwin {
  /// The bars, and what hid the bar by itself and whether the toolbar went with it.
  var isBarHidden = false
  var isToolbarHidden = true
  var hid: (cause: HidingCause, toolbar: Bool)?
  /// What bar and toolbar return to when a screen with another preference leaves.
  var (barBefore, toolbarBefore): (Bool?, Bool?) = (nil, nil)
  /// What the screens A and B prefer; the last one of the stack is the top.
  var bars: [Bool?] = [nil, nil]
  var toolbars: [Bool?] = [nil, nil]
  var depth = 1
  var showsOnNext = false
  /// Whether the toolbar would show anything.
  var hasItems = false
  var itemsByScreen = [false, false]
  // The rules and the display.
  var onTap = false
  var onSwipe = false
  var whenCompact = false
  var whenKeyboard = false
  var isCompact = false
  var showsKeyboard = false

  mutating func hide(_ cause: HidingCause) {
    if isBarHidden { return }
    isBarHidden = true
    hid = (cause, false)
    if !isToolbarHidden && hasItems {
      isToolbarHidden = true
      hid = (cause, true)
    }
  }

  mutating func show() {
    isBarHidden = false
    if let hid, hid.toolbar, hasItems { isToolbarHidden = false }
    hid = nil
  }

  mutating func setBarHidden(_ isHidden: Bool) {
    isBarHidden = isHidden
    barBefore = nil
    hid = nil
  }

  mutating func setToolbarHidden(_ isHidden: Bool) {
    isToolbarHidden = isHidden
    toolbarBefore = nil
    hid?.toolbar = false
  }

  /// Another screen is the top, or the top prefers something else.
  mutating func followTop() {
    // What a rule hid by itself is shown where no screen wants it hidden.
    let tool = toolbarBefore ?? (hid?.toolbar == true ? false : isToolbarHidden)
    if let wanted = toolbars[depth - 1] ?? toolbarBefore {
      setToolbarHidden(wanted)
      if wanted != tool { toolbarBefore = tool }
    }
    let bar = barBefore ?? (hid == nil ? isBarHidden : false)
    if let wanted = bars[depth - 1] ?? barBefore {
      setBarHidden(wanted)
      if wanted != bar { barBefore = bar }
    } else if let hid, hid.cause != .vCompact, showsOnNext {
      show()
    }
  }

  mutating func tap() {
    switch (onTap, isBarHidden) {
    case (true, false): hide(.tap)
    case (true, true): show()
    case (false, _):
      if hid?.cause == .keyboard && whenKeyboard { return show() }
      if hid?.cause == .vCompact && whenCompact { return show() }
    }
  }

  mutating func swipe(_ direction: SwipeDirection) {
    if !onSwipe { return }
    if direction == .up && !isBarHidden { hide(.swipe) }
    if direction == .down && isBarHidden { show() }
  }

  mutating func setKeyboard(_ isShown: Bool) {
    let comes = isShown && !showsKeyboard
    showsKeyboard = isShown
    if comes && whenKeyboard && !isBarHidden { hide(.keyboard) }
  }

  mutating func setCompact(_ isNow: Bool) {
    let was = isCompact
    isCompact = isNow
    if isNow && !was && whenCompact && !isBarHidden { hide(.vCompact) }
    if !isNow && was && hid?.cause == .vCompact { show() }
  }

  mutating func setWhenCompact(_ isSet: Bool) {
    let was = whenCompact
    whenCompact = isSet
    if isSet && !was && isCompact && !isBarHidden { hide(.vCompact) }
  }
}

@Suite struct VisibilityTwinTests {
  /// One input, to both.
  private func step(_ random: inout Seeded, _ twin: inout VisibilityTwin) -> Operation {
    let flag = random.below(2) == 0
    switch random.below(17) {
    case 12:
      let (index, wanted) = (random.below(2), random.pick([nil, true, false]))
      let isNew = twin.bars[index] != wanted && index == twin.depth - 1
      twin.bars[index] = wanted
      if isNew { twin.followTop() }
      return .setScreen(index == 0 ? "A" : "B", [.set(\.prefersBarHidden, wanted)])
    case 13:
      let (index, wanted) = (random.below(2), random.pick([nil, true, false]))
      let isNew = twin.toolbars[index] != wanted && index == twin.depth - 1
      twin.toolbars[index] = wanted
      if isNew { twin.followTop() }
      return .setScreen(index == 0 ? "A" : "B", [.set(\.prefersToolbarHidden, wanted)])
    case 14:
      twin.showsOnNext = flag
      return .configure([.set(\.showsBarsOnNextScreen, flag)])
    case 15, 16:
      twin.depth = 3 - twin.depth
      twin.hasItems = twin.itemsByScreen[twin.depth - 1]
      twin.followTop()
      return twin.depth == 1 ? .pop : .push(.id("B"), onDuplicate: .error)
    case 0:
      twin.setBarHidden(flag)
      return .setBarHidden(flag)
    case 1:
      twin.setToolbarHidden(flag)
      return .setToolbarHidden(flag)
    case 2, 3:
      twin.tap()
      return .tapContent
    case 4, 5:
      twin.swipe(flag ? .up : .down)
      return .swipeContent(flag ? .up : .down)
    case 6:
      twin.setKeyboard(flag)
      return .setEnvironment([.set(\.showsKeyboard, flag)])
    case 7:
      twin.setCompact(flag)
      return .setEnvironment([.set(\.isVerticallyCompact, flag)])
    case 8:
      twin.setWhenCompact(flag)
      return .configure([.set(\.hidesBarsWhenVerticallyCompact, flag)])
    case 9:
      twin.hasItems = flag
      twin.itemsByScreen[twin.depth - 1] = flag
      let top: ScreenID = twin.depth == 1 ? "A" : "B"
      return .setScreen(top, [.toolbarItems(flag ? [.new(top == "A" ? "t" : "u")] : [])])
    case 10:
      twin.onTap = flag
      return .configure([.set(\.hidesBarsOnTap, flag)])
    default:
      if random.below(2) == 0 {
        twin.onSwipe = flag
        return .configure([.set(\.hidesBarsOnSwipe, flag)])
      }
      twin.whenKeyboard = flag
      return .configure([.set(\.hidesBarsWhenKeyboardAppears, flag)])
    }
  }

  @Test(arguments: UInt64(0)..<40)
  func `bars hide and show as the plain rules say, input by input`(seed: UInt64) throws {
    var random = Seeded(seed: seed)
    var nav = try Nav("A", detached: ["B"])
    var twin = VisibilityTwin()
    for number in 0..<300 {
      let before = nav.controller.visibility
      let operation = step(&random, &twin)
      try nav.run(operation)
      let bar = nav.controller.bar.content
      let note: Comment = "seed \(seed), input \(number): \(String(describing: operation))"
      try #require(bar.isHidden == twin.isBarHidden, note)
      try #require(nav.controller.visibility.showsToolbar == !twin.isToolbarHidden, note)
      try #require(bar.automaticHiding?.cause == twin.hid?.cause, note)
      try #require(bar.automaticHiding?.includesToolbar == twin.hid?.toolbar, note)
      // It is told exactly when something shows or goes, once, and as it is now.
      let now = nav.controller.visibility
      let told = nav.events.filter { if case .barsVisibilityChanged = $0 { true } else { false } }
      try #require(told.count == (now == before ? 0 : 1), note)
      if case .barsVisibilityChanged(let shownBar, let shownToolbar, _)? = told.first {
        try #require(shownBar == now.showsBar && shownToolbar == now.showsToolbar, note)
      }
    }
  }
}
