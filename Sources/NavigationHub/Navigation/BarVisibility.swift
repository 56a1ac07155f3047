import NavigationCore

// Automatic hiding and showing of the bars, and the events that report changes of visibility.

/// Whether the navigation bar and the toolbar are shown.
struct BarVisibility: Equatable {
  var showsBar: Bool
  var showsToolbar: Bool
}

extension NavigationController {
  /// The present visibility of both bars.
  ///
  /// The getter is inlined, because a call would copy the controller.
  @inline(__always)
  var visibility: BarVisibility {
    BarVisibility(
      showsBar: bar.isDefault || !bar.content.isHidden,
      showsToolbar: !toolbar.isDefault && !toolbar.content.isHidden)
  }

  /// Hides or shows the bar because a client or a screen asks for it, and forgets the rule that hid
  /// it before.
  ///
  /// During a push or pop transition the change belongs to the transition. A change that is not
  /// `animated` makes the bar jump.
  mutating func setBarHidden(
    _ isHidden: Bool, elsewhere: Bool? = nil, animated: Bool, cause: VisibilityCause,
    _ draft: inout Draft
  ) {
    let wasHidden = bar.content.isHidden
    bar.change(.bar, &draft) {
      ($0.isHidden, $0.isHiddenElsewhere, $0.automaticHiding) = (isHidden, elsewhere, nil)
    }
    assert(visibility.showsBar == !isHidden)
    guard wasHidden != isHidden else { return }
    guard let running = transition.content.running, running.isPushOrPop else {
      return reportVisibility(cause, &draft)
    }
    let change = BarChange(isHidden: isHidden, isAnimated: animated, isJump: !animated)
    transition.change(.transition, &draft) { $0.running?.barChange = change }
    draft.appendFinalEvent(.barChange(running.id, change))
  }

  /// Applies the visibility that the top prefers; without a preference, the one that the bars have
  /// elsewhere.
  ///
  /// During a push or pop transition the change of the bar is animated, so the bar never jumps.
  mutating func applyBarPreferences(_ draft: inout Draft) {
    guard let top else { return }
    if draft.rare?.topAtToolbarSet != top.id { applyToolbarPreference(of: top, &draft) }
    // Nearly all bars are shown on all screens.
    if bar.isDefault && top.hidesBar == nil || draft.rare?.topAtBarSet == top.id { return }
    let content = bar.content
    let isHiddenElsewhere =
      content.isHiddenElsewhere ?? (content.isHidden && content.automaticHiding == nil)
    if let isHidden = top.hidesBar ?? content.isHiddenElsewhere {
      let isAnimated = transition.content.running?.isPushOrPop ?? draft.isAnimated ?? false
      setBarHidden(
        isHidden, elsewhere: isHidden == isHiddenElsewhere ? nil : isHiddenElsewhere,
        animated: isAnimated, cause: .screen, &draft)
    } else if let cause = content.automaticHiding?.cause, cause != .vCompact,
      settings.content.showsBarsOnNextScreen
    {
      setBars(isHidden: false, by: cause, &draft)
    }
  }

  private mutating func applyToolbarPreference(of top: Screen, _ draft: inout Draft) {
    // Hidden everywhere, unless a rule hid it with the bar.
    if toolbar.isDefault, bar.isDefault ? top.hidesToolbar != false : top.hidesToolbar == nil {
      return
    }
    let content = toolbar.content
    let isHiddenElsewhere =
      content.isHiddenElsewhere
      ?? (content.isHidden && bar.content.automaticHiding?.includesToolbar != true)
    guard let isHidden = top.hidesToolbar ?? content.isHiddenElsewhere else { return }
    setToolbarHidden(
      isHidden, elsewhere: isHidden == isHiddenElsewhere ? nil : isHiddenElsewhere,
      cause: .screen, &draft)
  }

  /// Hides or shows the toolbar because a client or a screen asks for it; the rule that hid the bar
  /// does not bring the toolbar back then.
  mutating func setToolbarHidden(
    _ isHidden: Bool, elsewhere: Bool? = nil, cause: VisibilityCause, _ draft: inout Draft
  ) {
    bar.change(.bar, &draft) { $0.automaticHiding?.includesToolbar = false }
    toolbar.change(.toolbar, &draft) { $0.isHiddenElsewhere = elsewhere }
    showToolbar(!isHidden, cause: cause, &draft)
    assert(visibility.showsToolbar == !isHidden)
  }

  mutating func tapContent(_ draft: inout Draft) throws(NavigationError) {
    try checkAttached()
    let rules = settings.content
    let cause = bar.content.automaticHiding?.cause
    if rules.hidesBarsOnTap {
      setBars(isHidden: !bar.content.isHidden, by: .tap, &draft)
    } else if cause == .keyboard && rules.hidesBarsWhenKeyboardAppears
      || cause == .vCompact && rules.hidesBarsWhenVerticallyCompact
    {
      setBars(isHidden: false, by: .tap, &draft)
    }
  }

  mutating func swipeContent(
    _ direction: SwipeDirection, _ draft: inout Draft
  ) throws(NavigationError) {
    try checkAttached()
    guard settings.content.hidesBarsOnSwipe else { return }
    setBars(isHidden: direction == .up, by: .swipe, &draft)
  }

