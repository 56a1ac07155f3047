import NavigationCore

/// The changes of one message so far, kept while its operations run.
///
/// Most messages need few of its members. The others are in `rare`, because to make and to destroy
/// them takes 400 instructions.
struct Draft: ~Copyable {
  /// The revision that the message will make.
  let revision: Revision
  /// The message's animation flag; `show` sets it to true if the message left it out.
  var isAnimated: Bool?
  /// The numbers of screens and of buttons to which the daemon assigned an id.
  var assignedScreenCount = 0
  var assignedButtonCount = 0
  /// The depth of the stack before the message.
  let oldDepth: Int
  /// The top screen before the message.
  let oldTop: ScreenID?
  /// Whether the nav was on display (`isAttached`) before the message.
  let wasAttached: Bool
  /// The lowest index at which an operation changed the stack.
  var firstChangedIndex: Int
  /// The ids of the old stack from `firstChangedIndex` on.
  var oldTailIDs = ShortList<ScreenID>()
  /// Whether a whole-stack replacement was among the operations.
  var replacesStack = false
  /// The screens whose content changed, with their content before the message; nil for new ones.
  var originalScreens = ShortList<(id: ScreenID, original: Screen?)>()
  var parts = PartSet()
  /// The visibility of bar and toolbar before the message.
  let oldVisibility: BarVisibility
  /// Whether an operation supplied the events of the stack's change itself, as a gesture does.
  var hasSuppliedStackEvents = false
  /// The end of the order of detached records before the message.
  let detachedMark: DetachedRecords.Mark
  /// The size of all records before the message in bytes, without screens that were released
  /// unchanged.
  var oldRecordBytes: Int
  /// Whether the message changed a button that other screens show, too.
  var touchesSharedButtons = false
  /// The notes that most messages do not make; nil until this message makes one.
  private(set) var rare: RareDraftNotes?

  /// Begins the notes of a message; `controller` is the state before it, `inout` only to avoid a
  /// copy.
  init(of controller: inout NavigationController, isAnimated: Bool?) {
    revision = controller.revision.next
    self.isAnimated = isAnimated
    oldDepth = controller.stack.count
    oldTop = controller.top?.id
    wasAttached = controller.isAttached
    oldVisibility = controller.visibility
    firstChangedIndex = oldDepth
    detachedMark = controller.detached.mark
    oldRecordBytes = controller.recordBytes
    guard !controller.presented.isDefault else { return }
    rareNotes().oldPresented = controller.presentedScreens.map(\.id)
  }

  /// Returns the notes that most messages do not make; the first call makes them.
  mutating func rareNotes() -> RareDraftNotes {
    if let rare { return rare }
    let notes = RareDraftNotes()
    rare = notes
    return notes
  }

  /// Keeps the ids of the old stack from `index` on, which the caller is about to change.
  mutating func noteStackChange(from index: Int, of stack: [Screen]) {
    assert(index >= 0)
    assert(firstChangedIndex <= oldDepth)
    guard index < firstChangedIndex else { return }
    let former = oldTailIDs
    oldTailIDs = []
    for index in index..<firstChangedIndex { oldTailIDs.append(stack[index].id) }
    for id in former { oldTailIDs.append(id) }
    firstChangedIndex = index
    assert(oldTailIDs.count == oldDepth - firstChangedIndex, "other ids from \(index) on")
  }

  /// Notes a presentation or dismissal: keeps the first `from`, and replaces kind and `to`.
  mutating func notePresentation(
    _ kind: RunningTransition.Kind, from: ScreenID?, to: ScreenID?
  ) {
    let notes = rareNotes()
    notes.presentation = (kind, notes.presentation.map(\.from) ?? from, to)
  }

  /// Notes that the content of a screen changes; keeps the original of the first call.
  mutating func noteChange(of id: ScreenID, original: Screen?) {
    assert(original == nil || original?.id == id, "the original of another screen")
    guard !originalScreens.contains(where: { $0.id == id }) else { return }
    originalScreens.append((id, original))
  }

  mutating func nextScreenID() -> ScreenID {
    assignedScreenCount += 1
    return ScreenID(assignedAt: revision, ordinal: assignedScreenCount)
  }

