/// The daemon's limits, bar classes and route reader, by which the rules judge any nav.
package struct NavigationContext: Sendable {
  /// The limits of the nav.
  package var limits: NavigationLimits
  /// The declared classes by name: true for one based on a bar, false for one based on a toolbar.
  package var classes: [String: Bool]
  /// Reads the route templates of the settings, which were checked when a client set them.
  package var routeTemplates: @Sendable (OpaqueJSON) -> [RouteTemplate]

  /// Makes a context.
  package init(
    limits: NavigationLimits = NavigationLimits(), classes: [String: Bool] = [:],
    routeTemplates: @escaping @Sendable (OpaqueJSON) -> [RouteTemplate] = { _ in [] }
  ) {
    self.limits = limits
    self.classes = classes
    self.routeTemplates = routeTemplates
  }
}

/// The result of one message: an output for each operation, and the commit.
package struct OperationResult: Sendable {
  /// The outputs, in the order of the operations.
  package var outputs: [OperationOutput] = []
  /// The commit; nil if the message changed nothing.
  package var commit: Commit?
}

extension NavigationController {
  /// Performs the operations of one message in order, as one commit.
  ///
  /// All or nothing: if one is refused, or if together they change nothing, the state is as it was.
  ///
  /// - Parameters:
  ///   - operations: 1 … 16 operations.
  ///   - isAnimated: the message's flag; nil stands for false, and for true in `show`.
  ///   - animation: the delegates' answers for the transition that the message may begin.
  ///   - context: limits and declared classes.
  /// - Returns: an output for each operation, and the commit.
  /// - Throws: which operation is refused, and why.
  package mutating func perform(
    _ operations: [Operation], isAnimated: Bool?, animation: Animation? = nil,
    in context: NavigationContext
  ) throws(Refusal) -> OperationResult {
    assert(operations.count <= 16, "\(operations.count) operations in one message")
    detached.closeHoles()
    var draft = Draft(of: self, isAnimated: isAnimated)
    draft.animation = animation
    return try perform(operations, draft: &draft, context: context, isCreation: false)
  }

  /// Creates a controller and performs the operations behind the creation, all as revision 1.
  ///
  /// - Throws: which operation is refused, counting the creation as the first.
  package static func create(
    _ creation: Creation, then operations: [Operation], isAnimated: Bool?,
    in context: NavigationContext
  ) throws(Refusal) -> (NavigationController, OperationResult) {
    var controller = NavigationController(revision: Revision(0))
    var draft = Draft(of: controller, isAnimated: isAnimated)
    do {
      try controller.adopt(creation, draft: &draft, context: context)
    } catch {
      throw Refusal(index: 0, error: error)
    }
    for part in PartName.allCases { controller.stamp(part, with: draft.revision) }
    do {
      let result = try controller.perform(
        operations, draft: &draft, context: context, isCreation: true)
      assert(controller.revision == Revision(1))
      assert(result.commit != nil, "a creation is a revision")
      return (controller, result)
    } catch {
      throw Refusal(index: error.index + 1, error: error.error)
    }
  }

  private mutating func perform(
    _ operations: [Operation], draft: inout Draft, context: NavigationContext, isCreation: Bool
  ) throws(Refusal) -> OperationResult {
    // A single operation checks everything before it changes anything, so it needs no copy. Several
    // operations change the value itself; `before`, a copy that shares all storage, restores it if
    // one of them is refused.
    if isCreation {
      draft.before = blank(at: draft.revision)
    } else if operations.count > 1 {
      draft.before = self
    }
    var outputs: [OperationOutput] = []
    outputs.reserveCapacity(operations.count)
    for index in operations.indices {
      if !draft.named.isEmpty { draft.named = [:] }
      do throws(NavigationError) {
        // The span lends the operation; an array subscript would copy it.
        outputs.append(try run(operations.span[index], draft: &draft, context: context))
      } catch {
        if let before = draft.before { self = before }
        throw Refusal(index: index, error: isStandalone ? error.ofItem : error)
      }
    }
    assert(outputs.count == operations.count)
    var commit = Commit(revision: draft.revision)
    finish(&draft, limits: context.limits, &commit)
    guard isCreation || !commit.isEmpty else {
      if let before = draft.before { self = before }
      assert(revision.next == draft.revision, "nothing changed but the revision")
      return OperationResult(outputs: outputs)
    }
    revision = draft.revision
    // `consume` moves the commit; a copy costs a retain for each of its lists.
    return OperationResult(outputs: consume outputs, commit: consume commit)
  }

