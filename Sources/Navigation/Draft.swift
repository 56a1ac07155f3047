/// What a message has changed so far, kept while its operations run.
struct Draft {
  /// The revision being made.
  let revision: Revision
  /// The message's flag, or what `show` made of it.
  var isAnimated: Bool?
  /// The number of screens and of buttons given an identity by the daemon.
  var assignedScreens = 0
  var assignedButtons = 0
  /// The depth before.
  let oldCount: Int
  /// The top before.
  let oldTop: ScreenID?
  /// Whether the controller was attached before.
  let wasAttached: Bool
  /// The lowest index at which the stack differs from what it was.
  var lowest: Int
  /// The identities from `lowest` on, before.
  var oldTail: [ScreenID] = []
  /// The presented screens, before.
  let oldChain: [ScreenID]
  /// What was presented and dismissed, in all: the screens that were and are visible.
  private(set) var presentation: (kind: RunningTransition.Kind, from: ScreenID?, to: ScreenID?)?
  /// Whether a whole-stack replacement was among the operations.
  var replacesWhole = false
  /// The screens whose content changed, with what it was; nil for new ones.
  var touched: [(id: ScreenID, original: Screen?)] = []
  /// The buttons that the lists of the operation under way name.
  ///
  /// A new one is unknown to the nav until the operation has passed all checks.
  var named: [ButtonID: Button] = [:]
  /// The buttons made or edited.
  var touchedButtons: Set<ButtonID> = []
  /// The records that were given up.
  var released: [DetachedRecords.Key] = []
  /// The parts that changed.
  var parts = PartSet()
  /// What showed of bar and toolbar before.
  let oldVisibility: BarVisibility
  /// The top when an operation last set the bar's visibility; nil if none did.
  var topOfBarSet: ScreenID?
  /// The events that come last in the revision.
  var tail: [NavigationEvent] = []
  /// What an animator delegate said of the transition that the message may begin.
  var animation: Animation?
  /// Events before and behind those of the stack's change.
  var beginning: [NavigationEvent] = []
  var ending: [NavigationEvent] = []
  /// Whether the operation tells itself what the stack's change means.
  var hasOwnEvents = false
  /// Where the order of detached records stood.
  let mark: DetachedRecords.Mark
  /// The bytes of all records before, without those of screens that were given up untouched.
  var recordBytes: Int
  /// Whether a button was touched that other screens show too.
  var touchesSharedButtons = false
  /// The state before, if more than one operation runs; it shows which changes a later operation undid.
  var before: NavigationController?

  init(of controller: borrowing NavigationController, isAnimated: Bool?) {
    revision = controller.revision.next
    self.isAnimated = isAnimated
    oldCount = controller.stack.count
    oldTop = controller.top?.id
    wasAttached = controller.isAttached
    oldVisibility = controller.visibility
    lowest = oldCount
    oldChain = controller.presented.isDefault ? [] : controller.presentedScreens.map(\.id)
    mark = controller.detached.mark
    recordBytes = controller.recordBytes
  }

  /// Notes that the stack is about to differ from `index` on.
  mutating func lower(to index: Int, of stack: [Screen]) {
    guard index < lowest else { return }
    let ids = stack[index..<lowest].map(\.id)
    if oldTail.isEmpty { oldTail = ids } else { oldTail.insert(contentsOf: ids, at: 0) }
    lowest = index
  }

  /// Notes what became visible by presenting or dismissing; the last one counts, since the first.
  mutating func notePresentation(
    _ kind: RunningTransition.Kind, from: ScreenID?, to: ScreenID?
  ) {
    presentation = (kind, presentation.map(\.from) ?? from, to)
  }

  /// Notes that the content of a screen changes; the first original counts.
  mutating func touch(_ id: ScreenID, original: Screen?) {
    guard !touched.contains(where: { $0.id == id }) else { return }
    touched.append((id, original))
  }

  /// The identity of the next new screen.
  mutating func nextScreenID() -> ScreenID {
    assignedScreens += 1
    return ScreenID(assignedAt: revision, ordinal: assignedScreens)
  }

  /// The identity of the next new button.
  mutating func nextButtonID() -> ButtonID {
    assignedButtons += 1
    return ButtonID(assignedAt: revision, ordinal: assignedButtons)
  }
}