  mutating func nextButtonID() -> ButtonID {
    assignedButtonCount += 1
    return ButtonID(assignedAt: revision, ordinal: assignedButtonCount)
  }
}

extension NavigationController {
  /// Fills in `commit` with the net effect of the message, in canonical order.
  ///
  /// Also releases the oldest detached records beyond the limits. `commit` has the revision and the
  /// net splice already. If `commit` is empty afterwards, the order of the detached records is
  /// undefined, and the caller must restore the state before.
  mutating func finish(_ draft: inout Draft, limits: NavigationLimits, _ commit: inout Commit) {
    assert(commit.revision == draft.revision)
    assert(draft.revision == revision.next, "a draft of another state")
    if animations == .off { draft.isAnimated = false }
    commit.isAnimated = draft.isAnimated ?? false
    if !presented.isDefault, draft.oldTop != top?.id { dismissPopovers(&draft) }
    if draft.isAnimated == true, let running = transitionToBegin(&draft, commit.splice) {
      setTransition(running, &draft)
    }
    // The rules of BarVisibility.swift.
    finishVisibilityChanges(&draft)
    noteChangedScreens(&draft, &commit)
    listDetachedChanges(&draft, &commit)
    commit.parts = draft.parts
    if let before = draft.rare?.stateBeforeMessage {
      for part in draft.parts where hasSamePart(part, as: before.state) {
        commit.parts.remove(part)
        setVersion(of: part, to: before.state.version(of: part))
      }
    }
    if draft.replacesStack { commit.topRelation = topRelation(&draft) }
    if !transition.isDefault {
      commit.completionEvents = transition.content.running?.completionEvents ?? []
    }
    if let events = draft.rare?.eventsBeforeStackChange { commit.events.add(events) }
    commit.events.add(events(&draft, commit.splice))
    if let notes = draft.rare {
      commit.events.add(notes.eventsAfterStackChange)
      commit.events.add(notes.finalEvents)
    }
    if !commit.isEmpty { releaseOldestDetached(limits, &draft, &commit) }
    // For the check of what the commit touched, in NavigationController+Invariants.swift.
    recomputeRecordBytes(&draft, &commit)
    assert(commit.changedScreenIndexes.allSatisfy { commit.splice?.inserts($0) != true })
    assert(
      !draft.hasSuppliedStackEvents || draft.rare?.eventsBeforeStackChange.isEmpty == false
        || draft.rare?.eventsAfterStackChange.isEmpty == false)
  }

  /// The animations that the display wants; almost every nav leaves the environment at its default.
  private var animations: Animations {
    environment.isDefault ? .on : environment.content.animations
  }

  /// Returns the transition that an animated message begins; nil if it begins none.
  ///
  /// A change of the top takes precedence over a presentation or dismissal.
  private func transitionToBegin(_ draft: inout Draft, _ splice: Splice?) -> RunningTransition? {
    guard !draft.hasSuppliedStackEvents,
      transition.isDefault || transition.content.running == nil,
      isStandalone || isAttached && draft.wasAttached
    else { return nil }
    var running: RunningTransition
    if let splice, top?.id != draft.oldTop {
      let relation = topRelation(&draft)
      var isPop = relation == .back || relation == .empty
      if let direction = draft.rare?.newTopDirection, direction.top == top?.id {
        isPop = direction.isBack
      }
      running = RunningTransition(
        id: draft.revision, kind: isPop ? .pop : .push, from: draft.oldTop, to: top?.id,
        timeLimitMilliseconds: settings.content.transitionDeadlineMilliseconds)
      appendMoveEvents(splice, &draft, to: &running.completionEvents)
      if let top = top?.id, !isStandalone {
        if let old = draft.oldTop { running.completionEvents.append(.didHide(old, animated: true)) }
        running.completionEvents.append(.didShow(top, animated: true))
      }
    } else if let (kind, from, to) = draft.rare?.presentation, changesPresented(&draft) {
      running = RunningTransition(
        id: draft.revision, kind: kind, from: from, to: to,
        timeLimitMilliseconds: settings.content.transitionDeadlineMilliseconds)
      appendMoveEvents(nil, &draft, to: &running.completionEvents)
    } else {
      return nil
    }
    assert(running.from != nil || running.to != nil, "a transition of nothing")
    if let animation = draft.rare?.delegateAnimation {
      running.animator = animation.animator
      running.durationMilliseconds = animation.durationMilliseconds
      running.driver = animation.driver
    }
    if animations == .reduced {
      running.isReduced = true
      running.durationMilliseconds = RunningTransition.reducedDurationMilliseconds
    }
    // The deadline is at least 500 ms later than the end that was announced.
    if let duration = running.durationMilliseconds {
      running.timeLimitMilliseconds = max(running.timeLimitMilliseconds, duration + 500)
    }
    return running
  }

