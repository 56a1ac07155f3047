import NavigationCore

extension Array {
  /// Appends an element; the first one goes into an array with room for one.
  ///
  /// Most ops have one operation, so this wastes no memory.
  @inline(__always)
  mutating func add(_ element: consuming Element) {
    if isEmpty { self = [element] } else { append(element) }
  }
}

// Readers of the list `do` of an `op` message.

extension JSONTape {
  /// Reads one operation, an object with one member whose name is the kind.
  ///
  /// The method appends the decoded operation to `decoded`, unless the operation is unreadable,
  /// creates the nav or closes it.
  func operation(_ at: Int, _ decoded: inout [Operation]) -> RequestedOperation {
    // The name and value of the only member must end the object.
    let end = next(at)
    guard kind(at) == .object, end > at + 2, next(at + 2) == end else {
      return RequestedOperation(
        .unknown, .unreadable(ReadFailure("an op is an object with one member")))
    }
    let operation = operationKind(at + 1)
    let arguments = at + 2
    guard kind(arguments) == .object else {
      let text = "the arguments of \(string(at + 1) ?? "") are an object, perhaps an empty one"
      let code = operation == .unknown ? ErrorCode.unsupported : .invalidArgument
      return RequestedOperation(operation, .unreadable(ReadFailure(code, text)))
    }
    var sender: OpaqueJSON?
    do throws(ReadFailure) {
      switch operation {
      case .push, .show: decoded.add(try push(operation, arguments, &sender))
      case .pop where count(arguments) == 0: decoded.add(.pop)
      default:
        let name = string(at + 1) ?? ""
        if let members = operation.arguments { try refuseMembersOutside(members, name, arguments) }
        switch operation {
        case .navCreate: return RequestedOperation(operation, .create(try creation(arguments)))
        case .navClose: return RequestedOperation(operation, .close)
        default: decoded.add(try self.operation(operation, name, arguments))
        }
      }
    } catch {
      return RequestedOperation(operation, .unreadable(error))
    }
    return RequestedOperation(operation, .decoded(index: decoded.count - 1), sender: sender)
  }

  private func operationKind(_ key: Int) -> OperationKind {
    switch shortName(key) {
    // Frequent names first, without a string.
    case "push": .push
    case "pop": .pop
    case "item.set": .itemSet
    default: OperationKind(name: string(key) ?? "")
    }
  }

  /// Reads a push or show, and sets `sender` to the member of that name.
  private func push(
    _ kind: OperationKind, _ at: Int, _ sender: inout OpaqueJSON?
  ) throws(ReadFailure) -> Operation {
    var screen: Int?
    var policy: Int?
    var senderIndex: Int?
    let end = next(at)
    var key = at + 1
    while key < end {
      switch shortName(key) {
      case "screen": screen = key + 1
      case "sender": senderIndex = key + 1
      default:
        let name = string(key) ?? ""
        guard name == "onDuplicate" else { throw unknownMember(name, of: kind.name) }
        policy = key + 1
      }
      key = next(key + 1)
    }
    let argument = try requiredScreen(screen)
    let duplicates = try duplicatePolicy(policy)
    if let senderIndex, self.kind(senderIndex) != .null {
      try need(rawByteCount(senderIndex) <= 1024, "sender is at most 1024 bytes")
      sender = OpaqueJSON(validated: raw(senderIndex))
    }
    return kind == .push
      ? .push(argument, onDuplicate: duplicates) : .show(argument, onDuplicate: duplicates)
  }

