package import NavigationCore

// The operations on the stack. Each checks first, in the order of the protocol's check list, and
// changes the value only when nothing can fail any more.

/// The arguments of `nav.create`: the initial content of a controller or bar.
package enum Creation: Hashable, Sendable {
  /// UIKit's `init(rootViewController:)`.
  case root(ScreenArgument, [Edit<Settings>])
  /// UIKit's `init(navigationBarClass:toolbarClass:)`; nil is the default class.
  case classes(bar: String?, toolbar: String?, [Edit<Settings>])
  /// A standalone bar, which has items instead of screens.
  case standalone([Edit<Settings>])
}

extension NavigationController {
  mutating func begin(
    with creation: Creation, draft: inout Draft, context: NavigationContext
  ) throws(NavigationError) {
    assert(stack.isEmpty && revision == Revision(0), "not a new controller")
    switch creation {
    case .root(let argument, let edits):
      _ = try push(argument, .error, &draft, context)
      try configure(edits, &draft, context)
    case .classes(let bar, let toolbar, let edits):
      if let bar {
        self.bar.content.className = try context.checkedClassName(bar, isBar: true)
        draft.parts.insert(.bar)
      }
      if let toolbar {
        self.toolbar.content.className = try context.checkedClassName(toolbar, isBar: false)
        draft.parts.insert(.toolbar)
      }
      try configure(edits, &draft, context)
    case .standalone(let edits):
      isStandalone = true
      try configure(edits, &draft, context)
    }
  }

  mutating func push(
    _ argument: ScreenArgument, _ onDuplicate: DuplicatePolicy, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let found = try locate(argument)
    try found.checkKindForStack()
    if let id = found.id, found.isPresented { throw .alreadyPresented(id) }
    if onDuplicate.comparesRoutes {
      guard !isStandalone else {
        throw .invalidArgument("onDuplicate of an item is error or ignore")
      }
      if let index = duplicateIndex(of: argument, context) {
        return try bringToTop(index, argument, onDuplicate, &draft, context)
      }
    } else if let id = found.id, found.isOnStack {
      guard onDuplicate == .ignore else { throw .duplicateScreen(id) }
      return .alreadyInStack(id)
    }
    let screen = try takeScreenForStack(argument, &draft, context)
    draft.noteStackChange(from: stack.count, of: stack)
    stack.append(screen)
    return onDuplicate.comparesRoutes ? .found(screen.id, popped: []) : .screen(screen.id)
  }

