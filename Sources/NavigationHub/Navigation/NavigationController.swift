package import NavigationCore

/// A headless UINavigationController: stack, bar, toolbar, presentation, transition, environment
/// and settings as one value that changes in one commit.
///
/// Laws: a commit raises `revision` by exactly 1; a refusal and an operation without effect leave
/// every member as it was; `bar.items` is always `stack.map(\.item)`, because there is no second
/// list.
package struct NavigationController: Sendable {
  package internal(set) var revision: Revision
  /// UIKit's `viewControllers`: index 0 is the root, the last one is on top.
  package internal(set) var stack: [Screen] = []
  /// Whether the controller is on display, and so must have a root.
  package internal(set) var isAttached = false
  package internal(set) var bar: Part<Bar>
  package internal(set) var toolbar: Part<Toolbar>
  package internal(set) var presented: Part<Presentation>
  package internal(set) var transition: Part<Transition>
  package internal(set) var environment: Part<Environment>
  /// The settings; on the wire, `isAttached` belongs to this part.
  package internal(set) var settings: Part<Settings>
  /// Whether this is a standalone bar: its stack holds items, and the root may be popped.
  package internal(set) var isStandalone = false
  package internal(set) var detached = DetachedRecords()

  /// The buttons that any screen holds, each with the number of its places.
  var shownButtons: [ButtonID: ShownButton] = [:]
  /// The estimated encoded size of all screens with their buttons, in bytes.
  var recordBytes = 0

  struct ShownButton: Sendable {
    var button: Button
    /// The number of places in lists of screens where the button stands.
    var placeCount: Int
  }

  /// Whether the state has a transition, a display owner or a delegate's orientations, which the
  /// next start of the daemon must end.
  package var needsRecovery: Bool {
    // Every commit asks, and both parts are almost always at their defaults.
    if transition.isDefault, environment.isDefault { return false }
    let environment = environment.content
    return transition.content.running != nil || environment.owner != nil
      || environment.delegateOrientations != nil
  }

  /// Makes an empty, detached controller.
  ///
  /// `revision` is its revision and the version of its six parts.
  package init(revision: Revision) {
    self.revision = revision
    bar = Part(version: revision)
    toolbar = Part(version: revision)
    presented = Part(version: revision)
    transition = Part(version: revision)
    environment = Part(version: revision)
    settings = Part(version: revision)
  }

  /// UIKit's `topViewController`.
  package var top: Screen? { stack.last }

  /// The screen below the top, which supplies UIKit's `backItem`; nil with fewer than two screens.
  package var backScreen: Screen? { stack.count >= 2 ? stack[stack.count - 2] : nil }

  /// UIKit's `visibleViewController`.
  package var visible: Screen? {
    presented.isDefault ? stack.last : presented.content.chain.last?.screen ?? stack.last
  }

  /// The index of a screen on the stack; searches from the top, O(depth).
  package func index(of id: ScreenID) -> Int? { stack.lastIndex { $0.hasID(id) } }

  /// Finds a screen on the stack, in the presentation chain or among the detached ones.
  package func screen(_ id: ScreenID) -> Screen? {
    if let index = index(of: id) { return stack[index] }
    if !presented.isDefault, let index = presented.content.index(of: id) {
      return presented.content.chain[index].screen
    }
    return detached.screen(id)
  }

  /// Finds a button in a list of a screen or among the detached ones.
  func button(_ id: ButtonID) -> Button? { shownButtons[id]?.button ?? detached.button(id) }

  package var guardPolicy: GuardPolicy {
    settings.isDefault ? .removal : settings.content.guardPolicy
  }

  package func version(of part: PartName) -> Revision {
    switch part {
    case .bar: bar.version
    case .toolbar: toolbar.version
    case .presented: presented.version
    case .transition: transition.version
    case .environment: environment.version
    case .settings: settings.version
    }
  }
}

