/// What one message of operations did to a nav: one revision.
package struct Commit: Sendable {
  /// The revision it made.
  package var revision: Revision
  /// The change of the stack's order, if any.
  package var splice: Splice?
  /// Screens that stayed on the stack and have a new content: their indexes, ascending.
  package var changedScreens: [Int] = []
  /// The parts that changed.
  package var parts = PartSet()
  /// The detached records that the commit made, edited or made the youngest, oldest first.
  ///
  /// It omits screens and buttons that only left a list, because replay derives them from the
  /// lists.
  package var detached: [DetachedRecords.Record] = []
  /// Whether `detached` only says that records moved to the young end.
  package var onlyMovesDetached = false
  /// Detached records that are no more, and the buttons that an operation released with their
  /// screen.
  package var released: [DetachedRecords.Key] = []
  /// The events of the revision, in their order.
  package var events: [NavigationEvent] = []
  /// What the completion of the transition in flight will tell; kept in the journal.
  package var completion: [NavigationEvent] = []
  /// How the new top relates to the old stack, for a whole-stack replacement.
  package var relation: Relation?
  /// Whether the change is to be animated.
  package var isAnimated = false
  /// What the bytes of all records must be behind it, reckoned from what it touched.
  var recordBytes = 0
  /// Whether it touched a button that other screens show too.
  var touchesSharedButtons = false

  /// Whether nothing changed after all.
  package var isEmpty: Bool {
    splice == nil && changedScreens.isEmpty && parts.isEmpty && released.isEmpty
      && (detached.isEmpty || onlyMovesDetached)
  }
}

/// A replacement of one run of the stack by another.
package struct Splice: Hashable, Sendable {
  /// The index of the first screen that differs.
  package var at: Int
  /// The identities removed, bottom first.
  package var removed: [ScreenID]
  /// How many screens of the new stack, from `at` on, were inserted.
  package var insertedCount: Int

  /// Makes a splice.
  package init(at: Int, removed: [ScreenID], insertedCount: Int) {
    self.at = at
    self.removed = removed
    self.insertedCount = insertedCount
  }

  /// Whether the screen at this index of the new stack was inserted.
  package func inserts(_ index: Int) -> Bool { index >= at && index < at + insertedCount }
}

/// How the new top of a whole-stack replacement relates to the old stack; it decides the direction
/// of the animation: back pops, new pushes, same and empty do not animate.
package enum Relation: UInt8, Sendable {
  /// The top stays.
  case same
  /// The new top was below the old one.
  case back
  /// The new top was not on the stack.
  case new
  /// There is no top any more.
  case empty
}

/// A callback of UIKit's delegates as data; durable, part of its revision.
package enum NavigationEvent: Hashable, Sendable {
  /// The controller delegate's `willShow`.
  case willShow(ScreenID, animated: Bool)
  /// The controller delegate's `didShow`.
  case didShow(ScreenID, animated: Bool)
  /// The bar delegate's `didPush`.
  case didPush(ScreenID)
  /// The bar delegate's `didPop`.
  case didPop(ScreenID)
  /// A transition began.
  case transitionBegan(RunningTransition)
  /// A transition ended.
  case transitionEnded(Revision, TransitionOutcome)
  /// The bar's visibility changed as part of a transition.
  case barChange(Revision, BarChange)
  /// Bar or toolbar were shown or hidden outside of a transition; true means that it shows now.
  case barsVisibilityChanged(bar: Bool, toolbar: Bool, cause: VisibilityCause)
}

/// Why bars were shown or hidden.
package enum VisibilityCause: Hashable, Sendable {
  /// A client said so.
  case api
  /// The screen that became top prefers it.
  case screen
  /// The bars' own rules.
  case automatic(HidingCause)
}

/// Which operation of a message is refused, and why.
package struct Refusal: Error, Hashable, Sendable {
  /// The index of the operation in its message.
  package var index: Int
  /// Why.
  package var error: NavigationError

  /// Makes a refusal.
  package init(index: Int, error: NavigationError) {
    self.index = index
    self.error = error
  }
}