  /// Returns the screen of an argument, for the caller to put onto the stack.
  ///
  /// The caller has checked where the screen is, and puts it onto the stack.
  @inline(__always)
  mutating func takeScreenForStack(
    _ argument: ScreenArgument, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> Screen {
    try checkIDNotAssignedForm(argument)
    let arrival = try incomingScreen(argument, &draft)
    guard stack.count < context.limits.stackDepth else {
      throw .depthLimit(context.limits.stackDepth)
    }
    let byteCount = arrival.screen.byteCount
    try checkByteLimit(adding: arrival.isNew ? byteCount : 0, besideStack: byteCount, context)
    let screen = takeRecord(of: arrival, &draft)
    assert(!isKnown(.screen(screen.id)), "\(screen.id.text) stands somewhere else")
    return screen
  }

  mutating func pop(_ draft: inout Draft) -> ScreenID? {
    guard stack.count > (isStandalone ? 0 : 1) else { return nil }
    draft.noteStackChange(from: stack.count - 1, of: stack)
    let screen = stack.removeLast()
    assert(index(of: screen.id) == nil, "\(screen.id.text) stood twice")
    assert(isStandalone || !stack.isEmpty, "the root was popped")
    detached.makeYoungest(.screen(screen))
    return screen.id
  }

  mutating func pop(
    to target: PopTarget, inclusive: Bool, _ draft: inout Draft
  ) throws(NavigationError) -> [ScreenID] {
    let index = try index(of: target)
    guard inclusive else { return pop(downTo: index, &draft) }
    guard index > 0 else { throw .rootRequired }
    return pop(downTo: index - 1, &draft)
  }

  /// Returns the index of a screen that must be on the stack.
  func requiredIndex(of id: ScreenID) throws(NavigationError) -> Int {
    guard let index = index(of: id) else {
      guard screen(id) != nil else { throw .unknownScreen(id) }
      throw .notInStack(id)
    }
    return index
  }

  private func index(of target: PopTarget) throws(NavigationError) -> Int {
    switch target {
    case .screen(let id): return try requiredIndex(of: id)
    case .route(let route, let mustBeUnique):
      let matches = stack.indices.filter { stack[$0].route == route }
      guard let index = matches.last else { throw .routeNotInStack(route) }
      if mustBeUnique, matches.count > 1 {
        throw .ambiguousRoute(route, candidates: matches.map { stack[$0].id })
      }
      return index
    }
  }

  /// Pops until the screen at `index` is on top, but never a controller's root.
  ///
  /// Returns the removed screens, bottom first.
  mutating func pop(downTo index: Int, _ draft: inout Draft) -> [ScreenID] {
    assert(index >= -1 && index <= stack.count, "index=\(index)")
    let first = max(index, isStandalone ? -1 : 0) + 1
    guard first < stack.count else { return [] }
    draft.noteStackChange(from: first, of: stack)
    var removed: [ScreenID] = []
    removed.reserveCapacity(stack.count - first)
    for index in first..<stack.count {
      detached.makeYoungest(.screen(stack[index]))
      removed.append(stack[index].id)
    }
    stack.removeLast(removed.count)
    assert(stack.count == first)
    assert(removed.last != top?.id, "the former top is on top")
    return removed
  }

  mutating func setStack(
    _ arguments: [ScreenArgument], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    try checkNewStack(arguments)
    var kept = 0
    while kept < stack.count, kept < arguments.count, case .id(stack[kept].id) = arguments[kept] {
      kept += 1
    }
    let arrivals = try arguments[kept...].map { argument throws(NavigationError) in
      try incomingScreen(argument, &draft)
    }
    guard arguments.count <= context.limits.stackDepth else {
      throw .depthLimit(context.limits.stackDepth)
    }
    try checkByteLimit(for: arrivals, beside: stack[..<kept], context)
    draft.replacesStack = true
    if kept == stack.count, arrivals.isEmpty {
      return .replaced(popped: [], ids: stack.map(\.id))
    }
    draft.noteStackChange(from: kept, of: stack)
    let removed = Array(stack[kept...])
    stack.removeSubrange(kept...)
    // The removed screens become detached, where `takeRecord` finds those that the new stack keeps.
    for screen in removed { detached.makeYoungest(.screen(screen)) }
    for arrival in arrivals { stack.append(takeRecord(of: arrival, &draft)) }
    let arrived = Set(stack[kept...].map(\.id))
    let popped = removed.map(\.id).filter { !arrived.contains($0) }
    assert(stack.count == arguments.count)
    assert(arrived.count == stack.count - kept, "a screen stands twice")
    return .replaced(popped: popped, ids: stack.map(\.id))
  }

  private mutating func checkNewStack(
    _ arguments: [ScreenArgument]
  ) throws(NavigationError) {
    var ids: Set<ScreenID> = []
    let found = try arguments.map { argument throws(NavigationError) in try locate(argument) }
    for place in found { try place.checkKindForStack() }
    for place in found {
      if let id = place.id, place.isPresented { throw .alreadyPresented(id) }
    }
    for (argument, place) in zip(arguments, found) {
      if let id = place.id, !ids.insert(id).inserted { throw .duplicateInSet(id) }
      if case .record = argument, let id = place.id, place.isOnStack { throw .duplicateScreen(id) }
    }
    if isAttached, arguments.isEmpty { throw .rootRequired }
    for argument in arguments { try checkIDNotAssignedForm(argument) }
    assert(found.allSatisfy { !$0.isPresented }, "a presented screen comes onto the stack")
  }

  /// Throws `sizeLimit` unless the screens that arrive, those of the stack that stay, and the
  /// presented ones fit into the limit together.
  func checkByteLimit(
    for arrivals: [IncomingScreen], beside kept: some Sequence<Screen>, _ context: NavigationContext
  ) throws(NavigationError) {
    let limit = context.limits.stateBytes
    let new = arrivals.reduce(0) { $0 + ($1.isNew ? $1.screen.byteCount : 0) }
    guard byteCount + new > limit else { return }
    let shown = presentedScreens.reduce(0) { $0 + $1.byteCount }
    let kept = kept.reduce(shown) { $0 + $1.byteCount }
    guard arrivals.reduce(kept, { $0 + $1.screen.byteCount }) <= limit else {
      throw .sizeLimit(limit)
    }
  }

  mutating func attach(_ draft: inout Draft) throws(NavigationError) {
    guard !stack.isEmpty else { throw .rootRequired }
    setAttached(true, &draft)
  }

  mutating func setAttached(_ value: Bool, _ draft: inout Draft) {
    assert(!value || !stack.isEmpty, "attached without a root")
    guard isAttached != value else { return }
    isAttached = value
    settings.version = draft.revision
    draft.parts.insert(.settings)
  }

  /// The present place of a screen that an argument names; `id` is nil for a record without one.
  struct ScreenLocation {
    var id: ScreenID?
    var kind: ScreenKind?
    var isOnStack = false
    var isPresented = false

    /// Throws `forbiddenKind` unless a stack takes the screen.
    func checkKindForStack() throws(NavigationError) {
      if let kind, kind != .content { throw .forbiddenKind(id, kind) }
    }
  }

  /// Finds where the nav has the screen of an argument.
  ///
  /// The method is mutating, as those below are, because Swift would copy a borrowed controller.
  mutating func locate(_ argument: ScreenArgument) throws(NavigationError) -> ScreenLocation {
    switch argument {
    case .id(let id):
      if let index = index(of: id) {
        return ScreenLocation(id: id, kind: stack[index].kind, isOnStack: true)
      }
      guard let screen = screen(id) else { throw .unknownScreen(id) }
      assert(isPresented(id) != detached.contains(.screen(id)), "\(id.text) has two places or none")
      return ScreenLocation(id: id, kind: screen.kind, isPresented: isPresented(id))
    case .record(let record):
      let kind = isStandalone ? nil : record.kind
      guard let id = record.id else { return ScreenLocation(kind: kind) }
      return ScreenLocation(
        id: id, kind: kind, isOnStack: index(of: id) != nil, isPresented: isPresented(id))
    }
  }

  private func isPresented(_ id: ScreenID) -> Bool {
    !presented.isDefault && presented.content.index(of: id) != nil
  }

  /// Throws if the id of a new screen has the form of ids that the daemon assigns.
  func checkIDNotAssignedForm(_ argument: ScreenArgument) throws(NavigationError) {
    guard case .record(let record) = argument, let id = record.id, id.isAssignedForm else { return }
    throw .invalidArgument("id \(id.text) has the form of ids the daemon assigns; choose another")
  }

  /// A screen that an operation is about to put into a list: a known one, or a new one.
  struct IncomingScreen {
    var screen: Screen
    var isNew: Bool
  }

  mutating func incomingScreen(
    _ argument: ScreenArgument, _ draft: inout Draft
  ) throws(NavigationError) -> IncomingScreen {
    switch argument {
    case .id(let id):
      guard let screen = screen(id) else { throw .unknownScreen(id) }
      assert(screen.id == id)
      return IncomingScreen(screen: screen, isNew: false)
    case .record(let record): return IncomingScreen(screen: try make(record, &draft), isNew: true)
    }
  }

  /// Removes a known screen from the detached records, or adopts a new one.
  ///
  /// The caller puts the screen into a list.
  mutating func takeRecord(of arrival: IncomingScreen, _ draft: inout Draft) -> Screen {
    guard !arrival.isNew else { return addRecord(of: arrival.screen, &draft) }
    let record = detached.remove(.screen(arrival.screen.id))
    assert(record != nil, "\(arrival.screen.id.text) is taken from where it is not")
    return arrival.screen
  }
}

extension NavigationContext {
  func checkedClassName(_ name: String, isBar: Bool) throws(NavigationError) -> String {
    guard try isBarClass(name) == isBar else { throw .wrongBaseClass(name) }
    return name
  }

