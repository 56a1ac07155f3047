/// A headless UINavigationController: stack, bar, toolbar, presentation, transition, environment
/// and settings as one value that changes in one commit.
///
/// Laws: a commit raises `revision` by exactly 1; a refusal and an operation without effect leave
/// every member as it was; `bar.items` is always `stack.map(\.item)`, because there is no second
/// list.
package struct NavigationController: Sendable {
  /// The number of this state within its epoch.
  package internal(set) var revision: Revision
  /// UIKit's `viewControllers`: index 0 is the root, the last one is on top.
  package internal(set) var stack: [Screen] = []
  /// Whether the controller is on display, and so must have a root.
  package internal(set) var isAttached = false
  /// The bar's own state.
  package internal(set) var bar: Part<Bar>
  /// The toolbar's own state.
  package internal(set) var toolbar: Part<Toolbar>
  /// The presentation chain.
  package internal(set) var presented: Part<Presentation>
  /// The transition in flight.
  package internal(set) var transition: Part<Transition>
  /// The environment, as the display reports it.
  package internal(set) var environment: Part<Environment>
  /// The settings; on the wire, `isAttached` belongs to this part.
  package internal(set) var settings: Part<Settings>
  /// Whether this is a standalone bar: its stack holds items, and the root may be popped.
  package internal(set) var isStandalone = false
  /// The detached records: screens and buttons that no list holds.
  package internal(set) var detached = DetachedRecords()

  /// The buttons that any screen holds, each with the number of its places.
  var shown: [ButtonID: ShownButton] = [:]
  /// The estimated encoded size of all screens with their buttons, in bytes.
  var recordBytes = 0

  struct ShownButton: Sendable {
    var button: Button
    var places: Int
  }

  /// Whether the state holds something that the next start must end.
  ///
  /// It can be a transition, a display owner, or the orientations of a delegate.
  package var isOpen: Bool {
    // Every commit asks, and both parts are almost always at their defaults.
    if transition.isDefault, environment.isDefault { return false }
    let environment = environment.content
    return transition.content.running != nil || environment.owner != nil
      || environment.orientations != nil
  }

  /// Makes an empty, detached controller whose parts changed last at `revision`.
  package init(revision: Revision) {
    self.revision = revision
    bar = Part(version: revision)
    toolbar = Part(version: revision)
    presented = Part(version: revision)
    transition = Part(version: revision)
    environment = Part(version: revision)
    settings = Part(version: revision)
  }

  /// UIKit's `topViewController`.
  package var top: Screen? { stack.last }

  /// The screen below the top, which supplies UIKit's `backItem`; nil with fewer than two screens.
  package var backScreen: Screen? { stack.count >= 2 ? stack[stack.count - 2] : nil }

  /// UIKit's `visibleViewController`.
  package var visible: Screen? {
    presented.isDefault ? stack.last : presented.content.chain.last?.screen ?? stack.last
  }

  /// The index of a screen on the stack; searches from the top.
  ///
  /// O(depth).
  package func index(of id: ScreenID) -> Int? { stack.lastIndex { $0.id == id } }

  /// Finds a screen on the stack, in the presentation chain or among the detached ones.
  package func screen(_ id: ScreenID) -> Screen? {
    if let index = index(of: id) { return stack[index] }
    if !presented.isDefault, let index = presented.content.index(of: id) {
      return presented.content.chain[index].screen
    }
    return detached.screen(id)
  }

  /// Which operations need a guard.
  package var guardPolicy: GuardPolicy {
    settings.isDefault ? .removal : settings.content.guardPolicy
  }

  /// The version of a part.
  package func version(of part: PartName) -> Revision {
    switch part {
    case .bar: bar.version
    case .toolbar: toolbar.version
    case .presented: presented.version
    case .transition: transition.version
    case .environment: environment.version
    case .settings: settings.version
    }
  }
}

extension NavigationController: Equatable {
  /// Equality of the whole state; `shown` and `recordBytes` are derived and not compared.
  package static func == (left: NavigationController, right: NavigationController) -> Bool {
    left.revision == right.revision && left.isStandalone == right.isStandalone
      && left.stack == right.stack
      && left.isAttached == right.isAttached && left.bar == right.bar
      && left.toolbar == right.toolbar && left.presented == right.presented
      && left.transition == right.transition && left.environment == right.environment
      && left.settings == right.settings && left.detached == right.detached
  }
}

extension NavigationController {
  /// The names of the invariants that do not hold; empty for a sound state.
  ///
  /// O(state).
  /// INV-1 and INV-4…6 hold by construction: the bar has no item list of its own, top and root are
  /// read off the stack, and there is one transition part.
  package func violatedInvariants() -> [String] {
    var violated: [String] = []
    if isAttached, stack.isEmpty { violated.append("INV-2 attached without a root") }
    let active = stack + presentedScreens
    if Set(active.map(\.id)).count != active.count {
      violated.append("INV-3 screen twice in stack and presentation chain")
    }
    if active.contains(where: { detached.screen($0.id) != nil }) {
      violated.append("INV-3 screen both active and detached")
    }
    let chain = presented.isDefault ? [] : presented.content.chain
    if zip(chain, chain.dropFirst()).contains(where: { $1.from != $0.screen.id }) {
      violated.append("presented screen not presented by the one before")
    }
    if isStandalone, isAttached || !chain.isEmpty {
      violated.append("standalone bar attached or presenting")
    }
    if stack.contains(where: { $0.kind != .content }) {
      violated.append("stack holds a screen that is not content")
    }
    let screens = active + detachedScreens
    if screens.contains(where: { $0.version > revision }) {
      violated.append("INV-7 record newer than the revision")
    }
    for screen in screens where !screen.hasDefaultDetails && !screen.item.sidesAreDistinct {
      violated.append("INV-10 button on both sides of \(screen.id.text)")
    }
    if screens.reduce(0, { $0 + $1.byteCount }) != recordBytes {
      violated.append("byte count differs from the records")
    }
    if showsWhatIsHidden { violated.append("a bar shows that is noted as hidden") }
    if !shownMatches(screens) { violated.append("button registry differs from the lists") }
    return violated
  }

  /// The detached screens, oldest first.
  ///
  /// O(detached records).
  package var detachedScreens: [Screen] {
    detached.all.compactMap { record in
      guard case .screen(let screen) = record else { return nil }
      return screen
    }
  }

  private func shownMatches(_ screens: [Screen]) -> Bool {
    if shown.isEmpty, screens.allSatisfy(\.hasDefaultDetails) { return true }
    var places: [ButtonID: Int] = [:]
    for screen in screens {
      for button in screen.buttons {
        guard shown[button.id]?.button == button else { return false }
        places[button.id, default: 0] += 1
      }
    }
    return places == shown.mapValues(\.places)
      && shown.keys.allSatisfy { detached.button($0) == nil }
  }
}

extension NavigationItem {
  var sidesAreDistinct: Bool {
    let left = Set(leftItems.map(\.id))
    return rightItems.allSatisfy { !left.contains($0.id) }
  }
}
