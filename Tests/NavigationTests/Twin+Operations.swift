import NavigationCore
import NavigationHub

// The operations of the slow model, one after the other as the rules tell them.

extension Twin {
  mutating func run(_ operation: Operation) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .push(let argument, let policy): return try push(argument, policy)
    case .show(let argument, let policy):
      animated = animated ?? true
      return try push(argument, policy)
    case .pop: return .popped(cut(to: stack.count - 1).first)
    case .popTo(.screen(let id), let inclusive):
      let index = try place(of: id)
      if inclusive, index == 0 { throw .rootRequired }
      return .poppedAll(cut(to: inclusive ? index : index + 1))
    case .popTo(.route(let route, _), _): throw .routeNotInStack(route)
    case .popToRoot: return .poppedAll(cut(to: 1))
    case .setStack(let arguments): return try setStack(arguments)
    case .replace, .insert, .remove: return try runEdit(operation)
    case .createScreen(let new, let replaces): return try create(new, replaces)
    case .setScreen(let id, let edits): return try edit(id, edits, [])
    case .setItem(let id, let edits, let requireOnStack):
      guard record(id) != nil else { throw .unknownScreen(id) }
      if requireOnStack, !isOnStack(id) { throw .notInStack(id) }
      return try edit(id, [], edits)
    case .releaseScreen(let id): return try release(id)
    case .createButton, .setButton, .releaseButton, .activateButton: return try runButton(operation)
    case .configure(let edits):
      for edit in edits where edit == .set(\.waitingOpLimit, edit.value.waitingOpLimit) {
        queue = edit.value.waitingOpLimit
      }
      return .nothing
    case .attach:
      if stack.isEmpty { throw .rootRequired }
      isAttached = true
      return .nothing
    case .detach:
      isAttached = false
      return .nothing
    case .present(let argument, let presenter, _):
      return try present(argument, presenter)
    case .dismiss(let presenter): return .dismissed(try dismiss(presenter))
    case .backMenu(let id):
      if !chain.isEmpty { throw .covered }
      let index = try place(of: id)
      if index == stack.count - 1 { return .poppedAll([]) }
      if stack.last?.left.isEmpty == false { throw .noBackButton }
      for record in stack[(index + 1)...].reversed() where !record.canPop {
        throw .popBlocked(record.id)
      }
      return .poppedAll(cut(to: index + 1))
    case .backKey:
      if !chain.isEmpty { return try run(.swipeDown) }
      if stack.count < 2 { return .popped(nil) }
      if stack.last?.left.isEmpty == false { throw .noBackButton }
      if let top = stack.last, !top.canPop { throw .popBlocked(top.id) }
      return .popped(cut(to: stack.count - 1).first)
    case .swipeDown:
      if !isAttached { throw .invalidArgument("") }
      return .dismissed(try dismiss(chain.last?.record.id))
    case .returning(let removal, let result):
      let output = try run(removal)
      switch output {
      case .popped(let id?): results[id] = result
      case .poppedAll(let ids), .dismissed(let ids):
        for id in ids.prefix(1) { results[id] = result }
      default: break
      }
      return output
    default:
      preconditionFailure("the model does not know \(operation)")
    }
  }

  private mutating func cut(to count: Int) -> [ScreenID] {
    let removed = Array(stack.dropFirst(max(count, 1)))
    stack.removeLast(removed.count)
    for record in removed { touch(.screen(record)) }
    return removed.map(\.id)
  }

  private mutating func push(
    _ argument: ScreenArgument, _ policy: DuplicatePolicy
  ) throws(NavigationError) -> OperationOutput {
    try checkKnown(argument)
    if let id = argument.id, isPresented(id) { throw .alreadyPresented(id) }
    if let id = argument.id, isOnStack(id) {
      switch policy {
      case .error: throw .duplicateScreen(id)
      case .ignore, .ignoreRoute: return .alreadyInStack(id)
      case .moveToTop:
        stack.append(stack.remove(at: try place(of: id)))
        return .found(id, popped: [])
      case .popTo, .update:
        let popped = cut(to: try place(of: id) + 1)
        if policy == .update, case .record(let new) = argument {
          _ = try edit(id, new.edits, new.item)
        }
        return .found(id, popped: popped)
      }
    }
    let id = try add(argument, at: stack.count)
    return policy == .error || policy == .ignore ? .screen(id) : .found(id, popped: [])
  }

  private mutating func add(
    _ argument: ScreenArgument, at index: Int
  ) throws(NavigationError) -> ScreenID {
    try checkForm(argument)
    var named: [ButtonID: Face] = [:]
    let made = try make(argument, &named)
    if stack.count >= limits.stackDepth { throw .depthLimit(limits.stackDepth) }
    stack.insert(take(made, named), at: index)
    return made.record.id
  }

  private func place(of id: ScreenID) throws(NavigationError) -> Int {
    guard record(id) != nil else { throw .unknownScreen(id) }
    guard let index = stack.firstIndex(where: { $0.id == id }) else { throw .notInStack(id) }
    return index
  }

  private func checkNew(_ argument: ScreenArgument) throws(NavigationError) {
    try checkKnown(argument)
    guard let id = argument.id else { return }
    if isPresented(id) { throw .alreadyPresented(id) }
    if isOnStack(id) { throw .duplicateScreen(id) }
  }

  private mutating func runEdit(
    _ operation: Operation
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .replace(let id, let argument, _):
      let index = try id.map { id throws(NavigationError) in try place(of: id) } ?? stack.count - 1
      if index < 0 { throw .emptyStack }
      try checkNew(argument)
      try checkForm(argument)
      var named: [ButtonID: Face] = [:]
      let made = try make(argument, &named)
      let old = stack[index]
      stack[index] = take(made, named)
      touch(.screen(old))
      exchanged.formUnion([made.record.id, old.id])
      return .exchanged(made.record.id, popped: old.id)
    case .insert(let argument, let place):
      var index = 0
      switch place {
      case .below(let id): index = try self.place(of: id)
      case .above(let id): index = try self.place(of: id) + 1
      case .at(let place): index = place
      }
      if index > stack.count { throw .invalidArgument("") }
      try checkNew(argument)
      return .screen(try add(argument, at: index))
    case .remove(let ids):
      for id in ids { _ = try place(of: id) }
      for (index, id) in ids.enumerated() where ids[..<index].contains(id) {
        throw .duplicateInSet(id)
      }
      if !ids.isEmpty, ids.count == stack.count { throw .rootRequired }
      let removed = stack.filter { ids.contains($0.id) }
      stack.removeAll { ids.contains($0.id) }
      for record in removed { touch(.screen(record)) }
      return .poppedAll(removed.map(\.id))
    default: preconditionFailure("not an edit: \(operation)")
    }
  }

  private mutating func present(
    _ argument: ScreenArgument, _ presenter: ScreenID?
  ) throws(NavigationError) -> OperationOutput {
    try checkKnown(argument)
    if let presenter {
      guard record(presenter) != nil else { throw .unknownScreen(presenter) }
      guard isOnStack(presenter) || isPresented(presenter) else { throw .notInStack(presenter) }
      if let last = chain.last, last.record.id != presenter { throw .alreadyPresenting(presenter) }
    }
    if let id = argument.id, isOnStack(id) || isPresented(id) { throw .onStackOrPresented(id) }
    try checkForm(argument)
    var named: [ButtonID: Face] = [:]
    let made = try make(argument, &named)
    if chain.count >= limits.stackDepth { throw .depthLimit(limits.stackDepth) }
    let from = presenter ?? chain.last?.record.id ?? stack.last?.id
    chain.append(Link(record: take(made, named), from: from))
    changesChain = true
    return .screen(made.record.id)
  }

  private mutating func dismiss(_ presenter: ScreenID?) throws(NavigationError) -> [ScreenID] {
    var first = 0
    if let presenter {
      if let index = chain.firstIndex(where: { $0.record.id == presenter }) {
        first = index == chain.count - 1 ? index : index + 1
      } else {
        guard record(presenter) != nil else { throw .unknownScreen(presenter) }
        guard isOnStack(presenter) else { throw .notInStack(presenter) }
      }
    }
    let removed = Array(chain.dropFirst(first))
    chain.removeLast(removed.count)
    if !removed.isEmpty { changesChain = true }
    for link in removed { touch(.screen(link.record)) }
    return removed.map(\.record.id)
  }

  private mutating func setStack(
    _ arguments: [ScreenArgument]
  ) throws(NavigationError) -> OperationOutput {
    for argument in arguments { try checkKnown(argument) }
    for argument in arguments {
      if let id = argument.id, isPresented(id) { throw .alreadyPresented(id) }
    }
    for (index, argument) in arguments.enumerated() {
      guard let id = argument.id else { continue }
      if arguments[..<index].contains(where: { $0.id == id }) { throw .duplicateInSet(id) }
      if case .record = argument, isOnStack(id) { throw .duplicateScreen(id) }
    }
    if isAttached, arguments.isEmpty { throw .rootRequired }
    for argument in arguments { try checkForm(argument) }
    var named: [ButtonID: Face] = [:]
    var made: [Made] = []
    for argument in arguments { made.append(try make(argument, &named)) }
    if made.count > limits.stackDepth { throw .depthLimit(limits.stackDepth) }
    replacesWhole = true
    let old = stack
    let ids = made.map(\.record.id)
    var kept = 0
    while kept < old.count, kept < ids.count, old[kept].id == ids[kept] { kept += 1 }
    stack = Array(old[..<kept])
    for record in old[kept...] { touch(.screen(record)) }
    for new in made[kept...] { stack.append(take(new, named)) }
    return .replaced(popped: old.map(\.id).filter { !ids.contains($0) }, ids: ids)
  }

  private mutating func create(
    _ new: ScreenRecord, _ replaces: Bool
  ) throws(NavigationError) -> OperationOutput {
    if let id = new.id, isPresented(id) { throw .alreadyPresented(id) }
    if let id = new.id, isOnStack(id) { throw .duplicateScreen(id) }
    try checkForm(.record(new))
    var named: [ButtonID: Face] = [:]
    let made = try make(.record(new), &named)
    let id = made.record.id
    if let old = record(id) {
      if same(old, made.record, named) { return .screen(id) }
      if !replaces { throw .differsFromDetached(id) }
    }
    touch(.screen(take(made, named)))
    return .screen(id)
  }

  private mutating func release(_ id: ScreenID) throws(NavigationError) -> OperationOutput {
    if isOnStack(id) || isPresented(id) { throw .invalidArgument("") }
    guard let record = record(id) else { throw .unknownScreen(id) }
    forget(.screen(record))
    hasReleased = true
    return .nothing
  }

  private mutating func runButton(
    _ operation: Operation
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .createButton(let new):
      if let id = new.id, shown.contains(id) { throw .duplicateButton(id) }
      let (id, face) = try makeButton(new)
      if faces[id] != face {
        faces[id] = face
        editedButtons.insert(id)
        touch(.button(id))
      }
      return .button(id)
    case .setButton(let id, let edits):
      guard let old = faces[id] else { throw .unknownButton(id) }
      let face = Face(edits, of: old)
      guard face != old else { return .nothing }
      faces[id] = face
      editedButtons.insert(id)
      if !shown.contains(id) { touch(.button(id)) }
      for record in stack + chain.map(\.record) where record.buttons.contains(id) {
        edited.insert(record.id)
      }
      for record in detachedScreens where record.buttons.contains(id) {
        edited.insert(record.id)
        touch(.screen(record))
      }
      return .nothing
    case .releaseButton(let id):
      guard faces[id] != nil else { throw .unknownButton(id) }
      if shown.contains(id) { throw .invalidArgument("") }
      forget(.button(id))
      hasReleased = true
      return .nothing
    case .activateButton(let id?, nil):
      guard let face = faces[id], let top = stack.last else { throw .unknownButton(id) }
      guard (top.left + top.right).contains(id) else { throw .buttonRefused(id, .notDisplayed) }
      if face.action == "nav.pop", !chain.isEmpty { throw .covered }
      if face.action == "nav.pop", !top.canPop, stack.count > 1 { throw .popBlocked(top.id) }
      if face.action == "nav.pop" { return .popped(cut(to: stack.count - 1).first) }
      return .activated(id, action: face.action)
    default: preconditionFailure("not a button's operation: \(operation)")
    }
  }

  private func checkKnown(_ argument: ScreenArgument) throws(NavigationError) {
    if case .id(let id) = argument, record(id) == nil { throw .unknownScreen(id) }
  }

  private func checkForm(_ argument: ScreenArgument) throws(NavigationError) {
    if case .record(let record) = argument, record.id?.isAssignedForm == true {
      throw .invalidArgument("")
    }
  }
}

