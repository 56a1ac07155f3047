// The events of a revision, in this order: willHide, willShow, transitionBegan; didDismiss, didPop,
// didPush, didPresent, didHide, didShow. What an open transition tells at its end is its completion.

extension NavigationController {
  /// The events of the stack's change and of a transition's beginning; none if detached.
  mutating func events(_ draft: inout Draft, _ splice: Splice?) -> [NavigationEvent] {
    assert(!isStandalone || !isAttached)
    if !isStandalone && !isAttached { return [] }
    var events: [NavigationEvent] = []
    if draft.hasOwnEvents {
      // A gesture tells of the stack itself, and nothing of what was presented beside it.
      if !isStandalone { appendMoves(nil, &draft, to: &events) }
      return events
    }
    var began: RunningTransition?
    if !transition.isDefault, let running = transition.content.running,
      running.id == draft.revision
    {
      began = running
    }
    if isStandalone {
      if let began { return [.transitionBegan(began)] }
      appendMoves(splice, &draft, to: &events)
      return events
    }
    guard isAttached, let top = top?.id else { return [] }
    guard draft.wasAttached else {
      return [.willShow(top, animated: false), .didShow(top, animated: false)]
    }
    // Room for all that a push or a pop tells.
    events.reserveCapacity(5)
    let old = top == draft.oldTop ? nil : draft.oldTop
    if let began {
      if began.isOfStack {
        if let old { events.append(.willHide(old, animated: true)) }
        events.append(.willShow(top, animated: true))
      }
      events.append(.transitionBegan(began))
      // A presentation tells its end later; what else the message did is told now.
      if !began.isOfStack { appendStackMoves(splice, &draft, to: &events) }
      return events
    }
    let isNew = splice != nil && top != draft.oldTop
    if isNew {
      if let old { events.append(.willHide(old, animated: false)) }
      events.append(.willShow(top, animated: false))
    }
    appendMoves(splice, &draft, to: &events)
    if isNew {
      if let old { events.append(.didHide(old, animated: false)) }
      events.append(.didShow(top, animated: false))
    }
    return events
  }

  /// Appends what was dismissed, outermost first, popped, pushed and presented, in this order.
  func appendMoves(
    _ splice: Splice?, _ draft: inout Draft, to events: inout [NavigationEvent]
  ) {
    // Nearly all messages find nothing presented, and leave it so.
    if presented.isDefault, draft.rare?.oldChain.isEmpty ?? true {
      return appendStackMoves(splice, &draft, to: &events)
    }
    let old = draft.rare?.oldChain ?? []
    let new = presentedScreens.map(\.id)
    assert(Set(new).count == new.count, "a screen is presented twice")
    for id in old.reversed() where !new.contains(id) {
      events.append(.didDismiss(id, result: draft.rare?.results[id]))
    }
    appendStackMoves(splice, &draft, to: &events)
    for id in new where !old.contains(id) { events.append(.didPresent(id)) }
  }

  /// Appends a `didPop` for each popped and a `didPush` for each pushed screen, pops first.
  ///
  /// None if an operation set the whole stack; none of screens that replaced one another.
  private func appendStackMoves(
    _ splice: Splice?, _ draft: inout Draft, to events: inout [NavigationEvent]
  ) {
    guard !draft.replacesWhole, let splice else { return }
    assert(!draft.hasOwnEvents, "a gesture tells of the stack itself")
    assert(splice.at + splice.insertedCount <= stack.count)
    let inserted = splice.at..<splice.at + splice.insertedCount
    let notes = draft.rare
    for id in splice.removed.reversed()
    where !stack[inserted].contains(where: { $0.id == id })
      && notes?.exchanged.contains(id) != true
    {
      events.append(.didPop(id, result: notes?.results[id]))
    }
    for index in inserted {
      let id = stack[index].id
      guard !splice.removed.contains(id), notes?.exchanged.contains(id) != true else { continue }
      events.append(.didPush(id))
    }
  }
}
