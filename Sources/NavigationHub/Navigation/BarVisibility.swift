import NavigationCore

// Automatic hiding and showing of the bars, and the events that report changes of visibility.

/// Whether the navigation bar and the toolbar are shown.
struct BarVisibility: Equatable {
  var bar: Bool
  var toolbar: Bool
}

extension NavigationController {
  /// The present visibility of both bars.
  ///
  /// Inlined, because Swift would copy the controller to lend it.
  @inline(__always)
  var visibility: BarVisibility {
    BarVisibility(
      bar: bar.isDefault || !bar.content.isHidden,
      toolbar: !toolbar.isDefault && !toolbar.content.isHidden)
  }

  /// Hides or shows the bar because a client or a screen asks for it, and forgets the rule that hid
  /// it before.
  ///
  /// During a push or pop transition the change belongs to the transition: `takeBackBarChange`
  /// undoes it if the transition is cancelled.
  ///
  /// If the change is not `animated`, the bar jumps during a transition.
  mutating func setBarHidden(
    _ isHidden: Bool, animated: Bool, cause: VisibilityCause, _ draft: inout Draft
  ) {
    let (wasHidden, hid) = (bar.content.isHidden, bar.content.hid)
    bar.change(.bar, &draft) { ($0.isHidden, $0.hid) = (isHidden, nil) }
    assert(visibility.bar == !isHidden)
    assert(bar.isDefault || bar.content.hid == nil, "what a client hides was hidden by itself")
    guard wasHidden != isHidden else { return }
    guard let running = transition.content.running, running.isOfStack else {
      return reportVisibility(cause, &draft)
    }
    var change =
      running.barChange
      ?? BarChange(
        wasHidden: wasHidden, isHidden: isHidden, isAnimated: animated, isJump: !animated, hid: hid)
    (change.isHidden, change.isAnimated, change.isJump) = (isHidden, animated, !animated)
    assert(running.id == transition.content.running?.id, "another transition than the one open")
    transition.change(.transition, &draft) { $0.running?.barChange = change }
    draft.report(.barChange(running.id, change))
  }

  /// Applies the bar visibility that the new top screen prefers.
  ///
  /// Without a preference the bar stays as it is. During a push or pop transition the change is
  /// animated, so the bar never jumps.
  mutating func applyBarPreference(of newTop: Screen?, _ draft: inout Draft) {
    guard let newTop, !newTop.hasDefaultDetails, let isHidden = newTop.details.prefersBarHidden
    else { return }
    assert(newTop.kind == .content, "\(newTop.id.text) cannot stand on a stack")
    let isAnimated = transition.content.running?.isOfStack ?? draft.isAnimated ?? false
    setBarHidden(isHidden, animated: isAnimated, cause: .screen, &draft)
  }

  /// Restores the bar's visibility from before the transition, and the rule that had hidden the
  /// bar.
  ///
  /// No event reports this; the end of the transition implies it.
  mutating func takeBackBarChange(_ draft: inout Draft) {
    guard let change = transition.content.running?.barChange,
      bar.content.isHidden != change.wasHidden
    else { return }
    bar.change(.bar, &draft) { ($0.isHidden, $0.hid) = (change.wasHidden, change.hid) }
    assert(visibility.bar == !change.wasHidden)
  }

  mutating func setToolbarHidden(_ isHidden: Bool, _ draft: inout Draft) {
    bar.change(.bar, &draft) { $0.hid?.toolbar = false }
    transition.change(.transition, &draft) { $0.running?.barChange?.hid?.toolbar = false }
    showToolbar(!isHidden, cause: .api, &draft)
    assert(visibility.toolbar == !isHidden)
    assert(bar.content.hid?.toolbar != true, "a client's word on the toolbar is not the last")
  }

  mutating func tap(_ draft: inout Draft) throws(NavigationError) {
    try checkDisplayed()
    let rules = settings.content
    let cause = bar.content.hid?.cause
    if rules.hidesBarsOnTap {
      setBars(isHidden: !bar.content.isHidden, by: .tap, &draft)
    } else if cause == .keyboard && rules.hidesBarsWhenKeyboardAppears
      || cause == .vCompact && rules.hidesBarsWhenVerticallyCompact
    {
      setBars(isHidden: false, by: .tap, &draft)
    }
  }

  mutating func swipe(
    _ direction: SwipeDirection, _ draft: inout Draft
  ) throws(NavigationError) {
    try checkDisplayed()
    guard settings.content.hidesBarsOnSwipe else { return }
    setBars(isHidden: direction == .up, by: .swipe, &draft)
  }

  /// Hides or shows the bars after a change of the keyboard or the height class.
  ///
  /// If both change at once, the keyboard's rule applies first.
  mutating func followEnvironment(from old: Environment, _ draft: inout Draft) {
    let new = environment.content
    assert(new != old, "nothing to follow")
    if new.showsKeyboard, !old.showsKeyboard, settings.content.hidesBarsWhenKeyboardAppears {
      setBars(isHidden: true, by: .keyboard, &draft)
    }
    if new.isVerticallyCompact, !old.isVerticallyCompact { hideBarsIfCompact(&draft) }
    if !new.isVerticallyCompact, old.isVerticallyCompact, bar.content.hid?.cause == .vCompact {
      setBars(isHidden: false, by: .vCompact, &draft)
    }
  }

