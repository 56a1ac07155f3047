import NavigationCore

/// The notes of a `Draft` that most messages do not make.
///
/// Law: a draft with a new `RareNotes` behaves like a draft without one.
/// Each draft has an object of its own: `Draft` is not copyable, and `Draft(copying:)`
/// copies the object.
final class RareNotes {
  /// The ids of the presented screens before the message.
  var oldChain: [ScreenID] = []
  /// All presentations and dismissals together: the last kind, the screen visible before, the one
  /// visible now.
  var presentation: (kind: RunningTransition.Kind, from: ScreenID?, to: ScreenID?)?
  /// The screens that operations put in the place of others, and those others.
  ///
  /// No `didPush` and no `didPop` names them.
  var exchanged: Set<ScreenID> = []
  /// A screen that an operation put on top, and whether displays then animate a pop.
  ///
  /// Nil leaves the kind of the transition to the stacks before and after.
  var direction: (top: ScreenID, isBack: Bool)?
  /// The results that operations gave for the screens that they removed.
  var results: [ScreenID: OpaqueJSON] = [:]
  /// The buttons in the lists that the current operation names.
  ///
  /// The nav learns of a new button only when the operation has passed all checks.
  var named: [ButtonID: Button] = [:]
  /// The buttons that operations made or edited.
  var touchedButtons: Set<ButtonID> = []
  /// The keys of the records that operations released.
  var released: [DetachedRecords.Key] = []
  /// The top when an operation last set the bar's visibility; nil if none did.
  var topOfBarSet: ScreenID?
  /// The events that come last in the revision.
  var tail: [NavigationEvent] = []
  /// The delegates' answers for the transition that the message may begin; nil without any.
  var animation: Animation?
  /// Events to report before and after those of the stack's change.
  var beginning: [NavigationEvent] = []
  var ending: [NavigationEvent] = []
  /// The state before the message, if it creates the nav, has several operations, or updates a
  /// duplicate.
  ///
  /// `finish` compares with it, to find changes that a later operation undid.
  var before: StateBefore?

  func copy() -> RareNotes {
    let copy = RareNotes()
    copy.oldChain = oldChain
    copy.presentation = presentation
    copy.exchanged = exchanged
    copy.direction = direction
    copy.results = results
    copy.named = named
    copy.touchedButtons = touchedButtons
    copy.released = released
    copy.topOfBarSet = topOfBarSet
    copy.tail = tail
    copy.animation = animation
    copy.beginning = beginning
    copy.ending = ending
    copy.before = before
    return copy
  }

  /// Whether replay cannot derive that a button left its last list.
  ///
  /// It cannot do so if the button was also edited or was detached before the message. If a screen
  /// was released, replay does not know which buttons had left that screen before.
  func concerns(_ button: ButtonID) -> Bool {
    touchedButtons.contains(button) || !released.isEmpty
      || before?.state.detached.button(button) != nil
  }
}

/// A state, kept outside of its owner because most messages need none.
///
/// A test of an optional controller copies its 192 bytes.
final class StateBefore: Sendable {
  let state: NavigationController

  init(_ state: NavigationController) { self.state = state }
}
