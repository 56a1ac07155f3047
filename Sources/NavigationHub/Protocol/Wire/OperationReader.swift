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

/// Reads the list `do` of an `op` message.
struct OperationReader {
  let reader = RecordReader()

  /// Reads one operation, an object with one member whose name is the kind.
  ///
  /// It appends the decoded operation to `readable`, unless the operation is unreadable, creates
  /// the nav or closes it.
  func operation(
    _ tape: borrowing JSONTape, _ at: Int, _ readable: inout [Operation]
  ) -> RequestedOperation {
    // The name and value of the only member must end the object.
    let end = tape.next(at)
    guard tape.kind(at) == .object, end > at + 2, tape.next(at + 2) == end else {
      return RequestedOperation(
        .unknown, .unreadable(ReadFailure(.invalidArgument, "an op is an object with one member")))
    }
    let kind = kind(tape, at + 1)
    let arguments = at + 2
    guard tape.kind(arguments) == .object else {
      let name = tape.string(at + 1) ?? ""
      return RequestedOperation(
        kind,
        .unreadable(
          ReadFailure(
            kind == .unknown ? .unsupported : .invalidArgument,
            "the arguments of \(name) are an object, perhaps an empty one")))
    }
    var sender: OpaqueJSON?
    do throws(ReadFailure) {
      switch kind {
      case .push, .show: readable.add(try push(kind, tape, arguments, &sender))
      case .pop:
        if tape.count(arguments) == 0 {
          readable.add(.pop)
        } else {
          try only(kind.arguments ?? [], kind.name, tape, arguments)
          readable.add(try returning(.pop, tape, arguments))
        }
      default:
        let name = tape.string(at + 1) ?? ""
        if let members = kind.arguments { try only(members, name, tape, arguments) }
        switch kind {
        case .navCreate:
          return RequestedOperation(kind, .create(try creation(tape, arguments)))
        case .navClose: return RequestedOperation(kind, .close)
        default: readable.add(try read(kind, name, tape, arguments))
        }
      }
    } catch {
      return RequestedOperation(kind, .unreadable(error))
    }
    return RequestedOperation(kind, .operation(readable.count - 1), sender: sender)
  }

  private func kind(_ tape: borrowing JSONTape, _ key: Int) -> OperationKind {
    switch tape.shortName(key) {
    // Frequent names first, without a string.
    case "push": .push
    case "pop": .pop
    case "item.set": .itemSet
    default: OperationKind(name: tape.string(key) ?? "")
    }
  }

