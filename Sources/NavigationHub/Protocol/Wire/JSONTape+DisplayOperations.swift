import NavigationCore

// Readers of the operations on bars, presentations, standalone bars, transitions and gestures, and of
// those that replace the stack by something kept elsewhere.

extension JSONTape {
  func barOperation(
    _ kind: OperationKind, _ name: String, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .barSet:
      guard member("delegate", of: at) == nil else {
        throw ReadFailure(
          .barDelegateManaged, "cannot manually set the delegate on a bar managed by a controller")
      }
      try refuseReadonly(Bar.table, [], at)
      return .setBar(try edits(at))
    case .toolbarSet:
      try refuseReadonly(Toolbar.table, [], at)
      return .setToolbar(try edits(at))
    case .barSetHidden: return .setBarHidden(try isHiddenArgument(at))
    case .toolbarSetHidden: return .setToolbarHidden(try isHiddenArgument(at))
    case .appearanceSet: return try appearanceOperation(at)
    case .proxySet: return try proxyOperation(at)
    case .envSet: return .setEnvironment(try environmentEdits(at))
    case .uiTap: return .tapContent
    case .uiSwipe:
      let direction = string("dir", of: at).flatMap { SwipeDirection(word: $0) }
      return .swipeContent(try need(direction, "dir is up or down"))
    default: preconditionFailure("\(name) is no operation on bars")
    }
  }

  private func isHiddenArgument(_ at: Int) throws(ReadFailure) -> Bool {
    try need(bool("hidden", of: at), "hidden is true or false")
  }

  private func appearanceOperation(_ at: Int) throws(ReadFailure) -> Operation {
    guard let name = value("slot", of: at) else {
      throw ReadFailure("slot is one of \(AppearanceSlot.choices)")
    }
    let slot: AppearanceSlot = try word(name, "slot")
    let object = try need(
      member("object", of: at), "object is an appearance object, or null for none")
    let look = kind(object) == .null ? nil : try appearanceObject(object, slot.word)
    return .setAppearance(slot, look, screen: try optionalScreenID("screen", of: at))
  }

  private func proxyOperation(_ at: Int) throws(ReadFailure) -> Operation {
    let name = try optionalString("class", of: at) ?? "NavigationBar"
    return .setProxy(className: name, try lookEdits(at, skipping: "class"))
  }

  func presentationOperation(
    _ kind: OperationKind, _ name: String, _ at: Int
  ) throws(ReadFailure) -> Operation {
    switch kind {
    case .present:
      return .present(
        try screen(of: at), from: try optionalScreenID("from", of: at),
        style: try presentationStyle(of: at))
    case .dismiss:
      return try withResult(.dismiss(from: try optionalScreenID("from", of: at)), at)
    case .segue: return try segueOperation(at)
    case .open:
      return .open(
        route: try need(string("route", of: at), "route, a text, is required"),
        dismissesFirst: try value("over", of: at).map { at throws(ReadFailure) in
          try bool(at, "over")
        })
    case .restore: return try restoreOperation(at)
    case .revert:
      let revision = try need(integer("rev", of: at), "rev, a whole number, is required")
      return .revert(to: Revision(revision), stack: nil)
    default: throw ReadFailure(.unsupported, "this daemon does not know the op \(name)")
    }
  }

  /// Reads UIKit's names of `push`, `pop` and `setStack` on a standalone bar.
  func barItemsOperation(_ kind: OperationKind, _ at: Int) throws(ReadFailure) -> Operation {
    switch kind {
    case .pushItem:
      guard let value = member("item", of: at) else {
        throw ReadFailure(.nilScreen, "an item is required: its id or a record")
      }
      return .push(try screenArgument(value), onDuplicate: .error)
    case .popItem: return .pop
    default:
      let form = "items is a list of items, or null for none"
      if self.kind(try need(member("items", of: at), form)) == .null { return .setStack([]) }
      return .setStack(
        try elements(of: try listIndex("items", of: at, orThrow: form), screenArgument))
    }
  }

  /// Reads the id of a screen; nil if the member is null or missing.
  private func optionalScreenID(_ name: String, of at: Int) throws(ReadFailure) -> ScreenID? {
    try value(name, of: at).map { at throws(ReadFailure) in try screenID(at) }
  }

  private func presentationStyle(of at: Int) throws(ReadFailure) -> String? {
    guard let style = try optionalString("style", of: at) else { return nil }
    try need(Grammar.isID(style.utf8.span), "style is the name of a presentation style")
    return style
  }

  private func segueOperation(_ at: Int) throws(ReadFailure) -> Operation {
    switch string("kind", of: at) {
    case "show":
      let policy = try duplicatePolicy(member("onDuplicate", of: at))
      return .push(try screen(of: at), onDuplicate: policy)
    case "showDetail":
      try need(
        member("onDuplicate", of: at) == nil, "showDetail presents, and takes no onDuplicate")
      return .present(try screen(of: at), from: nil, style: nil)
    default:
      throw ReadFailure("kind is show or showDetail; a client performs other segues itself")
    }
  }

  private func restoreOperation(_ at: Int) throws(ReadFailure) -> Operation {
    let payload = try need(
      member("payload", of: at), "payload, as get restoration gave it, is required")
    let entries = try restorationEntries(payload)
    let root = try value("root", of: at).map { at throws(ReadFailure) in try screenArgument(at) }
    return .restore(entries, root: root)
  }

  /// Reads the entries of a restoration payload.
  ///
  /// The record of an unreadable screen is nil, because the rules of `restore` skip such screens.
  private func restorationEntries(_ payload: Int) throws(ReadFailure) -> [RestorationEntry] {
    guard kind(payload) == .object else { throw damaged("it is no record") }
    // `get restoration` of a nav without a restoration identifier returns an empty object.
    if count(payload) == 0 { return [] }
    guard let version = integer("v", of: payload), version > 0 else {
      throw damaged("it has no version")
    }
    guard version <= RestorationEntry.payloadVersion else {
      throw damaged("its version \(version) is newer than \(RestorationEntry.payloadVersion)")
    }
    guard let list = member("entries", of: payload), kind(list) == .array else {
      throw damaged("it has no entries")
    }
    var entries: [RestorationEntry] = []
    var paths: Set<Text> = []
    var ids: Set<ScreenID> = []
    try forEachElement(of: list) { element throws(ReadFailure) in
      guard let path = string("path", of: element), let screen = member("screen", of: element)
      else { throw damaged("an entry lacks path or screen") }
      guard paths.insert(Text(path)).inserted else {
        throw damaged("the path \(path) stands twice")
      }
      let record = kind(screen) == .object ? (try? screenRecord(screen)) : nil
      if let id = record?.id, !ids.insert(id).inserted {
        throw damaged("the screen \(id.text) stands twice")
      }
      entries.append(RestorationEntry(path: path, record: record))
    }
    return entries
  }

  private func damaged(_ what: String) -> ReadFailure {
    ReadFailure(.restoreFailed, "the payload cannot be restored: \(what)")
  }

  func transitionOperation(_ kind: OperationKind, _ at: Int) throws(ReadFailure) -> Operation {
    switch kind {
    case .transitionComplete:
      let id = try need(integer("tid", of: at), "transition.complete needs tid, a whole number")
      return .completeTransition(Revision(id))
    case .gestureBegin: return try beginGestureOperation(at)
    case .gestureUpdate:
      let value = try need(
        member("value", of: at).flatMap { number($0) },
        "gesture.update needs value, a number from 0 to 1")
      return .updateGesture(value)
    case .gestureFinish: return .finishGesture
    default: return .cancelGesture
    }
  }

  private func beginGestureOperation(_ at: Int) throws(ReadFailure) -> Operation {
    let kind = string("kind", of: at)
    try need(kind == "edge" || kind == "fullScreen", "kind is edge or fullScreen")
    var translation = 1.0
    if let value = member("translation", of: at) {
      translation = try need(number(value), "translation is a number, positive to the right")
    }
    // The hub fills in the owner, because it knows the sender.
    return .beginGesture(isFullScreen: kind == "fullScreen", translation: translation, owner: "")
  }
}