  /// Whether other screens are presented than before the message, or in another way.
  ///
  /// A later operation of a message may undo a presentation or dismissal.
  private func changesPresented(_ draft: inout Draft) -> Bool {
    guard let before = draft.rare?.stateBeforeMessage else { return true }
    let (old, new) = (before.state.presented.content.chain, presented.content.chain)
    return old.count != new.count
      || zip(old, new).contains { old, new in
        old.screen.id != new.screen.id || old.from != new.from || old.style != new.style
      }
  }

  /// Returns the net change of the stack's order.
  ///
  /// The method is mutating, as `events` is, because Swift would copy a borrowed controller.
  mutating func netSplice(_ draft: inout Draft) -> Splice? {
    // The runs that differ: `first..<oldEnd` of the old tail, and `at..<newEnd` of the stack.
    var at = draft.firstChangedIndex
    var first = 0
    var oldEnd = draft.oldTailIDs.count
    var newEnd = max(at, stack.count)
    while first < oldEnd, at < newEnd, draft.oldTailIDs[first] == stack[at].id {
      first += 1
      at += 1
    }
    while first < oldEnd, at < newEnd, draft.oldTailIDs[oldEnd - 1] == stack[newEnd - 1].id {
      oldEnd -= 1
      newEnd -= 1
    }
    guard first < oldEnd || at < newEnd else { return nil }
    assert(draft.oldDepth - (oldEnd - first) + (newEnd - at) == stack.count, "another stack")
    let removed =
      oldEnd - first == draft.oldTailIDs.count
      ? draft.oldTailIDs : ShortList(draft.oldTailIDs[first..<oldEnd])
    return Splice(at: at, removed: removed, insertedCount: newEnd - at)
  }

  /// Lists the changed screens of the stack in `commit`.
  ///
  /// A screen whose content is the same as before the message gets its old version back, whether it
  /// is on the stack, presented or detached.
  private mutating func noteChangedScreens(_ draft: inout Draft, _ commit: inout Commit) {
    for change in draft.originalScreens {
      let id = change.id
      var original = change.original
      if let before = draft.rare?.stateBeforeMessage { original = before.state.screen(id) }
      guard let index = index(of: id) else {
        if let place = presented.content.index(of: id) {
          let screen = presented.content.chain[place].screen
          if let original, screen.hasSameContent(as: original) {
            presented.content.chain[place].screen.version = original.version
          }
        } else if let original, detached.screen(id)?.hasSameContent(as: original) == true {
          detached.setVersion(of: id, to: original.version)
        }
        continue
      }
      if let original, stack[index].hasSameContent(as: original) {
        stack[index].version = original.version
      } else if commit.splice?.inserts(index) != true {
        commit.changedScreenIndexes.append(index)
      }
    }
    if commit.changedScreenIndexes.count > 1 { commit.changedScreenIndexes.sort() }
    assert(Set(commit.changedScreenIndexes).count == commit.changedScreenIndexes.count, "twice")
  }

  private mutating func listDetachedChanges(_ draft: inout Draft, _ commit: inout Commit) {
    if detached.hasRecords(since: draft.detachedMark) { orderAndListDetached(&draft, &commit) }
    guard let notes = draft.rare, !notes.released.isEmpty else { return }
    commit.released = notes.released.filter { key in
      guard !isKnown(key) else { return false }
      return notes.stateBeforeMessage?.state.isKnown(key) ?? true
    }
  }

