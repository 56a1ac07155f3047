import NavigationCore

// The events of a revision, in this order: willHide, willShow, transitionBegan; didDismiss, didPop,
// didPush, didPresent, didHide, didShow. An open transition keeps the later ones as its completion.

extension NavigationController {
  /// The events of the stack's change and of a transition's beginning; none if detached.
  mutating func events(_ draft: inout Draft, _ splice: Splice?) -> [NavigationEvent] {
    assert(!isStandalone || !isAttached)
    if !isStandalone && !isAttached { return [] }
    var events: [NavigationEvent] = []
    if draft.hasSuppliedStackEvents {
      // The gesture has supplied the events of the stack, but none of presentations beside it.
      if !isStandalone { appendMoveEvents(nil, &draft, to: &events) }
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
      appendMoveEvents(splice, &draft, to: &events)
      return events
    }
    guard isAttached, let top = top?.id else { return [] }
    guard draft.wasAttached else {
      return [.willShow(top, animated: false), .didShow(top, animated: false)]
    }
    // Room for all events of a push or a pop.
    events.reserveCapacity(5)
    let old = top == draft.oldTop ? nil : draft.oldTop
    if let began {
      if began.isPushOrPop {
        if let old { events.append(.willHide(old, animated: true)) }
        events.append(.willShow(top, animated: true))
      }
      events.append(.transitionBegan(began))
      // The events of the presentation follow at its end, all others come now.
      if !began.isPushOrPop { appendPushAndPopEvents(splice, &draft, to: &events) }
      return events
    }
    let isNew = splice != nil && top != draft.oldTop
    if isNew {
      if let old { events.append(.willHide(old, animated: false)) }
      events.append(.willShow(top, animated: false))
    }
    appendMoveEvents(splice, &draft, to: &events)
    if isNew {
      if let old { events.append(.didHide(old, animated: false)) }
      events.append(.didShow(top, animated: false))
    }
    return events
  }

  /// Appends the events of dismissed screens, outermost first, then of popped, pushed and presented
  /// ones.
  func appendMoveEvents(
    _ splice: Splice?, _ draft: inout Draft, to events: inout [NavigationEvent]
  ) {
    // Nearly all messages find nothing presented, and leave it so.
    if presented.isDefault, draft.rare?.oldPresented.isEmpty ?? true {
      return appendPushAndPopEvents(splice, &draft, to: &events)
    }
    let old = draft.rare?.oldPresented ?? []
    let new = presentedScreens.map(\.id)
    assert(Set(new).count == new.count, "a screen is presented twice")
    for id in old.reversed() where !new.contains(id) {
      events.append(.didDismiss(id, result: draft.rare?.screenResults[id]))
    }
    appendPushAndPopEvents(splice, &draft, to: &events)
    for id in new where !old.contains(id) { events.append(.didPresent(id)) }
  }

  /// Appends a `didPop` for each popped and a `didPush` for each pushed screen, pops first.
  ///
  /// It appends nothing if an operation set the whole stack, nor for the two screens of a `replace`
  /// without a result.
  private func appendPushAndPopEvents(
    _ splice: Splice?, _ draft: inout Draft, to events: inout [NavigationEvent]
  ) {
    guard !draft.replacesStack, let splice else { return }
    assert(!draft.hasSuppliedStackEvents, "a gesture supplies these events itself")
    assert(splice.at + splice.insertedCount <= stack.count)
    let inserted = splice.at..<splice.at + splice.insertedCount
    let notes = draft.rare
    for id in splice.removed.reversed()
    where !stack[inserted].contains(where: { $0.hasID(id) })
      && (notes?.exchanged.contains(id) != true || notes?.screenResults[id] != nil)
    {
      events.append(.didPop(id, result: notes?.screenResults[id]))
    }
    for index in inserted {
      let id = stack[index].id
      guard !splice.removed.contains(id), notes?.exchanged.contains(id) != true else { continue }
      events.append(.didPush(id))
    }
  }
}