  private func operation(
    _ kind: OperationKind, _ name: String, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .push, .show, .navCreate, .navClose: preconditionFailure("\(name) is read elsewhere")
    case .pop: return try withResult(.pop, at)
    case .popToRoot: return .popToRoot
    case .attach: return .attach
    case .detach: return .detach
    case .uiBackTap: return .backTap
    case .uiBack: return .backKey
    case .uiBackMenu: return .backMenu(try screenID(of: at))
    case .uiDismiss: return try withResult(.swipeDown, at)
    case .popTo:
      let target = try popTarget(at)
      return try withResult(.popTo(target, inclusive: try flag("inclusive", of: at)), at)
    case .setStack:
      let list = try listIndex(
        "screens", of: at, orThrow: "screens is a list of screens: ids or records")
      return .setStack(try elements(of: list, screenArgument))
    case .replace, .insert, .remove: return try stackEdit(kind, at)
    case .navConfigure: return .configure(try checkedSettings(at))
    case .screenCreate:
      let record = try screenRecord(at, with: "replace")
      return .createScreen(record, replaces: try flag("replace", of: at))
    case .screenSet: return .setScreen(try screenID(of: at), try screenEdits(at))
    case .screenRelease: return .releaseScreen(try screenID(of: at))
    case .itemSet:
      let onStack = try flag("requireOnStack", of: at)
      let edits = try itemEdits(at, skipping: ["screen", "requireOnStack"])
      return .setItem(try screenID(of: at), edits, requireOnStack: onStack)
    case .buttonCreate: return .createButton(try buttonRecord(at))
    case .buttonSet:
      let edits: [Edit<ButtonContent>] = try edits(at) { name, _ in name == "button" }
      return .setButton(try buttonID(of: at), edits)
    case .buttonRelease: return .releaseButton(try buttonID(of: at))
    case .buttonActivate: return try activation(at)
    case .pushItem, .popItem, .setItems: return try barItemsOperation(kind, at)
    case .barSet, .toolbarSet, .barSetHidden, .toolbarSetHidden, .appearanceSet, .proxySet, .uiTap,
      .uiSwipe, .envSet:
      return try barOperation(kind, name, at)
    case .present, .dismiss, .segue, .open, .restore, .revert:
      return try presentationOperation(kind, name, at)
    case .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel, .transitionComplete:
      return try transitionOperation(kind, at)
    case .unknown: throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
    }
  }

  /// Throws if an object has a member that is not in `names`; the error calls the object `what`.
  private func refuseMembersOutside(
    _ names: [String], _ what: String, _ at: Int
  ) throws(ReadFailure) {
    try forEachMember(of: at) { name, _ throws(ReadFailure) in
      guard names.contains(name) else { throw unknownMember(name, of: what) }
    }
  }

  /// Adds to a pop or dismissal the result in its arguments, at most 4 KiB; null counts as none.
  func withResult(_ operation: Operation, _ at: Int) throws(ReadFailure) -> Operation {
    guard let value = value("result", of: at) else { return operation }
    guard rawByteCount(value) <= 4096 else {
      throw ReadFailure(.limit, "result is larger than 4096 bytes", reason: "size")
    }
    return .returning(operation, result: OpaqueJSON(validated: raw(value)))
  }

  private func flag(_ name: String, of at: Int) throws(ReadFailure) -> Bool {
    guard let value = member(name, of: at) else { return false }
    return try boolOrNullAsFalse(value, name)
  }

  private func activation(_ at: Int) throws(ReadFailure) -> Operation {
    let element = try value("element", of: at).map { at throws(ReadFailure) in try buttonID(at) }
    let needsButton = element == nil || value("button", of: at) != nil
    return .activateButton(needsButton ? try buttonID(of: at) : nil, element: element)
  }

  /// Reads a text; nil if the member is null or missing.
  func optionalString(_ name: String, of at: Int) throws(ReadFailure) -> String? {
    try value(name, of: at).map { at throws(ReadFailure) in try string(at, name) }
  }

  /// The tape index of a member that is a list; throws `message` if there is none.
  func listIndex(_ name: String, of at: Int, orThrow message: String) throws(ReadFailure) -> Int {
    let list = try need(member(name, of: at), message)
    try need(kind(list) == .array, message)
    return list
  }

  /// Reads the argument `screen` of an operation: an id or a record.
  func screen(of at: Int) throws(ReadFailure) -> ScreenArgument {
    try requiredScreen(member("screen", of: at))
  }

  private func requiredScreen(_ value: Int?) throws(ReadFailure) -> ScreenArgument {
    guard let value else {
      throw ReadFailure(.nilScreen, "a screen is required: its id or a record")
    }
    return try screenArgument(value)
  }

  /// Reads the argument `screen` of an operation that takes only an id.
  private func screenID(of at: Int) throws(ReadFailure) -> ScreenID {
    guard let value = value("screen", of: at) else {
      throw ReadFailure(.nilScreen, "the id of a screen is required")
    }
    return try screenID(value)
  }

  private func buttonID(of at: Int) throws(ReadFailure) -> ButtonID {
    try buttonID(try need(member("button", of: at), "the id of a button is required"))
  }

  func duplicatePolicy(_ value: Int?) throws(ReadFailure) -> DuplicatePolicy {
    guard let value else { return .error }
    return try need(
      string(value).flatMap { DuplicatePolicy(word: $0) },
      "onDuplicate is error, ignore, popTo, update, moveToTop or ignoreRoute")
  }

  private func popTarget(_ at: Int) throws(ReadFailure) -> PopTarget {
    let screen = member("screen", of: at)
    let route = member("route", of: at)
    let match = member("match", of: at)
    if let screen, route == nil, match == nil {
      guard kind(screen) != .null else {
        throw ReadFailure(.nilScreen, "a screen is required: its id")
      }
      return .screen(try screenID(screen))
    }
    try need(screen == nil, "popTo takes a screen, or a route and match")
    guard let route else { throw ReadFailure(.nilScreen, "popTo needs a screen or a route") }
    let text = try need(string(route), "route is a text")
    switch match.flatMap({ string($0) }) {
    case nil where match == nil, "top": return .route(text, mustBeUnique: false)
    case "unique": return .route(text, mustBeUnique: true)
    default: throw ReadFailure("match is top or unique")
    }
  }

  /// Reads a single change anywhere in the stack.
  private func stackEdit(_ kind: OperationKind, _ at: Int) throws(ReadFailure) -> Operation {
    switch kind {
    case .replace:
      let direction = member("direction", of: at)
      try need(
        direction == nil || direction.flatMap({ string($0) }) == "back",
        "direction is back, or is left out")
      let new = try requiredScreen(member("with", of: at))
      let old = try member("screen", of: at).map { at throws(ReadFailure) in try screenID(at) }
      return try withResult(.replace(old, with: new, isBack: direction != nil), at)
    case .insert: return .insert(try screen(of: at), try stackPlace(at))
    default:
      let list = try listIndex("screens", of: at, orThrow: "screens is a list of ids")
      return .remove(try elements(of: list) { at throws(ReadFailure) in try screenID(at) })
    }
  }

  private func stackPlace(_ at: Int) throws(ReadFailure) -> StackPlace {
    switch (member("below", of: at), member("above", of: at), member("at", of: at)) {
    case (let below?, nil, nil): return .below(try screenID(below))
    case (nil, let above?, nil): return .above(try screenID(above))
    case (nil, nil, let index?):
      // No stack is that deep, so the rules refuse what does not fit into 32 bits.
      let number = try need(integer(index), "at is a whole number from 0 to the depth")
      return .at(Int(min(number, UInt64(Int32.max))))
    default: throw ReadFailure("insert takes one of below, above and at")
    }
  }

  private func creation(_ at: Int) throws(ReadFailure) -> Creation {
    var isStandalone = false
    if let kind = member("kind", of: at) {
      isStandalone = string(kind) == "bar"
      try need(isStandalone || string(kind) == "controller", "kind is controller or bar")
    }
    var edits: [Edit<Settings>] = []
    if let value = member("settings", of: at) {
      try needObject(value, "settings is an object")
      edits = try checkedSettings(value)
    }
    let root = member("root", of: at)
    let classes = member("classes", of: at)
    if isStandalone {
      try need(root == nil && classes == nil, "a nav of kind bar has neither root nor classes")
      return .standalone(edits)
    }
    if let root {
      try need(classes == nil, "nav.create takes a root or classes, not both")
      return .root(try screenArgument(root), edits)
    }
    guard let classes else {
      throw ReadFailure(.nilScreen, "nav.create needs a root screen, or classes")
    }
    try needObject(classes, "classes is an object with bar and toolbar")
    try refuseMembersOutside(["bar", "toolbar"], "classes", classes)
    return .classes(
      bar: try optionalString("bar", of: classes),
      toolbar: try optionalString("toolbar", of: classes), edits)
  }

  /// Reads the members of settings, and checks the route templates among them.
  private func checkedSettings(_ at: Int) throws(ReadFailure) -> [Edit<Settings>] {
    let edits = try settingsEdits(at)
    for edit in edits {
      if let routes = edit.value.routes { _ = try RouteReader.templates(routes) }
    }
    return edits
  }
}