  /// The state before a creation, for `finish` to compare with: a controller without content.
  private func blank(at revision: Revision) -> NavigationController {
    var controller = NavigationController(revision: revision)
    controller.isStandalone = isStandalone
    return controller
  }

  private mutating func run(
    _ operation: Operation, draft: inout Draft, context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .push(let argument, let onDuplicate):
      return try push(argument, onDuplicate, &draft, context)
    case .show(let argument, let onDuplicate):
      if draft.isAnimated == nil { draft.isAnimated = true }
      return try push(argument, onDuplicate, &draft, context)
    case .pop: return .popped(pop(&draft))
    case .popTo(let target): return .poppedAll(try pop(to: target, &draft))
    case .popToRoot: return .poppedAll(pop(downTo: 0, &draft))
    case .setStack(let arguments): return try setStack(arguments, &draft, context)
    case .createScreen(let record): return try createScreen(record, &draft, context)
    case .setScreen(let id, let edits): return try setScreen(id, edits, &draft, context)
    case .releaseScreen(let id): return try releaseScreen(id, &draft)
    case .setItem(let id, let edits, let requireOnStack):
      return try setItem(id, edits, requireOnStack: requireOnStack, &draft, context)
    case .createButton(let record): return try createButton(record, &draft, context)
    case .setButton(let id, let edits): return try setButton(id, edits, &draft, context)
    case .releaseButton(let id): return try releaseButton(id, &draft)
    case .activateButton(let id): return try activateButton(id, &draft)
    case .configure(let edits): return try configure(edits, &draft, context)
    case .attach: return try attach(&draft)
    case .detach: return detach(&draft)
    case .present(let argument, let presenter, let style):
      return try present(argument, from: presenter, style: style, &draft, context)
    case .dismiss(let presenter): return .dismissed(try dismiss(from: presenter, &draft))
    case .open(let route): return try open(route, &draft, context)
    case .restore(let entries, let root): return try restore(entries, root, &draft, context)
    case .revert(_, let stack): return try revert(to: stack, &draft, context)
    case .pushItem(let argument):
      try checkStandalone()
      return try push(argument, .error, &draft, context)
    case .popItem:
      try checkStandalone()
      return .popped(pop(&draft))
    case .setItems(let arguments):
      try checkStandalone()
      return try setStack(arguments, &draft, context)
    case .backTap: return .popped(try backTap(&draft))
    case .setBar(let edits): try setBar(edits, &draft, context)
    case .setToolbar(let edits): setToolbar(edits, &draft)
    case .setBarHidden(let isHidden): setBarHidden(isHidden, &draft)
    case .setToolbarHidden(let isHidden): setToolbarHidden(isHidden, &draft)
    case .setAppearance(let slot, let object, let screen):
      return try setAppearance(slot, object, of: screen, &draft, context)
    case .setProxy(let name, let edits): try setProxy(name, edits, &draft, context)
    case .setEnvironment(let edits): setEnvironment(edits, &draft)
    case .tap: try tap(&draft)
    case .swipe(let direction): try swipe(direction, &draft)
    case .completeTransition(let id): try completeTransition(id, &draft)
    case .beginGesture(let isFullScreen, let translation, let owner):
      return try beginGesture(isFullScreen, translation, owner, &draft)
    case .updateGesture(let value): return try updateGesture(value)
    case .finishGesture: return .popped(try finishGesture(&draft))
    case .cancelGesture: try cancelGesture(&draft)
    case .expireTransition: expireTransition(&draft)
    case .recover: recover(&draft)
    case .setDisplayOwner(let name): setEnvironment(&draft) { $0.owner = name }
    case .setOrientations(let value): setEnvironment(&draft) { $0.orientations = value }
    }
    return .nothing
  }
}