extension NavigationController: Equatable {
  /// Equality of the whole state; `shownButtons` and `recordBytes` are derived and not compared.
  package static func == (left: NavigationController, right: NavigationController) -> Bool {
    left.revision == right.revision && left.isStandalone == right.isStandalone
      && left.stack == right.stack
      && left.isAttached == right.isAttached && left.bar == right.bar
      && left.toolbar == right.toolbar && left.presented == right.presented
      && left.transition == right.transition && left.environment == right.environment
      && left.settings == right.settings && left.detached == right.detached
  }
}

extension NavigationController {
  /// The names of the invariants that do not hold; empty for a sound state.
  ///
  /// O(state). Three hold by construction: the bar has no item list of its own, top and root are
  /// read off the stack, and there is one transition part.
  package func violatedInvariants() -> [String] {
    var violated: [String] = []
    if isAttached, stack.isEmpty { violated.append("attached without a root") }
    let active = stack + presentedScreens
    if Set(active.map(\.id)).count != active.count {
      violated.append("screen twice in stack and presentation chain")
    }
    if active.contains(where: { detached.screen($0.id) != nil }) {
      violated.append("screen both active and detached")
    }
    let chain = presented.isDefault ? [] : presented.content.chain
    if zip(chain, chain.dropFirst()).contains(where: { $1.from != $0.screen.id }) {
      violated.append("presented screen not presented by the one before")
    }
    if isStandalone, isAttached || !chain.isEmpty {
      violated.append("standalone bar attached or presenting")
    }
    if stack.contains(where: { $0.kind != .content }) {
      violated.append("stack holds a screen that is not content")
    }
    let screens = active + detachedScreens
    if screens.contains(where: { $0.version > revision }) {
      violated.append("record newer than the revision")
    }
    for screen in screens where !screen.hasDefaultDetails && !screen.item.sidesAreDistinct {
      violated.append("button on both sides of \(screen.id.text)")
    }
    if screens.reduce(0, { $0 + $1.byteCount }) != recordBytes {
      violated.append("byte count differs from the records")
    }
    if showsAutomaticallyHiddenBar { violated.append("a bar shows that is noted as hidden") }
    if !shownButtonsMatch(screens) { violated.append("button registry differs from the lists") }
    return violated
  }

  /// The detached screens, oldest first; O(detached records).
  package var detachedScreens: [Screen] {
    detached.all.compactMap { record in
      guard case .screen(let screen) = record else { return nil }
      return screen
    }
  }

  private func shownButtonsMatch(_ screens: [Screen]) -> Bool {
    if shownButtons.isEmpty, screens.allSatisfy(\.hasDefaultDetails) { return true }
    var places: [ButtonID: Int] = [:]
    for screen in screens {
      for button in screen.buttons {
        guard shownButtons[button.id]?.button == button else { return false }
        places[button.id, default: 0] += 1
      }
    }
    return places == shownButtons.mapValues(\.placeCount)
      && shownButtons.keys.allSatisfy { detached.button($0) == nil }
  }
}

extension NavigationItem {
  var sidesAreDistinct: Bool {
    let left = Set(leftItems.map(\.id))
    return rightItems.allSatisfy { !left.contains($0.id) }
  }
}

/// The daemon's limits, bar classes and route reader, by which the rules judge any nav.
package struct NavigationContext: Sendable {
  package var limits = NavigationLimits()
  /// The declared classes by name: true for one based on a bar, false for one based on a toolbar.
  package var isBarByClass: [Text: Bool] = [:]
  /// Reads the route templates of the settings, which were checked when a client set them.
  package var routeTemplates: @Sendable (OpaqueJSON) -> [RouteTemplate] = { _ in [] }
  /// Compares two values as JSON: members in any order, numbers by value.
  package var areEqual: @Sendable (OpaqueJSON, OpaqueJSON) -> Bool = { $0 == $1 }
}

/// The result of one message: an output for each operation, and the commit.
package struct OperationResult: Sendable {
  /// The outputs, in the order of the operations.
  package var outputs = ShortList<OperationOutput>()
  package var isChanged: Bool
  /// The net effect; without a meaning unless `isChanged`.
  package var effect: Commit

  /// The commit; nil if the message changed nothing.
  ///
  /// The hub reads `effect` instead, which needs no copy.
  package var commit: Commit? { isChanged ? effect : nil }
}