extension Twin {
  /// A screen that an argument names, not yet taken.
  struct Made {
    var record: Record
    var isNew: Bool
  }

  private mutating func make(
    _ argument: ScreenArgument, _ named: inout [ButtonID: Face]
  ) throws(NavigationError) -> Made {
    switch argument {
    case .id(let id):
      guard let record = record(id) else { throw .unknownScreen(id) }
      return Made(record: record, isNew: false)
    case .record(let new):
      if new.id == nil { assignedScreens += 1 }
      let id = new.id ?? ScreenID(assignedAt: Revision(revision), ordinal: assignedScreens)
      var record = Record(id: id, version: revision)
      try apply(new.edits, new.item, to: &record, &named)
      return Made(record: record, isNew: true)
    }
  }

  private mutating func take(_ made: Made, _ named: [ButtonID: Face]) -> Record {
    let id = made.record.id
    let old = detachedScreens.first { $0.id == id }
    guard made.isNew else {
      remove(.screen(id))
      return made.record
    }
    if let old, same(old, made.record, named) {
      remove(.screen(id))
      return old
    }
    remove(.screen(id))
    edited.insert(id)
    exchange(old, for: made.record, named)
    return made.record
  }

  private mutating func edit(
    _ id: ScreenID, _ edits: [ScreenEdit], _ items: [ItemEdit]
  ) throws(NavigationError) -> OperationOutput {
    guard let old = record(id) else { throw .unknownScreen(id) }
    var new = old
    var named: [ButtonID: Face] = [:]
    try apply(edits, items, to: &new, &named)
    if same(old, new, named) { return .nothing }
    edited.insert(id)
    if let index = stack.firstIndex(where: { $0.id == id }) {
      stack[index] = new
      exchange(old, for: new, named)
    } else if let index = chain.firstIndex(where: { $0.record.id == id }) {
      chain[index].record = new
      exchange(old, for: new, named)
    } else {
      remove(.screen(id))
      exchange(old, for: new, named)
      touch(.screen(new))
    }
    return .nothing
  }