extension NavigationController {
  /// Puts detached records in their canonical order, releases the oldest beyond the limit, and says
  /// what the message changed in all.
  ///
  /// - Parameters:
  ///   - draft: what the operations noted; lent to every step as `inout` because a value of its size
  ///     would be copied to be lent otherwise.
  ///   - limits: what bounds the nav.
  ///   - commit: what changed; an empty one has left the detached records in any order, and the caller
  ///     goes back to the state before.
  mutating func finish(_ draft: inout Draft, limits: NavigationLimits, _ commit: inout Commit) {
    commit.isAnimated = draft.isAnimated ?? false
    commit.splice = netSplice(&draft)
    if draft.isAnimated == true, let running = openTransition(&draft, commit.splice) {
      setTransition(running, &draft)
    }
    updateVisibility(&draft)
    noteChangedScreens(&draft, &commit)
    orderDetached(&draft, &commit)
    commit.parts = draft.parts
    if let before = draft.before {
      for part in draft.parts where hasSamePart(part, as: before) {
        commit.parts.remove(part)
        stamp(part, with: before.version(of: part))
      }
    }
    if draft.replacesWhole { commit.relation = relation(&draft) }
    if !transition.isDefault { commit.completion = transition.content.running?.completion ?? [] }
    commit.events.add(draft.beginning)
    commit.events.add(events(&draft, commit.splice))
    commit.events.add(draft.ending)
    commit.events.add(draft.tail)
    if !commit.isEmpty { makeRoom(limits, &draft, &commit) }
    reckon(&draft, &commit)
  }

  /// The transition that an animated change of the top, or else of what is presented, begins.
  private func openTransition(_ draft: inout Draft, _ splice: Splice?) -> RunningTransition? {
    guard !draft.hasOwnEvents,
      transition.isDefault || transition.content.running == nil,
      isStandalone || isAttached && draft.wasAttached
    else { return nil }
    var running: RunningTransition
    if let splice, top?.id != draft.oldTop {
      let relation = relation(&draft)
      let isPop = relation == .back || relation == .empty
      running = RunningTransition(
        id: draft.revision, kind: isPop ? .pop : .push, from: draft.oldTop, to: top?.id,
        deadline: settings.content.transitionDeadline)
      running.completion = moves(splice, &draft)
      if let top = top?.id, !isStandalone {
        running.completion.append(.didShow(top, animated: true))
      }
    } else if let (kind, from, to) = draft.presentation {
      running = RunningTransition(
        id: draft.revision, kind: kind, from: from, to: to,
        deadline: settings.content.transitionDeadline)
    } else {
      return nil
    }
    if let animation = draft.animation {
      running.animator = animation.animator
      running.duration = animation.duration
      running.driver = animation.driver
      // An animation that says how long it takes is given that time and a little more.
      running.deadline = max(running.deadline, (animation.duration ?? 0) + 500)
    }
    return running
  }

  private func netSplice(_ draft: inout Draft) -> Splice? {
    // The ends of the run that differs, in the old tail and in the stack.
    var at = draft.lowest
    var first = 0
    var oldEnd = draft.oldTail.count
    var newEnd = max(at, stack.count)
    while first < oldEnd, at < newEnd, draft.oldTail[first] == stack[at].id {
      first += 1
      at += 1
    }
    while first < oldEnd, at < newEnd, draft.oldTail[oldEnd - 1] == stack[newEnd - 1].id {
      oldEnd -= 1
      newEnd -= 1
    }
    guard first < oldEnd || at < newEnd else { return nil }
    let removed =
      oldEnd - first == draft.oldTail.count ? draft.oldTail : Array(draft.oldTail[first..<oldEnd])
    return Splice(at: at, removed: removed, insertedCount: newEnd - at)
  }

  /// A content that is what it was has the version it had, wherever the screen is now.
  private mutating func noteChangedScreens(_ draft: inout Draft, _ commit: inout Commit) {
    for touched in draft.touched {
      let id = touched.id
      var original = touched.original
      if let before = draft.before { original = before.screen(id) }
      guard let index = index(of: id) else {
        if let place = presented.content.index(of: id) {
          let screen = presented.content.chain[place].screen
          if let original, screen.hasSameContent(as: original) {
            presented.content.chain[place].screen.version = original.version
          }
        } else if let original, detached.screen(id)?.hasSameContent(as: original) == true {
          detached.stamp(id, with: original.version)
        }
        continue
      }
      if let original, stack[index].hasSameContent(as: original) {
        stack[index].version = original.version
      } else if commit.splice?.inserts(index) != true {
        commit.changedScreens.append(index)
      }
    }
    if commit.changedScreens.count > 1 { commit.changedScreens.sort() }
  }

  private mutating func orderDetached(_ draft: inout Draft, _ commit: inout Commit) {
    let removed = commit.splice?.removed ?? []
    if let record = detached.onlyRecord(since: draft.mark) {
      if isListed(record, &draft, removed) { commit.detached = [record] }
    } else {
      let recent = detached.records(since: draft.mark)
      if !recent.isEmpty {
        var order = CanonicalOrder(removed: removed + draft.oldChain)
        for record in recent { order.add(record, isListed: isListed(record, &draft, removed)) }
        detached.reorder(since: draft.mark, as: order.keys)
        commit.detached = order.listed
      }
    }
    if !commit.detached.isEmpty, let before = draft.before {
      commit.onlyMovesDetached = commit.detached.allSatisfy(before.holdsDetached)
    }
    guard !draft.released.isEmpty else { return }
    commit.released = draft.released.filter { key in
      guard !isKnown(key) else { return false }
      return draft.before?.isKnown(key) ?? true
    }
  }