  private mutating func orderAndListDetached(_ draft: inout Draft, _ commit: inout Commit) {
    let removed = commit.splice?.removed ?? []
    if let record = detached.onlyRecord(since: draft.detachedMark) {
      if mustList(record, &draft, removed) { commit.changedDetached = [record] }
    } else {
      let recent = detached.records(since: draft.detachedMark)
      if !recent.isEmpty {
        var order = CanonicalOrder(removed: Array(removed) + (draft.rare?.oldPresented ?? []))
        for record in recent { order.add(record, isListed: mustList(record, &draft, removed)) }
        detached.reorder(since: draft.detachedMark, as: order.keys)
        commit.changedDetached = order.listed
      }
    }
    assert(commit.changedDetached.allSatisfy { detached.contains($0.key) })
    if !commit.changedDetached.isEmpty, let before = draft.rare?.stateBeforeMessage {
      commit.onlyReordersDetached = commit.changedDetached.allSatisfy(before.state.hasEqualDetached)
    }
  }

  private mutating func releaseOldestDetached(
    _ limits: NavigationLimits, _ draft: inout Draft, _ commit: inout Commit
  ) {
    while detached.count > limits.detachedRecords || byteCount > limits.stateBytes,
      let oldest = detached.oldest
    {
      deleteDetached(oldest)
      if case .screen(let screen) = oldest { noteReleasedScreen(screen, &draft) }
      assert(!isKnown(oldest.key), "a record is known that made room")
      commit.released.append(oldest.key)
    }
    assert(detached.count <= limits.detachedRecords)
  }

  /// Whether the commit must list a detached record, because replay cannot derive it from the
  /// stack's change and the chains.
  private func mustList(
    _ record: DetachedRecords.Record, _ draft: inout Draft, _ removed: ShortList<ScreenID>
  ) -> Bool {
    switch record {
    case .screen(let screen):
      // Replay derives which screens were dismissed from the chains before and after.
      !removed.contains(screen.id) && draft.rare?.oldPresented.contains(screen.id) != true
        || draft.originalScreens.contains { $0.id == screen.id }
    case .button(let button):
      // Replay derives a button that left its last list, except for those that `mustListButton` names.
      draft.rare?.mustListButton(button.id) ?? false
    }
  }

  private func hasEqualDetached(_ record: DetachedRecords.Record) -> Bool {
    switch record {
    case .screen(let screen): detached.screen(screen.id)?.hasSameContent(as: screen) ?? false
    case .button(let button): detached.button(button.id) == button
    }
  }

  func isKnown(_ key: DetachedRecords.Key) -> Bool {
    switch key {
    case .screen(let id): screen(id) != nil
    case .button(let id): button(id) != nil
    }
  }

  private func topRelation(_ draft: inout Draft) -> TopRelation {
    assert(draft.firstChangedIndex <= draft.oldDepth)
    guard let top = top?.id else { return .empty }
    if top == draft.oldTop { return .same }
    // Below `firstChangedIndex` both stacks are equal. If the new stack ends there, its top was on the old
    // one.
    return draft.oldTailIDs.contains(top) || stack.count <= draft.firstChangedIndex ? .back : .new
  }

  mutating func setVersion(of part: PartName, to version: Revision) {
    switch part {
    case .bar: bar.version = version
    case .toolbar: toolbar.version = version
    case .presented: presented.version = version
    case .transition: transition.version = version
    case .environment: environment.version = version
    case .settings: settings.version = version
    }
  }

  private func hasSamePart(_ part: PartName, as other: NavigationController) -> Bool {
    switch part {
    case .bar: bar.content == other.bar.content
    case .toolbar: toolbar.content == other.toolbar.content
    case .presented: presented.content == other.presented.content
    case .transition: transition.content == other.transition.content
    case .environment: environment.content == other.environment.content
    case .settings:
      settings.content == other.settings.content && isAttached == other.isAttached
    }
  }
}

extension [NavigationEvent] {
  /// Appends events; an empty list takes over their storage instead of copying them.
  fileprivate mutating func add(_ events: [NavigationEvent]) {
    guard !events.isEmpty else { return }
    if isEmpty { self = events } else { self += events }
  }
}