extension NavigationController {
  /// Performs the operations of one message, 1 … 16, in order, as one commit.
  ///
  /// All or nothing: if one is refused, or if together they change nothing, the state is as it was.
  /// If `isAnimated` is nil, it stands for false, and for true in `show`. `animation` has the
  /// delegates' answers for the transition that the message may begin.
  package mutating func perform(
    _ operations: [Operation], isAnimated: Bool?, animation: Animation? = nil,
    in context: NavigationContext
  ) throws(Refusal) -> OperationResult {
    assert(operations.count <= 16, "\(operations.count) operations in one message")
    detached.removeEmptySlots()
    var draft = Draft(of: &self, isAnimated: isAnimated)
    if let animation { draft.rareNotes().delegateAnimation = animation }
    return try perform(operations, draft: &draft, context: context, isCreation: false)
  }

  /// Creates a controller and performs the operations behind the creation, all as revision 1.
  ///
  /// An error counts the creation as the first operation.
  package static func create(
    _ creation: Creation, then operations: [Operation], isAnimated: Bool?,
    in context: NavigationContext
  ) throws(Refusal) -> (NavigationController, OperationResult) {
    var controller = NavigationController(revision: Revision(0))
    var draft = Draft(of: &controller, isAnimated: isAnimated)
    do {
      try controller.begin(with: creation, draft: &draft, context: context)
    } catch {
      throw Refusal(operationIndex: 0, error: error)
    }
    for part in PartName.allCases { controller.setVersion(of: part, to: draft.revision) }
    do {
      let result = try controller.perform(
        operations, draft: &draft, context: context, isCreation: true)
      assert(controller.revision == Revision(1))
      assert(result.commit != nil, "a creation is a revision")
      return (controller, result)
    } catch {
      throw Refusal(operationIndex: error.operationIndex + 1, error: error.error)
    }
  }

  private mutating func perform(
    _ operations: [Operation], draft: inout Draft, context: NavigationContext, isCreation: Bool
  ) throws(Refusal) -> OperationResult {
    // A single operation checks everything before it changes anything, so it needs no copy; the
    // update of a duplicate makes one itself. Several operations change the value itself; `stateBeforeMessage`,
    // a copy that shares all storage, restores it if one of them is refused.
    if isCreation {
      draft.rareNotes().stateBeforeMessage = StateBefore(emptyController(at: draft.revision))
    } else if operations.count > 1 {
      draft.rareNotes().stateBeforeMessage = StateBefore(self)
    }
    var outputs = ShortList<OperationOutput>()
    // A span lends the operations; a subscript of the array would copy them.
    let operations = operations.span
    for index in operations.indices {
      if let notes = draft.rare, !notes.namedButtons.isEmpty { notes.namedButtons = [:] }
      do throws(NavigationError) {
        outputs.append(try run(operations[index], draft: &draft, context: context))
      } catch {
        if let before = draft.rare?.stateBeforeMessage { self = before.state }
        throw Refusal(operationIndex: index, error: isStandalone ? error.inItemTerms : error)
      }
    }
    assert(outputs.count == operations.count)
    var commit = Commit(revision: draft.revision, splice: netSplice(&draft))
    finish(&draft, limits: context.limits, &commit)
    let isChanged = isCreation || !commit.isEmpty
    if !isChanged, let before = draft.rare?.stateBeforeMessage { self = before.state }
    assert(revision.next == draft.revision, "nothing changed but the revision")
    if isChanged { revision = draft.revision }
    // `consume` moves the commit; a copy costs a retain for each of its lists.
    return OperationResult(
      outputs: consume outputs, isChanged: isChanged, effect: consume commit)
  }

  /// The state before a creation, for `finish` to compare with: a controller without content.
  private func emptyController(at revision: Revision) -> NavigationController {
    var controller = NavigationController(revision: revision)
    controller.isStandalone = isStandalone
    return controller
  }

