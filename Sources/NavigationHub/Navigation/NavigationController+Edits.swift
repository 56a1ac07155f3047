import NavigationCore

// Single changes anywhere in the stack, and pushes of a screen that is on it already.

extension NavigationController {
  /// Puts a screen in the place of another one, which becomes detached.
  ///
  /// No event reports the exchange itself, as with UIKit's `setViewControllers(_:animated:)`.
  mutating func replace(
    _ id: ScreenID?, with argument: ScreenArgument, isBack: Bool, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    guard let index = try id.map(requiredIndex) ?? stack.indices.last else { throw .emptyStack }
    try checkMayJoinStack(argument)
    try checkIDNotAssignedForm(argument)
    let arrival = try incomingScreen(argument, &draft)
    let others = stack[..<index] + stack[(index + 1)...]
    try checkByteLimit(for: [arrival], beside: others, context)
    let screen = takeRecord(of: arrival, &draft)
    assert(!isKnown(.screen(screen.id)), "\(screen.id.text) stands somewhere else")
    draft.noteStackChange(from: index, of: stack)
    let old = stack[index]
    stack[index] = screen
    detached.makeYoungest(.screen(old))
    let notes = draft.rareNotes()
    notes.exchanged.formUnion([screen.id, old.id])
    notes.newTopDirection = index == stack.count - 1 ? (screen.id, isBack) : notes.newTopDirection
    return .exchanged(screen.id, popped: old.id)
  }

  mutating func insert(
    _ argument: ScreenArgument, _ place: StackPlace, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let index =
      switch place {
      case .below(let id): try requiredIndex(of: id)
      case .above(let id): try requiredIndex(of: id) + 1
      case .at(let index): index
      }
    guard index <= stack.count else {
      throw .invalidArgument(
        "at is \(index), but the stack has \(counted(stack.count, "screen"))")
    }
    try checkMayJoinStack(argument)
    let screen = try takeScreenForStack(argument, &draft, context)
    draft.noteStackChange(from: index, of: stack)
    stack.insert(screen, at: index)
    assert(stack[index].id == screen.id)
    return .screen(screen.id)
  }

  mutating func remove(
    _ ids: [ScreenID], _ draft: inout Draft
  ) throws(NavigationError) -> [ScreenID] {
    let indices = try ids.map { id throws(NavigationError) in try requiredIndex(of: id) }
    var gone: Set<ScreenID> = []
    for id in ids where !gone.insert(id).inserted { throw .duplicateInSet(id) }
    guard let lowest = indices.min() else { return [] }
    guard gone.count < stack.count else { throw .rootRequired }
    draft.noteStackChange(from: lowest, of: stack)
    let removed = stack[lowest...].filter { gone.contains($0.id) }
    stack.removeAll { gone.contains($0.id) }
    for screen in removed { detached.makeYoungest(.screen(screen)) }
    assert(removed.count == ids.count && !stack.isEmpty)
    return removed.map(\.id)
  }

  /// Throws unless the screen of an argument may come onto the stack, where it must not be yet.
  private mutating func checkMayJoinStack(_ argument: ScreenArgument) throws(NavigationError) {
    let found = try locate(argument)
    try found.checkKindForStack()
    guard let id = found.id else { return }
    if found.isPresented { throw .alreadyPresented(id) }
    if found.isOnStack { throw .duplicateScreen(id) }
  }
}

// A push of what is on the stack already.

extension NavigationController {
  /// The index of the stack's screen that the pushed screen duplicates: the one with the same id, or
  /// for a record without an id the topmost one with the same route and args.
  func duplicateIndex(of argument: ScreenArgument, _ context: NavigationContext) -> Int? {
    switch argument {
    case .id(let id): return index(of: id)
    case .record(let record):
      if let id = record.id { return index(of: id) }
      return stack.lastIndex { record.agrees(with: $0, context.areEqual) }
    }
  }

  /// Makes the screen at an index the top, by the policy: pops to it, updates it, or moves it; or
  /// ignores the push.
  mutating func bringToTop(
    _ index: Int, _ argument: ScreenArgument, _ policy: DuplicatePolicy, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let id = stack[index].id
    if policy == .ignoreRoute { return .alreadyInStack(id) }
    if policy == .moveToTop {
      moveToTop(index, &draft)
      return .found(id, popped: [])
    }
    assert(policy.mayPop, "\(policy) leaves the stack as it is")
    guard policy == .update, case .record(let record) = argument else {
      return .found(id, popped: pop(downTo: index, &draft))
    }
    // Only what stays counts against the limits, so the pop comes first, though the edit can fail.
    let notes = draft.rareNotes()
    if notes.stateBeforeMessage == nil { notes.stateBeforeMessage = StateBefore(self) }
    let popped = pop(downTo: index, &draft)
    try editScreen(id, record.edits, record.item, &draft, context)
    return .found(id, popped: popped)
  }

  private mutating func moveToTop(_ index: Int, _ draft: inout Draft) {
    guard index < stack.count - 1 else { return }
    draft.noteStackChange(from: index, of: stack)
    let screen = stack.remove(at: index)
    stack.append(screen)
    draft.rareNotes().newTopDirection = (screen.id, false)
    assert(draft.firstChangedIndex <= index)
  }
}