  private func same(_ old: Record, _ new: Record, _ named: [ButtonID: Face]) -> Bool {
    var plain = new
    plain.version = old.version
    return plain == old && new.buttons.allSatisfy { named[$0] == nil || named[$0] == faces[$0] }
  }

  /// Buttons of the new record are in use now; those of the old one that nothing shows are free, in
  /// the order in which its lists end with them.
  private mutating func exchange(_ old: Record?, for new: Record, _ named: [ButtonID: Face]) {
    for id in new.buttons {
      if let face = named[id] { faces[id] = face }
      remove(.button(id))
    }
    let inUse = shown.union(new.buttons)
    var free: [ButtonID] = []
    for id in (old?.buttons ?? []).reversed() where !inUse.contains(id) && !free.contains(id) {
      free.append(id)
    }
    for id in free.reversed() { touch(.button(id)) }
  }

  private mutating func apply(
    _ edits: [ScreenEdit], _ items: [ItemEdit], to record: inout Record,
    _ named: inout [ButtonID: Face]
  ) throws(NavigationError) {
    for edit in edits {
      switch edit {
      case .title(let title): record.title = title
      case .toolbarItems(let list): record.tool = try buttons(list, &named)
      case .set(\.canPop, true): record.canPop = true
      case .set(\.canPop, false): record.canPop = false
      default: preconditionFailure("the model does not know \(edit)")
      }
    }
    for item in items {
      switch item {
      case .leftItems(let list): record.left = try buttons(list, &named)
      case .rightItems(let list): record.right = try buttons(list, &named)
      case .backBarButtonItem(nil): record.back = nil
      case .backBarButtonItem(let button?): record.back = try buttons([button], &named)[0]
      default: preconditionFailure("the model does not know \(item)")
      }
    }
    if !items.isEmpty, let both = record.right.first(where: { record.left.contains($0) }) {
      throw .buttonOnBothSides(both)
    }
  }