  /// Whether a class is one of bars; false for one of toolbars.
  func isBarClass(_ name: String) throws(NavigationError) -> Bool {
    let isBar =
      name == "NavigationBar" ? true : name == "Toolbar" ? false : isBarByClass[Text(name)]
    guard let isBar else { throw .unknownClass(name) }
    return isBar
  }
}

extension NavigationController {
  mutating func revert(
    to ids: [ScreenID]?, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    guard let ids else { throw .invalidArgument("there is no earlier revision to revert to") }
    let missing = ids.filter { screen($0) == nil }
    guard missing.isEmpty else { throw .restoreFailed(missing: missing) }
    return try setStack(ids.map { .id($0) }, &draft, context)
  }

  /// Pops, unless the top screen's `backAction` has another action.
  mutating func backTap(_ draft: inout Draft) throws(NavigationError) -> OperationOutput {
    guard !isCovered else { throw .covered }
    guard showsBackButton else { throw .noBackButton }
    if let button = top?.backAction, button.content.action != "nav.pop" {
      return .activated(button.id, action: button.content.action)
    }
    try checkPersonMayPop()
    return .popped(pop(&draft))
  }

  /// Ends the search of the visible screen, or else dismisses the outermost presented screen as a swipe
  /// down does, or else pops as a back tap does.
  ///
  /// At the root the key pops nothing, where a tap is refused.
  mutating func backKey(
    _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    if let visible, !visible.hasDefaultDetails, visible.item.hasActiveSearch {
      try editScreen(
        visible.id, [], [.set(\.extras.isSearchActive, false)], &draft, context)
      return .nothing
    }
    guard presented.content.chain.isEmpty else { return .dismissed(try swipeDown(&draft)) }
    return stack.count > 1 || top?.backAction != nil ? try backTap(&draft) : .popped(nil)
  }

