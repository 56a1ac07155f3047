import NavigationCore

// Readers of the operations on bars, presentations, standalone bars, transitions and gestures, and of
// those that replace the stack by something kept elsewhere.

extension OperationReader {
  func barOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .barSet:
      guard tape.member("delegate", of: at) == nil else {
        throw ReadFailure(
          .barDelegateManaged, "cannot manually set the delegate on a bar managed by a controller")
      }
      try reader.refuseReadonly(Bar.table, [], tape, at)
      return .setBar(try reader.edits(tape, at))
    case .toolbarSet:
      try reader.refuseReadonly(Toolbar.table, [], tape, at)
      return .setToolbar(try reader.edits(tape, at))
    case .barSetHidden: return .setBarHidden(try hidden(tape, at))
    case .toolbarSetHidden: return .setToolbarHidden(try hidden(tape, at))
    case .appearanceSet: return try appearance(tape, at)
    case .proxySet: return try proxy(tape, at)
    case .envSet: return .setEnvironment(try reader.environmentEdits(tape, at))
    case .uiTap:
      return .tap
    case .uiSwipe:
      return .swipe(
        try require(
          tape.string("dir", of: at).flatMap { SwipeDirection(word: $0) }, "dir is up or down"))
    default: preconditionFailure("\(name) is no operation on bars")
    }
  }

  private func hidden(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Bool {
    try require(
      tape.member("hidden", of: at).flatMap { tape.bool($0) }, "hidden is true or false")
  }

  private func appearance(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let member = tape.member("slot", of: at),
      let slot: AppearanceSlot = try reader.choice(tape, member, "slot")
    else { throw ReadFailure(.invalidArgument, "slot is one of \(AppearanceSlot.choices)") }
    let object = try require(
      tape.member("object", of: at), "object is an appearance object, or null for none")
    let look =
      tape.kind(object) == .null
      ? nil : try reader.appearanceObject(tape, object, slot.word)
    guard let screen = tape.member("screen", of: at), tape.kind(screen) != .null else {
      return .setAppearance(slot, look, screen: nil)
    }
    return .setAppearance(slot, look, screen: try reader.screenID(tape, screen))
  }

  private func proxy(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Operation {
    var name: String?
    if let member = tape.member("class", of: at) { name = try reader.text(tape, member, "class") }
    let edits = try reader.lookEdits(tape, at, skipping: "class")
    return .setProxy(className: name ?? "NavigationBar", edits)
  }
}

extension OperationReader {
  func presentationOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .present:
      return .present(
        try screen(tape, at), from: try presenter(tape, at), style: try style(tape, at))
    case .dismiss:
      return try returning(.dismiss(from: try presenter(tape, at)), tape, at)
    case .segue:
      return try segue(tape, at)
    case .open:
      let route = try require(tape.string("route", of: at), "route, a text, is required")
      return .open(route: route)
    case .restore:
      return try restoration(tape, at)
    case .revert:
      let revision = try require(tape.integer("rev", of: at), "rev, a whole number, is required")
      return .revert(to: Revision(revision), stack: nil)
    default: throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
    }
  }

  /// Reads UIKit's names of `push`, `pop` and `setStack` on a standalone bar.
  func barItemsOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .pushItem:
      guard let value = tape.member("item", of: at) else {
        throw ReadFailure(.nilScreen, "an item is required: its id or a record")
      }
      return .push(try reader.screenArgument(tape, value), onDuplicate: .error)
    case .popItem:
      return .pop
    default:
      guard let list = tape.member("items", of: at),
        tape.kind(list) == .array || tape.kind(list) == .null
      else { throw ReadFailure(.invalidArgument, "items is a list of items, or null for none") }
      guard tape.kind(list) == .array else { return .setStack([]) }
      return .setStack(
        try tape.elements(of: list) { at throws(ReadFailure) in
          try reader.screenArgument(tape, at)
        })
    }
  }

  private func presenter(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenID? {
    guard let value = tape.member("from", of: at), tape.kind(value) != .null else { return nil }
    return try reader.screenID(tape, value)
  }

  private func style(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> String? {
    guard let value = tape.member("style", of: at),
      let style = try reader.text(tape, value, "style")
    else { return nil }
    try require(Grammar.isID(style.utf8.span), "style is the name of a presentation style")
    return style
  }

  private func segue(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Operation {
    switch tape.string("kind", of: at) {
    case "show":
      let policy = try duplicates(tape, tape.member("onDuplicate", of: at))
      return .push(try screen(tape, at), onDuplicate: policy)
    case "showDetail":
      try require(
        tape.member("onDuplicate", of: at) == nil, "showDetail presents, and takes no onDuplicate")
      return .present(try screen(tape, at), from: nil, style: nil)
    default:
      throw ReadFailure(
        .invalidArgument, "kind is show or showDetail; a client performs other segues itself")
    }
  }

  private func restoration(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    let payload = try require(
      tape.member("payload", of: at), "payload, as get restoration gave it, is required")
    let entries = try entries(tape, payload)
    guard let root = tape.member("root", of: at), tape.kind(root) != .null else {
      return .restore(entries, root: nil)
    }
    return .restore(entries, root: try reader.screenArgument(tape, root))
  }

  /// Reads the entries of a restoration payload.
  ///
  /// The record of an unreadable screen is nil, because the rules of `restore` skip such screens.
  private func entries(
    _ tape: borrowing JSONTape, _ payload: Int
  ) throws(ReadFailure) -> [RestorationEntry] {
    guard tape.kind(payload) == .object else { throw damaged("it is no record") }
    // `get restoration` of a nav without a restoration identifier returns an empty object.
    if tape.count(payload) == 0 { return [] }
    guard let version = tape.integer("v", of: payload), version > 0
    else { throw damaged("it has no version") }
    guard version <= RestorationPayload.version else {
      throw damaged("its version \(version) is newer than \(RestorationPayload.version)")
    }
    guard let list = tape.member("entries", of: payload), tape.kind(list) == .array else {
      throw damaged("it has no entries")
    }
    var entries: [RestorationEntry] = []
    var paths: Set<Text> = []
    var ids: Set<ScreenID> = []
    try tape.forEachElement(of: list) { element throws(ReadFailure) in
      guard let path = tape.string("path", of: element),
        let screen = tape.member("screen", of: element)
      else { throw damaged("an entry lacks path or screen") }
      guard paths.insert(Text(path)).inserted else {
        throw damaged("the path \(path) stands twice")
      }
      let record = readable(tape, screen)
      if let id = record?.id, !ids.insert(id).inserted {
        throw damaged("the screen \(id.text) stands twice")
      }
      entries.append(RestorationEntry(path: path, record: record))
    }
    return entries
  }

  private func readable(_ tape: borrowing JSONTape, _ at: Int) -> ScreenRecord? {
    guard tape.kind(at) == .object else { return nil }
    do {
      return try reader.screenRecord(tape, at)
    } catch {
      return nil
    }
  }

  private func damaged(_ what: String) -> ReadFailure {
    ReadFailure(.restoreFailed, "the payload cannot be restored: \(what)")
  }
}

extension OperationReader {
  func transitionOperation(
    _ kind: OperationKind, _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .transitionComplete:
      let id = try require(
        tape.integer("tid", of: at), "transition.complete needs tid, a whole number")
      return .completeTransition(Revision(id))
    case .gestureBegin:
      return try beginning(tape, at)
    case .gestureUpdate:
      let value = try require(
        tape.member("value", of: at).flatMap({ tape.number($0) }),
        "gesture.update needs value, a number from 0 to 1")
      return .updateGesture(value)
    case .gestureFinish:
      return .finishGesture
    default:
      return .cancelGesture
    }
  }

  private func beginning(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let kind = tape.string("kind", of: at),
      kind == "edge" || kind == "fullScreen"
    else {
      throw ReadFailure(.invalidArgument, "kind is edge or fullScreen")
    }
    var translation = 1.0
    if let value = tape.member("translation", of: at) {
      let number = try require(tape.number(value), "translation is a number, positive to the right")
      translation = number
    }
    // The hub fills in the owner, because it knows the sender.
    return .beginGesture(isFullScreen: kind == "fullScreen", translation: translation, owner: "")
  }
}