  private mutating func buttons(
    _ arguments: [ButtonArgument], _ named: inout [ButtonID: Face]
  ) throws(NavigationError) -> [ButtonID] {
    var list: [ButtonID] = []
    for argument in arguments {
      let button: ButtonID
      switch argument {
      case .id(let id):
        guard let face = shown.contains(id) ? faces[id] : named[id] ?? faces[id] else {
          throw .unknownButton(id)
        }
        named[id] = face
        button = id
      case .record(let new):
        let (id, face) = try makeButton(new)
        if let old = shown.contains(id) ? faces[id] : named[id] {
          if old != face { throw .duplicateButton(id) }
        } else {
          editedButtons.insert(id)
          named[id] = face
        }
        button = id
      }
      if list.contains(button) { throw .duplicateButton(button) }
      list.append(button)
    }
    return list
  }

  private mutating func makeButton(
    _ new: ButtonRecord
  ) throws(NavigationError) -> (ButtonID, Face) {
    if new.id?.isAssignedForm == true { throw .invalidArgument("") }
    if new.id == nil { assignedButtons += 1 }
    let id = new.id ?? ButtonID(assignedAt: Revision(revision), ordinal: assignedButtons)
    return (id, Face(new.edits, of: Face(title: "")))
  }
}

extension Twin.Face {
  init(_ edits: [Edit<ButtonContent>], of old: Twin.Face) {
    self = old
    for edit in edits {
      if edit == .set(\.title, edit.value.title) {
        title = edit.value.title ?? ""
      } else if edit == .set(\.action, edit.value.action) {
        action = edit.value.action
      } else {
        preconditionFailure("the model does not know \(edit)")
      }
    }
  }
}

extension ScreenArgument {
  fileprivate var id: ScreenID? {
    switch self {
    case .id(let id): id
    case .record(let record): record.id
    }
  }
}