  mutating func backMenu(_ id: ScreenID, _ draft: inout Draft) throws(NavigationError) -> [ScreenID]
  {
    guard !isCovered else { throw .covered }
    let index = try requiredIndex(of: id)
    // Somebody else was faster: the person is where the menu would have led.
    if index == stack.count - 1 { return [] }
    guard showsBackButton else { throw .noBackButton }
    try checkPersonMayPop(downTo: index)
    return pop(downTo: index, &draft)
  }

  /// Throws `popBlocked` if a screen above this index does not let a person pop it; nil stands for the
  /// one below the top.
  func checkPersonMayPop(downTo index: Int? = nil) throws(NavigationError) {
    assert(!isCovered, "what a presented screen covers is refused before")
    let above = stack[(index.map { $0 + 1 } ?? max(stack.count - 1, 1))...]
    if let screen = above.last(where: \.blocksPop) { throw .popBlocked(screen.id) }
  }

  /// Makes an item of a standalone bar, which has no screen: a title is that of the item.
  func makeItem(
    _ record: ScreenRecord, _ id: ScreenID, _ draft: inout Draft
  ) throws(NavigationError) -> Screen {
    var screen = Screen(id: id, version: draft.revision, title: nil, route: nil)
    let titles = record.edits.compactMap { edit -> ItemEdit? in
      if case .title(let title) = edit { .title(title) } else { nil }
    }
    guard titles.count == record.edits.count, record.kind == nil else {
      throw .invalidArgument("the record of an item has id, title and item")
    }
    try apply(titles + record.item, to: &screen, &draft)
    return screen
  }
}