/// The canonical order of the records that one revision detaches, equal in `perform` and `replay`.
///
/// Removed screens come first, in the order of `removed`. Buttons that left their last list follow,
/// in the byte order of their ids. The records that the journal lists come last.
struct CanonicalOrder {
  private let removed: [ScreenID]
  private var screenKeys: [ScreenID: DetachedRecords.Key] = [:]
  private var unlistedButtons: [ButtonID] = []
  private(set) var listed: [DetachedRecords.Record] = []

  init(removed: [ScreenID]) { self.removed = removed }

  mutating func add(_ record: DetachedRecords.Record, isListed: Bool) {
    switch record {
    case _ where isListed: listed.append(record)
    case .screen(let screen):
      assert(screenKeys[screen.id] == nil, "\(screen.id.text) is detached twice")
      assert(removed.contains(screen.id), "nothing tells where \(screen.id.text) stood")
      screenKeys[screen.id] = record.key
    case .button(let button): unlistedButtons.append(button.id)
    }
  }

  var keys: [DetachedRecords.Key] {
    let dropped = unlistedButtons.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    assert(Set(unlistedButtons).count == unlistedButtons.count, "a button is detached twice")
    return removed.compactMap { screenKeys[$0] } + dropped.map { .button($0) } + listed.map(\.key)
  }
}

/// The notes of a `Draft` that most messages do not make.
///
/// Law: a draft with a new `RareDraftNotes` behaves like a draft without one.
/// Each draft has its own `RareDraftNotes`, because `Draft` is not copyable.
final class RareDraftNotes {
  /// The ids of the presented screens before the message.
  var oldPresented: [ScreenID] = []
  /// All presentations and dismissals together: the last kind, the screen visible before, the one
  /// visible now.
  var presentation: (kind: RunningTransition.Kind, from: ScreenID?, to: ScreenID?)?
  /// The screens that operations put in the place of others, and those others.
  ///
  /// No `didPush` and no `didPop` reports these screens.
  var exchanged: Set<ScreenID> = []
  /// A screen that an operation put on top, and whether displays then animate a pop.
  ///
  /// If this is nil, the stacks before and after the message decide the kind of the transition.
  var newTopDirection: (top: ScreenID, isBack: Bool)?
  /// The results that operations gave for the screens that they removed.
  var screenResults: [ScreenID: OpaqueJSON] = [:]
  /// The buttons in the lists that the current operation names.
  ///
  /// The nav learns of a new button only when the operation has passed all checks.
  var namedButtons: [ButtonID: Button] = [:]
  /// The buttons that operations made or edited.
  var touchedButtons: Set<ButtonID> = []
  var released: [DetachedRecords.Key] = []
  /// The top when an operation last set the bar's visibility; nil if none did.
  var topAtBarSet: ScreenID?
  /// The top when an operation set the toolbar's visibility.
  var topAtToolbarSet: ScreenID?
  /// The events that come last in the revision.
  var finalEvents: [NavigationEvent] = []
  /// The delegates' answers for the transition that the message may begin; nil without any.
  var delegateAnimation: Animation?
  /// Events to report before and after those of the stack's change.
  var eventsBeforeStackChange: [NavigationEvent] = []
  var eventsAfterStackChange: [NavigationEvent] = []
  /// The state before a message that creates the nav, has several operations, or updates a
  /// duplicate.
  ///
  /// `finish` compares the new state with this one, to find changes that a later operation undid.
  var stateBeforeMessage: StateBefore?

  /// Whether replay cannot derive that a button left its last list.
  ///
  /// Replay cannot do so if the button was also edited or was detached before the message. If a
  /// screen was released, replay does not know which buttons had left that screen before.
  func mustListButton(_ button: ButtonID) -> Bool {
    touchedButtons.contains(button) || !released.isEmpty
      || stateBeforeMessage?.state.detached.button(button) != nil
  }
}

/// The state before a message, in an object of its own because most messages keep none.
///
/// To test an optional controller for nil, Swift copies its 192 bytes.
final class StateBefore: Sendable {
  let state: NavigationController

  init(_ state: NavigationController) { self.state = state }
}