  /// Reads a push or show; `who` gets its `sender`, nil if it has none.
  private func push(
    _ kind: OperationKind, _ tape: borrowing JSONTape, _ at: Int, _ who: inout OpaqueJSON?
  ) throws(ReadFailure) -> Operation {
    var screen: Int?
    var policy: Int?
    var sender: Int?
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      switch tape.shortName(key) {
      case "screen": screen = key + 1
      case "sender": sender = key + 1
      default:
        let name = tape.string(key) ?? ""
        guard name == "onDuplicate" else { throw reader.unknownMember(name, of: kind.name) }
        policy = key + 1
      }
      key = tape.next(key + 1)
    }
    let argument = try self.screen(tape, screen)
    let duplicates = try duplicates(tape, policy)
    who = try self.sender(tape, sender)
    return kind == .push
      ? .push(argument, onDuplicate: duplicates) : .show(argument, onDuplicate: duplicates)
  }

  private func read(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .push, .show, .pop, .navCreate, .navClose:
      preconditionFailure("\(name) is read elsewhere")
    case .popToRoot: return .popToRoot
    case .attach: return .attach
    case .detach: return .detach
    case .uiBackTap: return .backTap
    case .uiBack: return .backKey
    case .uiBackMenu: return .backMenu(try id(tape, at))
    case .uiDismiss: return try returning(.swipeDown, tape, at)
    case .popTo:
      let target = try popTarget(tape, at)
      return try returning(
        .popTo(target, inclusive: try flag(tape, at, "inclusive")), tape, at)
    case .setStack:
      return .setStack(try screens(tape, at))
    case .replace, .insert, .remove: return try stackEdit(kind, name, tape, at)
    case .navConfigure: return .configure(try settings(tape, at))
    case .screenCreate:
      let record = try reader.screenRecord(tape, at, with: "replace")
      return .createScreen(record, replaces: try flag(tape, at, "replace"))
    case .screenSet:
      return .setScreen(try id(tape, at), try reader.screenEdits(tape, at))
    case .screenRelease:
      return .releaseScreen(try id(tape, at))
    case .itemSet:
      let onStack = try flag(tape, at, "requireOnStack")
      let edits = try reader.itemEdits(tape, at, skipping: ["screen", "requireOnStack"])
      return .setItem(try id(tape, at), edits, requireOnStack: onStack)
    case .buttonCreate: return .createButton(try reader.buttonRecord(tape, at))
    case .buttonSet:
      let edits: [Edit<ButtonContent>] = try reader.edits(tape, at) { name, _ in
        name == "button"
      }
      return .setButton(try button(tape, at), edits)
    case .buttonRelease:
      return .releaseButton(try button(tape, at))
    case .buttonActivate:
      return .activateButton(try button(tape, at))
    case .pushItem, .popItem, .setItems: return try barItemsOperation(kind, name, tape, at)
    case .barSet, .toolbarSet, .barSetHidden, .toolbarSetHidden, .appearanceSet, .proxySet, .uiTap,
      .uiSwipe, .envSet:
      return try barOperation(kind, name, tape, at)
    case .present, .dismiss, .segue, .open, .restore, .revert:
      return try presentationOperation(kind, name, tape, at)
    case .gestureBegin, .gestureUpdate, .gestureFinish, .gestureCancel, .transitionComplete:
      return try transitionOperation(kind, name, tape, at)
    case .unknown: throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
    }
  }

  private func only(
    _ names: [String], _ op: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) {
    try tape.forEachMember(of: at) { name, _ throws(ReadFailure) in
      guard names.contains(name) else { throw reader.unknownMember(name, of: op) }
    }
  }

  func screen(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenArgument {
    try screen(tape, tape.member("screen", of: at))
  }

  /// Reads the result of a pop or dismissal, at most 4 KiB; null counts as none.
  func returning(
    _ operation: Operation, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let value = tape.member("result", of: at), tape.kind(value) != .null else {
      return operation
    }
    guard tape.rawCount(value) <= 4096 else {
      throw ReadFailure(.limit, "result is larger than 4096 bytes", reason: "size")
    }
    return .returning(operation, result: OpaqueJSON(validated: tape.raw(value)))
  }

  private func flag(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Bool {
    guard let value = tape.member(name, of: at) else { return false }
    return try reader.flag(tape, value, name)
  }

  private func screen(
    _ tape: borrowing JSONTape, _ value: Int?
  ) throws(ReadFailure) -> ScreenArgument {
    guard let value else {
      throw ReadFailure(.nilScreen, "a screen is required: its id or a record")
    }
    return try reader.screenArgument(tape, value)
  }

  func id(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenID {
    guard let value = tape.member("screen", of: at), tape.kind(value) != .null else {
      throw ReadFailure(.nilScreen, "the id of a screen is required")
    }
    return try reader.screenID(tape, value)
  }

  private func button(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ButtonID {
    let value = try require(tape.member("button", of: at), "the id of a button is required")
    return try reader.buttonID(tape, value)
  }

  func screens(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [ScreenArgument] {
    guard let list = tape.member("screens", of: at), tape.kind(list) == .array else {
      throw ReadFailure(.invalidArgument, "screens is a list of screens: ids or records")
    }
    return try tape.elements(of: list) { at throws(ReadFailure) in
      try reader.screenArgument(tape, at)
    }
  }

  func duplicates(
    _ tape: borrowing JSONTape, _ value: Int?
  ) throws(ReadFailure) -> DuplicatePolicy {
    guard let value else { return .error }
    return try require(
      tape.string(value).flatMap { DuplicatePolicy(word: $0) },
      "onDuplicate is error, ignore, popTo, update or moveToTop")
  }

  private func sender(
    _ tape: borrowing JSONTape, _ value: Int?
  ) throws(ReadFailure) -> OpaqueJSON? {
    guard let value, tape.kind(value) != .null else { return nil }
    try require(tape.rawCount(value) <= 1024, "sender is at most 1024 bytes")
    return OpaqueJSON(validated: tape.raw(value))
  }

  private func popTarget(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> PopTarget {
    let screen = tape.member("screen", of: at)
    let route = tape.member("route", of: at)
    let match = tape.member("match", of: at)
    if let screen, route == nil, match == nil {
      guard tape.kind(screen) != .null else {
        throw ReadFailure(.nilScreen, "a screen is required: its id")
      }
      return .screen(try reader.screenID(tape, screen))
    }
    try require(screen == nil, "popTo takes a screen, or a route and match")
    guard let route else { throw ReadFailure(.nilScreen, "popTo needs a screen or a route") }
    let text = try require(tape.string(route), "route is a text")
    switch match.flatMap({ tape.string($0) }) {
    case nil where match == nil, "top": return .route(text, mustBeUnique: false)
    case "unique": return .route(text, mustBeUnique: true)
    default: throw ReadFailure(.invalidArgument, "match is top or unique")
    }
  }

  /// Reads a single change anywhere in the stack.
  private func stackEdit(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .replace:
      let direction = tape.member("direction", of: at)
      try require(
        direction == nil || direction.flatMap({ tape.string($0) }) == "back",
        "direction is back, or is left out")
      let old = tape.member("screen", of: at)
      let new = try screen(tape, tape.member("with", of: at))
      return .replace(
        try old.map { at throws(ReadFailure) in try reader.screenID(tape, at) }, with: new,
        isBack: direction != nil)
    case .insert:
      return .insert(try screen(tape, at), try place(tape, at))
    default:
      guard let list = tape.member("screens", of: at), tape.kind(list) == .array else {
        throw ReadFailure(.invalidArgument, "screens is a list of ids")
      }
      var ids: [ScreenID] = []
      try tape.forEachElement(of: list) { element throws(ReadFailure) in
        ids.append(try reader.screenID(tape, element))
      }
      return .remove(ids)
    }
  }

  private func place(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> StackPlace {
    switch (
      tape.member("below", of: at), tape.member("above", of: at), tape.member("at", of: at)
    ) {
    case (let below?, nil, nil): return .below(try reader.screenID(tape, below))
    case (nil, let above?, nil): return .above(try reader.screenID(tape, above))
    case (nil, nil, let index?):
      // No stack is that deep, so the rules refuse what does not fit into 32 bits.
      let number = try require(tape.integer(index), "at is a whole number from 0 to the depth")
      return .at(Int(min(number, UInt64(Int32.max))))
    default:
      throw ReadFailure(.invalidArgument, "insert takes one of below, above and at")
    }
  }

  private func creation(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Creation {
    var isStandalone = false
    if let kind = tape.member("kind", of: at) {
      isStandalone = tape.string(kind) == "bar"
      try require(isStandalone || tape.string(kind) == "controller", "kind is controller or bar")
    }
    var edits: [Edit<Settings>] = []
    if let value = tape.member("settings", of: at) {
      try require(tape.kind(value) == .object, "settings is an object")
      edits = try settings(tape, value)
    }
    let root = tape.member("root", of: at)
    let classes = tape.member("classes", of: at)
    if isStandalone {
      try require(root == nil && classes == nil, "a nav of kind bar has neither root nor classes")
      return .standalone(edits)
    }
    if let root {
      try require(classes == nil, "nav.create takes a root or classes, not both")
      return .root(try reader.screenArgument(tape, root), edits)
    }
    guard let classes else {
      throw ReadFailure(.nilScreen, "nav.create needs a root screen, or classes")
    }
    try require(tape.kind(classes) == .object, "classes is an object with bar and toolbar")
    try only(["bar", "toolbar"], "classes", tape, classes)
    let bar = tape.member("bar", of: classes)
    let toolbar = tape.member("toolbar", of: classes)
    return .classes(
      bar: try bar.flatMap { at throws(ReadFailure) in try reader.text(tape, at, "bar") },
      toolbar: try toolbar.flatMap { at throws(ReadFailure) in
        try reader.text(tape, at, "toolbar")
      }, edits)
  }

  private func settings(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [Edit<Settings>] {
    let edits = try reader.settingsEdits(tape, at)
    for edit in edits {
      if let routes = edit.value.routes { _ = try RouteReader.templates(routes) }
    }
    return edits
  }
}
