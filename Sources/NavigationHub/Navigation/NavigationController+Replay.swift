package import NavigationCore

/// Why something stored cannot be used: it is damaged, or these rules could not have made it.
package struct StoredDataError: Error, Hashable, Sendable {
  package var what: String

  package init(what: String) { self.what = what }
}

/// One revision as the journal records it, complete enough to repeat it without the rules.
package struct RecordedChange: Sendable {
  package var revision: Revision
  /// The replacements of runs of the stack, with complete records.
  package var splices: [RecordedSplice] = []
  /// Screens that stayed on the stack and have new content.
  package var changedScreens: [Screen] = []
  package var parts = RecordedParts()
  /// Detached records made or edited, in order.
  package var changedDetached: [DetachedRecords.Record] = []
  package var released: [DetachedRecords.Key] = []
}

/// A splice with complete records.
package struct RecordedSplice: Sendable {
  /// The index of the first screen to remove.
  package var at: Int
  /// The identities to remove, bottom first.
  package var removed: [ScreenID]
  package var inserted: [Screen]
}

/// The settings part as recorded.
package struct RecordedSettings: Sendable {
  package var isAttached: Bool
  package var content: Settings
}

/// The contents of the six parts as recorded; nil is a default part in a state, and an unchanged one
/// in a change.
package struct RecordedParts: Sendable {
  package var bar: Bar?
  package var toolbar: Toolbar?
  package var presented: Presentation?
  package var transition: Transition?
  package var environment: Environment?
  package var settings: RecordedSettings?
}

extension NavigationController {
  /// Repeats a recorded revision.
  ///
  /// Law: replaying what `perform` recorded gives the state that `perform` left, the order of the
  /// detached records included. After an error the state is invalid.
  package mutating func replay(_ change: RecordedChange) throws(StoredDataError) {
    guard change.revision == revision.next else {
      throw StoredDataError(
        what: "revision \(change.revision.number) follows revision \(revision.number)")
    }
    detached.removeEmptySlots()
    let mark = detached.mark
    var unused: [ButtonID] = []
    var removed: [ScreenID] = []
    // All presented screens become detached first. A splice can then put one of them on the stack,
    // and the new chain takes back below the screens that stay presented.
    let dismissed = change.parts.presented == nil ? [] : presentedScreens
    for screen in dismissed { detached.makeYoungest(.screen(screen)) }
    for splice in change.splices {
      try replay(splice, &unused)
      removed += splice.removed
    }
    removed += dismissed.map(\.id)
    for screen in change.changedScreens {
      guard let index = index(of: screen.id) else {
        throw StoredDataError(what: "edits \(screen.id.text), which is not on the stack")
      }
      unused += updateCounts(from: stack[index], to: screen)
      stack[index] = screen
    }
    for element in change.parts.presented?.chain ?? [] {
      unused += updateCounts(from: detached.removeScreen(element.screen.id), to: element.screen)
    }
    replay(change.parts, at: change.revision)
    for record in change.changedDetached { replay(record, &unused) }
    for id in unused where shownButtons[id]?.placeCount == 0 {
      guard let button = shownButtons.removeValue(forKey: id)?.button else { continue }
      detached.makeYoungest(.button(button))
    }
    let listed = Set(change.changedDetached.map(\.key))
    let recent = detached.records(since: mark)
    if recent.count > 1 {
      var order = CanonicalOrder(removed: removed)
      for record in recent where !listed.contains(record.key) { order.add(record, isListed: false) }
      let named = change.changedDetached.map(\.key).filter(detached.contains)
      detached.reorder(since: mark, as: order.keys + named)
    }
    for key in change.released {
      switch key {
      case .screen(let id):
        if let screen = detached.screen(id) { deleteDetached(.screen(screen)) }
      case .button(let id): detached.remove(.button(id))
      }
    }
    revision = change.revision
  }

  private mutating func replay(_ parts: RecordedParts, at revision: Revision) {
    bar.replay(parts.bar, at: revision)
    toolbar.replay(parts.toolbar, at: revision)
    presented.replay(parts.presented, at: revision)
    transition.replay(parts.transition, at: revision)
    environment.replay(parts.environment, at: revision)
    settings.replay(parts.settings?.content, at: revision)
    if let settings = parts.settings { isAttached = settings.isAttached }
  }

  private mutating func replay(
    _ splice: RecordedSplice, _ unused: inout [ButtonID]
  ) throws(StoredDataError) {
    guard splice.at >= 0, splice.at <= stack.count - splice.removed.count,
      stack[splice.at...].prefix(splice.removed.count).map(\.id) == splice.removed
    else {
      throw StoredDataError(
        what: "removes \(splice.removed.map(\.text)) at \(splice.at) of \(stack.map(\.id.text))")
    }
    let end = splice.at + splice.removed.count
    let old = Array(stack[splice.at..<end])
    for screen in old { detached.makeYoungest(.screen(screen)) }
    for screen in splice.inserted {
      unused += updateCounts(from: detached.removeScreen(screen.id), to: screen)
    }
    stack.replaceSubrange(splice.at..<end, with: splice.inserted)
  }

  private mutating func replay(_ record: DetachedRecords.Record, _ unused: inout [ButtonID]) {
    switch record {
    case .screen(let screen): unused += updateCounts(from: detached.screen(screen.id), to: screen)
    case .button(let button):
      // A button that `shownButtons` still has was edited and then left its last list.
      if shownButtons[button.id] != nil { shownButtons.removeValue(forKey: button.id) }
    }
    detached.makeYoungest(record)
  }

  /// Rebuilds a controller from its complete state, as a snapshot records it.
  package init(
    revision: Revision, isStandalone: Bool = false, stack: [Screen],
    versions: [PartName: Revision], parts: RecordedParts,
    detached records: [DetachedRecords.Record]
  ) {
    self.init(revision: revision)
    self.isStandalone = isStandalone
    self.stack = stack
    replay(parts, at: revision)
    for (part, version) in versions { setVersion(of: part, to: version) }
    for screen in stack + presentedScreens { _ = updateCounts(from: nil, to: screen) }
    for record in records {
      if case .screen(let screen) = record { _ = updateCounts(from: nil, to: screen) }
      detached.makeYoungest(record)
    }
  }
}

extension Part {
  /// Sets the content that a row recorded; nil if the row did not change this part.
  fileprivate mutating func replay(_ recorded: Content?, at revision: Revision) {
    guard let recorded else { return }
    content = recorded
    version = revision
  }
}
