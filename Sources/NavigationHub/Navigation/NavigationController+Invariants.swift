import NavigationCore

// The invariants that a commit can have broken. Its cost is that of what the commit touched, so that
// release builds check each commit too.

extension NavigationController {
  /// The names of the invariants that a commit broke; empty for a sound state.
  ///
  /// Law: if the state before was sound, and the commit names all that it changed, the result equals
  /// that of `violatedInvariants()`. `violatedInvariants()` alone finds a button that is counted in too
  /// few of the screens showing it. O(screens changed × depth). O(state) if the commit presents or
  /// dismisses, or changes a button that several screens show. The method is mutating only to avoid
  /// a copy of the controller.
  package mutating func violatedInvariants(touchedBy commit: Commit) -> [String] {
    isSound(after: commit) ? [] : violatedInvariants()
  }

  mutating func isSound(after commit: Commit) -> Bool {
    assert(commit.revision == revision, "a commit of another revision")
    if isAttached, stack.isEmpty || isStandalone { return false }
    guard recordBytes == commit.recomputedRecordBytes else { return false }
    if commit.touchesSharedButtons || commit.parts.contains(.presented) {
      return violatedInvariants().isEmpty
    }
    if isStandalone, !presented.isDefault { return false }
    if commit.parts.contains(.bar) || commit.parts.contains(.toolbar), showsAutomaticallyHiddenBar {
      return false
    }
    if let splice = commit.splice, !isSound(splice) { return false }
    for index in commit.changedScreenIndexes {
      guard stack[index].kind == .content, isSound(stack[index]) else { return false }
    }
    for record in commit.changedDetached {
      switch record {
      case .screen(let screen):
        guard !isActive(screen.id), detached.screen(screen.id).map({ isSound($0) }) ?? true else {
          return false
        }
      case .button(let button):
        guard shownButtons[button.id] == nil else { return false }
      }
    }
    return true
  }

  private mutating func isSound(_ splice: Splice) -> Bool {
    assert(splice.at >= 0 && splice.at <= stack.count)
    for id in splice.removed where isActive(id) {
      guard !detached.contains(.screen(id)) else { return false }
    }
    let end = splice.at + splice.insertedCount
    // For many, one set costs less than to compare each with all.
    let isLarge = splice.insertedCount > 4
    if isLarge, Set(stack.map(\.id)).count != stack.count { return false }
    for index in splice.at..<end {
      let (screen, id) = (stack[index], stack[index].id)
      guard screen.kind == .content, isSound(screen), isLarge || isOnStackOnce(id),
        presented.isDefault || presented.content.index(of: id) == nil,
        !detached.contains(.screen(id))
      else { return false }
    }
    return true
  }

  private mutating func isOnStackOnce(_ id: ScreenID) -> Bool {
    var places = 0
    for index in stack.indices where stack[index].hasID(id) { places += 1 }
    return places == 1
  }

  private mutating func isActive(_ id: ScreenID) -> Bool {
    for index in stack.indices where stack[index].hasID(id) { return true }
    return !presented.isDefault && presented.content.index(of: id) != nil
  }

  /// Whether a screen is sound in itself, and its buttons are those of the registry.
  private mutating func isSound(_ screen: Screen) -> Bool {
    guard screen.version <= revision else { return false }
    if screen.hasDefaultDetails { return true }
    guard screen.item.sidesAreDistinct else { return false }
    for button in screen.buttons {
      guard let entry = shownButtons[button.id], entry.button == button,
        !detached.contains(.button(button.id))
      else { return false }
      // Where it is counted more often, other screens must show it.
      if entry.placeCount != screen.count(of: button.id) { return violatedInvariants().isEmpty }
    }
    return true
  }

  /// Whether a bar is visible although `automaticHiding` says that a rule hid it.
  var showsAutomaticallyHiddenBar: Bool {
    guard !bar.isDefault, let hiding = bar.content.automaticHiding else { return false }
    return !bar.content.isHidden || hiding.includesToolbar && visibility.showsToolbar
  }
}

extension NavigationController {
  /// Computes the size of all records from those that the message changed, without the nav's count.
  ///
  /// The method also notes whether other screens show a button that the message changed.
  mutating func recomputeRecordBytes(_ draft: inout Draft, _ commit: inout Commit) {
    var bytes = draft.oldRecordBytes
    for (id, original) in draft.originalScreens {
      let screen = screen(id)
      bytes += (screen?.byteCount ?? 0) - (original?.byteCount ?? 0)
      // Most screens have no buttons.
      if screen?.hasDefaultDetails ?? true, original?.hasDefaultDetails ?? true { continue }
      for button in (original?.buttons ?? []) + (screen?.buttons ?? []) {
        let places = shownButtons[button.id]?.placeCount ?? 0
        if places > screen?.count(of: button.id) ?? 0 { draft.touchesSharedButtons = true }
      }
    }
    for id in draft.rare?.touchedButtons ?? [] where shownButtons[id] != nil {
      let places = draft.originalScreens.reduce(0) { $0 + (screen($1.id)?.count(of: id) ?? 0) }
      if places != shownButtons[id]?.placeCount { draft.touchesSharedButtons = true }
    }
    assert(bytes >= 0, "\(bytes) bytes of records")
    commit.recomputedRecordBytes = bytes
    commit.touchesSharedButtons = draft.touchesSharedButtons
  }

  /// Notes that a screen was released, with the buttons that no other screen showed.
  mutating func noteReleasedScreen(_ screen: Screen, _ draft: inout Draft) {
    assert(!isKnown(.screen(screen.id)), "\(screen.id.text) was given up and is known")
    if !draft.originalScreens.contains(where: { $0.id == screen.id }) {
      draft.oldRecordBytes -= screen.byteCount
    }
    let isShared = screen.buttons.contains { shownButtons[$0.id] != nil }
    if isShared { draft.touchesSharedButtons = true }
  }
}
