package import NavigationCore

/// The net effect of one message of operations on a nav, which becomes one revision.
package struct Commit: Sendable {
  package var revision: Revision
  /// The change of the stack's order; nil if the order is as it was.
  package var splice: Splice?
  /// The indexes, ascending, of screens that stayed on the stack and have new content.
  package var changedScreenIndexes: [Int] = []
  package var parts = PartSet()
  /// The detached records that the commit made, edited or made the youngest, oldest first.
  ///
  /// The list omits records that the stack, the presentation chain or a list of buttons lost without
  /// an edit, because replay derives them from these.
  package var changedDetached: [DetachedRecords.Record] = []
  /// Whether the records in `changedDetached` only became the youngest and kept their content.
  package var onlyReordersDetached = false
  /// The keys of the deleted detached records.
  ///
  /// Buttons that were deleted with their screen are listed only if an operation released the
  /// screen.
  package var released: [DetachedRecords.Key] = []
  package var events: [NavigationEvent] = []
  /// The events that the completion of the transition in flight will report; the journal keeps
  /// them.
  package var completionEvents: [NavigationEvent] = []
  /// How the new top relates to the old stack; nil unless an operation replaced the whole stack.
  package var topRelation: TopRelation?
  package var isAnimated = false
  /// The size of all records after the commit in bytes, computed from the changed records alone.
  ///
  /// `isSound(after:)` compares the size with `NavigationController.recordBytes`.
  var recomputedRecordBytes = 0
  /// Whether the commit changed a button that other screens show, too.
  var touchesSharedButtons = false

  package var changesStackOrder: Bool {
    // `splice != nil` would copy the splice.
    switch splice {
    case .none: false
    case .some: true
    }
  }

  /// Whether the commit changed something that the resolved bar depends on: the stack, a screen on it,
  /// or a part other than `transition`.
  package var mayChangeBar: Bool {
    var parts = parts
    parts.remove(.transition)
    return changesStackOrder || !changedScreenIndexes.isEmpty || !parts.isEmpty
  }

  /// Whether the state is as it was; a new order of detached records alone does not count.
  package var isEmpty: Bool {
    !changesStackOrder && changedScreenIndexes.isEmpty && parts.isEmpty && released.isEmpty
      && (changedDetached.isEmpty || onlyReordersDetached)
  }
}

/// A replacement of one run of the stack by another.
package struct Splice: Hashable, Sendable {
  /// The index of the first screen that differs.
  package var at: Int
  /// The ids of the removed screens, bottom first.
  package var removed: ShortList<ScreenID>
  /// How many screens of the new stack, from `at` on, were inserted.
  package var insertedCount: Int

  package init(at: Int, removed: ShortList<ScreenID>, insertedCount: Int) {
    assert(at >= 0)
    assert(insertedCount >= 0)
    assert(!removed.isEmpty || insertedCount > 0, "a splice that changes nothing")
    self.at = at
    self.removed = removed
    self.insertedCount = insertedCount
  }

  /// Whether the screen at this index of the new stack was inserted.
  package func inserts(_ index: Int) -> Bool {
    assert(index >= 0)
    return index >= at && index < at + insertedCount
  }
}

/// How the new top of a whole-stack replacement relates to the old stack.
///
/// The relation decides the kind of an animated transition: `back` and `empty` pop, `new` pushes,
/// `same` has none.
package enum TopRelation: UInt8, CaseIterable, Sendable {
  /// The top stays.
  case same
  /// The new top was below the old one.
  case back
  /// The new top was not on the stack.
  case new
  /// There is no top any more.
  case empty
}

/// A callback of UIKit's delegates as data, durable as part of its revision.
package enum NavigationEvent: Hashable, Sendable {
  /// The controller delegate's `willShow`.
  case willShow(ScreenID, animated: Bool)
  /// The controller delegate's `didShow`.
  case didShow(ScreenID, animated: Bool)
  /// UIKit's `viewWillDisappear` of the former top.
  case willHide(ScreenID, animated: Bool)
  /// UIKit's `viewDidDisappear` of the former top.
  case didHide(ScreenID, animated: Bool)
  /// The bar delegate's `didPush`.
  case didPush(ScreenID)
  /// The bar delegate's `didPop`, with the result that the operation gave.
  case didPop(ScreenID, result: OpaqueJSON? = nil)
  case didPresent(ScreenID)
  case didDismiss(ScreenID, result: OpaqueJSON? = nil)
  case transitionBegan(RunningTransition)
  case transitionEnded(Revision, TransitionOutcome, progress: Double? = nil)
  /// The bar's visibility changed as part of a transition.
  case barChange(Revision, BarChange)
  /// Bar or toolbar were shown or hidden, not as part of a transition; true means shown.
  case barsVisibilityChanged(bar: Bool, toolbar: Bool, cause: VisibilityCause)
}

/// Why bars were shown or hidden.
package enum VisibilityCause: Hashable, Sendable {
  /// An operation of a client.
  case api
  /// The preference of the screen that became the top.
  case screen
  /// A rule of automatic hiding.
  case automatic(HidingCause)
}

/// Which operation of a message is refused, and why.
package struct Refusal: Error, Hashable, Sendable {
  package var operationIndex: Int
  package var error: NavigationError

  package init(operationIndex: Int, error: NavigationError) {
    assert(operationIndex >= 0)
    self.operationIndex = operationIndex
    self.error = error
  }
}
