// The events of a revision, in this order: willHide, willShow, transitionBegan; didDismiss, didPop,
// didPush, didPresent, didHide, didShow. What an open transition tells at its end is its completion.

extension NavigationController {
  /// The events of the stack's change and of a transition's beginning; none if detached.
  mutating func events(_ draft: inout Draft, _ splice: Splice?) -> [NavigationEvent] {
    assert(!isStandalone || !isAttached)
    if !isStandalone && !isAttached { return [] }
    // A gesture tells of the stack itself, and nothing of what was presented beside it.
    if draft.hasOwnEvents { return isStandalone ? [] : chainMoves([], &draft) }
    var began: RunningTransition?
    if !transition.isDefault, let running = transition.content.running,
      running.id == draft.revision
    {
      began = running
    }
    if isStandalone {
      return began.map { [.transitionBegan($0)] } ?? moves(splice, &draft)
    }
    guard isAttached, let top = top?.id else { return [] }
    guard draft.wasAttached else {
      return [.willShow(top, animated: false), .didShow(top, animated: false)]
    }
    if let began, began.isOfStack {
      var events: [NavigationEvent] = [.willShow(top, animated: true), .transitionBegan(began)]
      if let old = draft.oldTop { events.insert(.willHide(old, animated: true), at: 0) }
      return events
    }
    // A presentation tells its end later; what else the message did is told now.
    if let began { return [.transitionBegan(began)] + stackMoves(splice, &draft) }
    guard splice != nil, top != draft.oldTop else { return moves(splice, &draft) }
    var events: [NavigationEvent] = []
    events.reserveCapacity(5)
    if let old = draft.oldTop { events.append(.willHide(old, animated: false)) }
    events.append(.willShow(top, animated: false))
    events += moves(splice, &draft)
    if let old = draft.oldTop { events.append(.didHide(old, animated: false)) }
    events.append(.didShow(top, animated: false))
    return events
  }

  /// What was dismissed, outermost first, popped, pushed and presented, in this order.
  func moves(_ splice: Splice?, _ draft: inout Draft) -> [NavigationEvent] {
    chainMoves(stackMoves(splice, &draft), &draft)
  }

  /// What was dismissed and presented, around the events of the stack.
  private func chainMoves(
    _ changed: [NavigationEvent], _ draft: inout Draft
  ) -> [NavigationEvent] {
    let old = draft.rare?.oldChain ?? []
    // Nearly all messages find nothing presented, and leave it so.
    if old.isEmpty, presented.isDefault { return changed }
    let new = presentedScreens.map(\.id)
    assert(Set(new).count == new.count, "a screen is presented twice")
    let dismissed = old.reversed().filter { !new.contains($0) }
    let shown = new.filter { !old.contains($0) }
    return dismissed.map { .didDismiss($0, result: draft.rare?.results[$0]) } + changed
      + shown.map { .didPresent($0) }
  }

  /// A `didPop` for each popped and a `didPush` for each pushed screen, pops first.
  ///
  /// None if an operation set the whole stack; none of screens that replaced one another.
  private func stackMoves(_ splice: Splice?, _ draft: inout Draft) -> [NavigationEvent] {
    guard let splice, !draft.replacesWhole else { return [] }
    assert(!draft.hasOwnEvents, "a gesture tells of the stack itself")
    assert(splice.at + splice.insertedCount <= stack.count)
    let inserted = stack[splice.at..<splice.at + splice.insertedCount].map(\.id)
    let popped = splice.removed.reversed().filter { !inserted.contains($0) }
    let pushed = inserted.filter { !splice.removed.contains($0) }
    let events =
      popped.map { NavigationEvent.didPop($0, result: draft.rare?.results[$0]) }
      + pushed.map { .didPush($0) }
    guard let exchanged = draft.rare?.exchanged, !exchanged.isEmpty else { return events }
    return events.filter { event in
      switch event {
      case .didPop(let id, _), .didPush(let id): !exchanged.contains(id)
      default: true
      }
    }
  }
}
