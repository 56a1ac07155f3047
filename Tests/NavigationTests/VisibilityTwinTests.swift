@testable import NavigationCore
@testable import NavigationHub
import Testing

/// Which bars hide and show by themselves, written down as plainly as it is said.
struct VisibilityTwin {
  /// The bars, and what hid the bar by itself and whether the toolbar went with it.
  var isBarHidden = false
  var isToolbarHidden = true
  var hid: (cause: HidingCause, toolbar: Bool)?
  /// Whether the toolbar would show anything.
  var hasItems = false
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
    hid = nil
  }

  mutating func setToolbarHidden(_ isHidden: Bool) {
    isToolbarHidden = isHidden
    hid?.toolbar = false
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
    switch random.below(12) {
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
      return .setScreen("A", [.toolbarItems(flag ? [.new("t")] : [])])
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
    var nav = try Nav("A")
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