  mutating func hideBarsIfCompact(_ draft: inout Draft) {
    guard environment.content.isVerticallyCompact,
      settings.content.hidesBarsWhenVerticallyCompact
    else { return }
    setBars(isHidden: true, by: .vCompact, &draft)
  }

  /// Hides or shows the bar by a rule.
  ///
  /// The toolbar goes with the bar if it is shown and has items. It comes back with the bar if it was
  /// hidden with the bar and has items.
  private mutating func setBars(
    isHidden: Bool, by cause: HidingCause, _ draft: inout Draft
  ) {
    guard bar.content.isHidden != isHidden else { return }
    assert(!isHidden || bar.content.hid == nil, "a bar that shows is noted as hidden")
    let wantsToolbar = isHidden ? visibility.toolbar : bar.content.hid?.toolbar == true
    let takesToolbar = wantsToolbar && hasToolbarItems
    bar.change(.bar, &draft) {
      $0.isHidden = isHidden
      $0.hid = isHidden ? AutomaticHiding(cause: cause, toolbar: takesToolbar) : nil
    }
    if takesToolbar { showToolbar(!isHidden, cause: .automatic(cause), &draft) }
    reportVisibility(.automatic(cause), &draft)
    assert(visibility.bar != isHidden && !showsWhatIsHidden)
  }

  private mutating func showToolbar(
    _ isShown: Bool, cause: VisibilityCause, _ draft: inout Draft
  ) {
    guard visibility.toolbar != isShown else { return }
    toolbar.change(.toolbar, &draft) { $0.isHidden = !isShown }
    assert(visibility.toolbar == isShown)
    reportVisibility(cause, &draft)
  }

  private var hasToolbarItems: Bool {
    guard let top, !top.hasDefaultDetails else { return false }
    return !top.details.toolbarItems.isEmpty
  }

  private func reportVisibility(_ cause: VisibilityCause, _ draft: inout Draft) {
    let now = visibility
    draft.report(.barsVisibilityChanged(bar: now.bar, toolbar: now.toolbar, cause: cause))
  }
}

extension NavigationController {
  /// Applies the bar preference of a new top screen, and reduces the visibility events to the net
  /// effect of the message.
  ///
  /// If an operation of the message set the bar's visibility while this screen was on top, that
  /// operation prevails over the preference.
  mutating func updateVisibility(_ draft: inout Draft) {
    if let top, !top.hasDefaultDetails, top.id != draft.oldTop, top.id != draft.rare?.topOfBarSet {
      applyBarPreference(of: top, &draft)
    }
    guard let notes = draft.rare, !notes.tail.isEmpty else { return }
    assert(draft.revision == revision.next)
    let now = visibility
    let isBarNew = now.bar != draft.oldVisibility.bar
    let isToolbarNew = now.toolbar != draft.oldVisibility.toolbar
    if !isBarNew, let before = notes.before { restoreBarChange(before.state) }
    var reportsBar = false
    for case .barChange(_, let change) in notes.tail where isBarNew {
      reportsBar = change.isHidden == !now.bar
    }
    notes.tail = notes.tail.compactMap { event in
      switch event {
      case .barChange: return reportsBar ? event : nil
      case .barsVisibilityChanged(_, _, let cause):
        // A standalone bar reports changes of its items only. Nobody sees a detached controller, so
        // a screen's preference changes its bar without an event.
        guard !isStandalone, isToolbarNew || (isBarNew && !reportsBar),
          isAttached || cause != .screen
        else {
          return nil
        }
        return .barsVisibilityChanged(bar: now.bar, toolbar: now.toolbar, cause: cause)
      case .willShow, .didShow, .willHide, .didHide, .didPush, .didPop, .didPresent, .didDismiss,
        .transitionBegan, .transitionEnded:
        return event
      }
    }
  }

  /// Gives the transition back its former bar change if the message as a whole left the bar as it
  /// was.
  private mutating func restoreBarChange(_ before: NavigationController) {
    guard var running = transition.content.running, let old = before.transition.content.running,
      running.id == old.id, running.barChange != old.barChange
    else { return }
    assert(before.revision == revision)
    running.barChange = old.barChange
    transition.content.running = running
  }
}

extension RunningTransition {
  /// Whether this is a push or pop, to which changes of the bar belong.
  var isOfStack: Bool { kind == .push || kind == .pop }
}

extension Draft {
  /// Appends an event to the end of the revision; a visibility event replaces the earlier one of
  /// its kind.
  mutating func report(_ event: NavigationEvent) {
    let notes = noteRarely()
    notes.tail.removeAll { other in
      switch (other, event) {
      case (.barChange, .barChange), (.barsVisibilityChanged, .barsVisibilityChanged): true
      default: false
      }
    }
    notes.tail.append(event)
    assert(notes.tail.count <= 2, "more than one last word on bar and toolbar")
  }
}