  private mutating func run(
    _ operation: Operation, draft: inout Draft, context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .push(let argument, let policy): return try push(argument, policy, &draft, context)
    case .show(let argument, let policy):
      if draft.isAnimated == nil { draft.isAnimated = true }
      return try push(argument, policy, &draft, context)
    case .pop: return .popped(pop(&draft))
    case .popTo(let target, let inclusive):
      return .poppedAll(try pop(to: target, inclusive: inclusive, &draft))
    case .popToRoot: return .poppedAll(pop(downTo: 0, &draft))
    case .setStack(let arguments): return try setStack(arguments, &draft, context)
    case .replace(let id, let argument, let isBack):
      return try replace(id, with: argument, isBack: isBack, &draft, context)
    case .insert(let argument, let place): return try insert(argument, place, &draft, context)
    case .remove(let ids): return .poppedAll(try remove(ids, &draft))
    case .createScreen(let record, let replaces):
      return try createScreen(record, replaces: replaces, &draft, context)
    case .setScreen(let id, let edits): try editScreen(id, edits, [], &draft, context)
    case .releaseScreen(let id): try releaseScreen(id, &draft)
    case .setItem(let id, let edits, let requireOnStack):
      if requireOnStack { _ = try requiredIndex(of: id) }
      try editScreen(id, [], edits, &draft, context)
    case .createButton(let record): return try createButton(record, &draft, context)
    case .setButton(let id, let edits): try setButton(id, edits, &draft, context)
    case .releaseButton(let id): try releaseButton(id, &draft)
    case .activateButton(let id, let element): return try activate(id, element, &draft, context)
    case .configure(let edits): try configure(edits, &draft, context)
    case .attach: try attach(&draft)
    case .detach: setAttached(false, &draft)
    case .present(let argument, let presenter, let style):
      return try present(argument, from: presenter, style: style, &draft, context)
    case .dismiss(let presenter): return .dismissed(try dismiss(from: presenter, &draft))
    case .returning(let removal, let result):
      let output = try run(removal, draft: &draft, context: context)
      if let screen = output.lowestRemoved { draft.rareNotes().screenResults[screen] = result }
      return output
    case .swipeDown: return .dismissed(try swipeDown(&draft))
    case .open(let route, let role, let over): return try open(route, role, over, &draft, context)
    case .restore(let entries, let root): return try restore(entries, root, &draft, context)
    case .revert(_, let stack): return try revert(to: stack, &draft, context)
    case .backTap: return try backTap(&draft)
    case .backKey: return try backKey(&draft, context)
    case .backMenu(let id): return .poppedAll(try backMenu(id, &draft))
    case .setBar(let edits): try setBar(edits, &draft, context)
    case .setToolbar(let edits): toolbar.change(.toolbar, &draft) { $0.apply(edits) }
    case .setBarHidden(let isHidden): setBarHidden(isHidden, &draft)
    case .setToolbarHidden(let isHidden): setToolbarHidden(isHidden, &draft)
    case .setAppearance(let slot, let object, let screen):
      try setAppearance(slot, object, of: screen, &draft, context)
    case .setProxy(let name, let edits): try setProxy(name, edits, &draft, context)
    case .setEnvironment(let edits): setEnvironment(edits, &draft)
    case .tapContent: try tapContent(&draft)
    case .swipeContent(let direction): try swipeContent(direction, &draft)
    case .completeTransition(let id): try completeTransition(id, &draft)
    case .beginGesture(let isFullScreen, let translation, let owner):
      return try beginGesture(isFullScreen, translation, owner, &draft)
    case .updateGesture(let value): return try updateGesture(value)
    case .finishGesture: return .popped(try finishGesture(&draft))
    case .cancelGesture: try cancelGesture(&draft)
    case .expireTransition: expireTransition(&draft)
    case .interruptTransition(let value): endTransition(.interrupted, progress: value, &draft)
    case .recoverAfterRestart: recoverAfterRestart(&draft)
    case .adoptLooks(let looks): adoptLooks(looks, &draft)
    case .setDisplayOwner(let name): environment.change(.environment, &draft) { $0.owner = name }
    case .setOrientations(let value): setOrientations(value, &draft)
    }
    return .nothing
  }

  private mutating func setOrientations(_ value: DelegateOrientations?, _ draft: inout Draft) {
    environment.change(.environment, &draft) { $0.delegateOrientations = value }
  }
}