  /// Hides or shows the bars after a change of the keyboard or the height class.
  ///
  /// If both change at once, the keyboard's rule applies first.
  mutating func applyHidingRules(afterChangeFrom old: Environment, _ draft: inout Draft) {
    let new = environment.content
    assert(new != old, "nothing to follow")
    if new.showsKeyboard, !old.showsKeyboard, settings.content.hidesBarsWhenKeyboardAppears {
      setBars(isHidden: true, by: .keyboard, &draft)
    }
    if new.isVerticallyCompact, !old.isVerticallyCompact { hideBarsIfCompact(&draft) }
    if !new.isVerticallyCompact, old.isVerticallyCompact,
      bar.content.automaticHiding?.cause == .vCompact
    {
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
  /// A visible toolbar with items hides with the bar. A toolbar with items that was hidden with the
  /// bar is shown with the bar.
  private mutating func setBars(
    isHidden: Bool, by cause: HidingCause, _ draft: inout Draft
  ) {
    guard bar.content.isHidden != isHidden else { return }
    assert(!isHidden || bar.content.automaticHiding == nil, "a bar that shows is noted as hidden")
    let wantsToolbar =
      isHidden ? visibility.showsToolbar : bar.content.automaticHiding?.includesToolbar == true
    let takesToolbar = wantsToolbar && hasToolbarItems
    bar.change(.bar, &draft) {
      $0.isHidden = isHidden
      $0.automaticHiding =
        isHidden ? AutomaticHiding(cause: cause, includesToolbar: takesToolbar) : nil
    }
    if takesToolbar { showToolbar(!isHidden, cause: .automatic(cause), &draft) }
    reportVisibility(.automatic(cause), &draft)
    assert(visibility.showsBar != isHidden && !showsAutomaticallyHiddenBar)
  }

  private mutating func showToolbar(
    _ isShown: Bool, cause: VisibilityCause, _ draft: inout Draft
  ) {
    guard visibility.showsToolbar != isShown else { return }
    toolbar.change(.toolbar, &draft) { $0.isHidden = !isShown }
    assert(visibility.showsToolbar == isShown)
    reportVisibility(cause, &draft)
  }

  private var hasToolbarItems: Bool {
    guard let top, !top.hasDefaultDetails else { return false }
    return !top.details.toolbarItems.isEmpty
  }

  private func reportVisibility(_ cause: VisibilityCause, _ draft: inout Draft) {
    let now = visibility
    draft.appendFinalEvent(
      .barsVisibilityChanged(bar: now.showsBar, toolbar: now.showsToolbar, cause: cause))
  }

  /// Applies the bar preferences of a new top screen, or those that the message changed, and reduces
  /// the visibility events to the net effect of the message.
  ///
  /// If an operation of the message set the visibility of a bar while this screen was on top, that
  /// operation prevails over the preference.
  mutating func finishVisibilityChanges(_ draft: inout Draft) {
    // Without it, every push would take 230 instructions more.
    let isPlain = bar.isDefault && toolbar.isDefault && stack.last?.hasDefaultDetails != false
    if !isPlain, let top, top.id != draft.oldTop || hasNewBarPreferences(top, draft) {
      applyBarPreferences(&draft)
    }
    guard let notes = draft.rare, !notes.finalEvents.isEmpty else { return }
    assert(draft.revision == revision.next)
    let now = visibility
    let barChanged = now.showsBar != draft.oldVisibility.showsBar
    let toolbarChanged = now.showsToolbar != draft.oldVisibility.showsToolbar
    if !barChanged, let before = notes.stateBeforeMessage {
      restoreTransitionBarChange(before.state)
    }
    var reportsBar = false
    for case .barChange(_, let change) in notes.finalEvents where barChanged {
      reportsBar = change.isHidden == !now.showsBar
    }
    notes.finalEvents = notes.finalEvents.compactMap { event in
      switch event {
      case .barChange: return reportsBar ? event : nil
      case .barsVisibilityChanged(_, _, let cause):
        // A standalone bar reports changes of its items only. Nobody sees a detached controller, so
        // a screen's preference changes its bar without an event.
        guard !isStandalone, toolbarChanged || (barChanged && !reportsBar),
          isAttached || cause != .screen
        else { return nil }
        return .barsVisibilityChanged(bar: now.showsBar, toolbar: now.showsToolbar, cause: cause)
      case .willShow, .didShow, .willHide, .didHide, .didPush, .didPop, .didPresent, .didDismiss,
        .transitionBegan, .transitionEnded:
        return event
      }
    }
  }

  /// Whether the message changed the preferences of the top.
  private func hasNewBarPreferences(_ top: Screen, _ draft: borrowing Draft) -> Bool {
    for (id, original) in draft.originalScreens where id == top.id {
      return original.map {
        $0.hidesBar != top.hidesBar || $0.hidesToolbar != top.hidesToolbar
      } ?? false
    }
    return false
  }

  /// Gives the transition back its former bar change if the message as a whole left the bar as it
  /// was.
  private mutating func restoreTransitionBarChange(_ before: NavigationController) {
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
  var isPushOrPop: Bool { kind == .push || kind == .pop }
}

extension Draft {
  /// Appends an event to the end of the revision; a visibility event replaces the earlier one of
  /// its kind.
  mutating func appendFinalEvent(_ event: NavigationEvent) {
    let notes = rareNotes()
    notes.finalEvents.removeAll { other in
      switch (other, event) {
      case (.barChange, .barChange), (.barsVisibilityChanged, .barsVisibilityChanged): true
      default: false
      }
    }
    notes.finalEvents.append(event)
    assert(notes.finalEvents.count <= 2, "more than one last word on bar and toolbar")
  }
}