  private mutating func makeRoom(
    _ limits: NavigationLimits, _ draft: inout Draft, _ commit: inout Commit
  ) {
    while detached.count > limits.detachedRecords || byteCount > limits.stateBytes,
      let oldest = detached.oldest
    {
      forget(oldest)
      if case .screen(let screen) = oldest { noteForgotten(screen, &draft) }
      commit.released.append(oldest.key)
    }
  }

  /// Whether the journal must name a detached record because replaying the lists alone does not
  /// tell it.
  private func isListed(
    _ record: DetachedRecords.Record, _ draft: inout Draft, _ removed: [ScreenID]
  ) -> Bool {
    switch record {
    case .screen(let screen):
      // The chains before and after show which screens were dismissed.
      !removed.contains(screen.id) && !draft.oldChain.contains(screen.id)
        || draft.touched.contains { $0.id == screen.id }
    case .button(let button):
      // One that passed through a list only moved. And if a screen was released, its buttons went
      // with it unless they had left it before.
      draft.touchedButtons.contains(button.id) || !draft.released.isEmpty
        || draft.before?.detached.button(button.id) != nil
    }
  }

  private func holdsDetached(_ record: DetachedRecords.Record) -> Bool {
    switch record {
    case .screen(let screen): detached.screen(screen.id)?.hasSameContent(as: screen) ?? false
    case .button(let button): detached.button(button.id) == button
    }
  }

  func isKnown(_ key: DetachedRecords.Key) -> Bool {
    switch key {
    case .screen(let id): screen(id) != nil
    case .button(let id): shown[id] != nil || detached.button(id) != nil
    }
  }

  private func relation(_ draft: inout Draft) -> Relation {
    guard let top = top?.id else { return .empty }
    if top == draft.oldTop { return .same }
    // Below `lowest` old and new stack are the same, and the new top is there if nothing is above.
    return draft.oldTail.contains(top) || stack.count <= draft.lowest ? .back : .new
  }

  /// The events of a change of the stack; a detached controller has none.
  private func events(_ draft: inout Draft, _ splice: Splice?) -> [NavigationEvent] {
    if draft.hasOwnEvents || !isStandalone && !isAttached { return [] }
    var began: RunningTransition?
    if !transition.isDefault, let running = transition.content.running,
      running.id == draft.revision
    {
      began = running
    }
    if isStandalone {
      return began.map { [.transitionBegan($0)] } ?? splice.map { moves($0, &draft) } ?? []
    }
    guard isAttached, let top = top?.id else { return [] }
    guard draft.wasAttached else {
      return [.willShow(top, animated: false), .didShow(top, animated: false)]
    }
    if let began, began.isOfStack {
      return [.willShow(top, animated: true), .transitionBegan(began)]
    }
    let presenting: [NavigationEvent] = began.map { [.transitionBegan($0)] } ?? []
    guard let splice else { return presenting }
    guard top != draft.oldTop else { return moves(splice, &draft) + presenting }
    return [.willShow(top, animated: false)] + moves(splice, &draft)
      + [.didShow(top, animated: false)]
  }

  /// What went and what came, one by one; a whole-stack replacement does not tell.
  private func moves(_ splice: Splice, _ draft: inout Draft) -> [NavigationEvent] {
    guard !draft.replacesWhole else { return [] }
    let inserted = stack[splice.at..<splice.at + splice.insertedCount].map(\.id)
    let popped = splice.removed.reversed().filter { !inserted.contains($0) }
    let pushed = inserted.filter { !splice.removed.contains($0) }
    return popped.map { .didPop($0) } + pushed.map { .didPush($0) }
  }

  mutating func stamp(_ part: PartName, with version: Revision) {
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
  /// Appends events; takes their storage over as long as there are no others.
  fileprivate mutating func add(_ events: [NavigationEvent]) {
    guard !events.isEmpty else { return }
    if isEmpty { self = events } else { self += events }
  }
}

/// The order of records detached by one revision, the same when it is made and when it is replayed:
/// removed screens as they stood, then buttons no longer shown by identity, then those the journal
/// names.
struct CanonicalOrder {
  private let removed: [ScreenID]
  private var screens: [ScreenID: DetachedRecords.Key] = [:]
  private var buttons: [ButtonID] = []
  private(set) var listed: [DetachedRecords.Record] = []

  init(removed: [ScreenID]) { self.removed = removed }

  mutating func add(_ record: DetachedRecords.Record, isListed: Bool) {
    switch record {
    case _ where isListed: listed.append(record)
    case .screen(let screen): screens[screen.id] = record.key
    case .button(let button): buttons.append(button.id)
    }
  }

  var keys: [DetachedRecords.Key] {
    let dropped = buttons.sorted { $0.text.utf8.lexicographicallyPrecedes($1.text.utf8) }
    return removed.compactMap { screens[$0] } + dropped.map { .button($0) } + listed.map(\.key)
  }
}
