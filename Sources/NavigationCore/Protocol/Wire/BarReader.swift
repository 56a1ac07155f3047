// Readers of the bar and the toolbar, in messages and in journal rows.

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
      try reader.refuseReadonly(["hidden", "hid"], tape, at)
      return .setBar(try reader.barEdits(tape, at))
    case .toolbarSet:
      try reader.refuseReadonly(["hidden"], tape, at)
      return .setToolbar(try reader.toolbarEdits(tape, at))
    case .barSetHidden: return .setBarHidden(try hidden(name, tape, at))
    case .toolbarSetHidden: return .setToolbarHidden(try hidden(name, tape, at))
    case .appearanceSet: return try appearance(tape, at)
    case .proxySet: return try proxy(tape, at)
    case .envSet: return .setEnvironment(try reader.environmentEdits(tape, at))
    case .uiTap:
      try only([], name, tape, at)
      return .tap
    case .uiSwipe:
      try only(["dir"], name, tape, at)
      switch tape.member("dir", of: at).flatMap({ tape.string($0) }) {
      case "up": return .swipe(.up)
      case "down": return .swipe(.down)
      default: throw ReadFailure(.invalidArgument, "dir is up or down")
      }
    default: preconditionFailure("\(name) is no operation on bars")
    }
  }

  private func hidden(
    _ op: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Bool {
    try only(["hidden"], op, tape, at)
    guard let value = tape.member("hidden", of: at), let isHidden = tape.bool(value) else {
      throw ReadFailure(.invalidArgument, "hidden is true or false")
    }
    return isHidden
  }

  private func appearance(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    try only(["slot", "object", "screen"], "appearance.set", tape, at)
    guard let member = tape.member("slot", of: at),
      let slot: AppearanceSlot = try reader.choice(tape, member, "slot")
    else { throw ReadFailure(.invalidArgument, "slot is one of \(AppearanceSlot.choices)") }
    guard let object = tape.member("object", of: at) else {
      throw ReadFailure(.invalidArgument, "object is an appearance object, or null for none")
    }
    let look = try reader.appearanceObject(tape, object, slot.wireName.description)
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

extension RecordReader {
  /// Throws `readonly` if the object names a member without a setter, unless it is `argument`.
  ///
  /// Callers check this before any other member.
  func refuseReadonly(
    _ names: Set<Text>, _ tape: borrowing JSONTape, _ at: Int, unless argument: String? = nil
  ) throws(ReadFailure) {
    try tape.forEachMember(of: at) { name, _ throws(ReadFailure) in
      let key = Text(name)
      guard name == argument || !names.contains(key) && !Self.readonly.contains(key) else {
        throw ReadFailure(.readonly, "\(name) is derived or fixed and cannot be set")
      }
    }
  }

  func barEdits(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [BarEdit] {
    var edits: [BarEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      guard let edit = try barEdit(name, tape, value) else {
        throw unknownMember(name, of: "a bar")
      }
      edits.append(edit)
    }
    return edits
  }

  private func barEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> BarEdit? {
    switch name {
    case "tintColor": return .tintColor(try colour(tape, at, name))
    case "backgroundColor": return .backgroundColor(try colour(tape, at, name))
    case "prefersLargeTitles":
      return .prefersLargeTitles(try flag(tape, at, name, default: false))
    case "appearance":
      return .appearance(tape.kind(at) == .null ? AppearanceSet() : try appearance(tape, at))
    default: return try lookEdit(name, tape, at).map { .look($0) }
    }
  }

  func toolbarEdits(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [ToolbarEdit] {
    var edits: [ToolbarEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      edits.append(try toolbarEdit(name, tape, value))
    }
    return edits
  }

  private func toolbarEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> ToolbarEdit {
    switch name {
    case "barStyle": .barStyle(try choice(tape, at, name))
    case "tintColor": .tintColor(try colour(tape, at, name))
    case "barTintColor": .barTintColor(try colour(tape, at, name))
    case "translucent":
      .translucent(tape.kind(at) == .null ? nil : try flag(tape, at, name, default: false))
    default: throw unknownMember(name, of: "a toolbar")
    }
  }

  package func storedBar(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Bar {
    var bar = Bar()
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      switch name {
      case "ver": break
      case "class": bar.className = try text(tape, value, name) ?? bar.className
      case "hidden": bar.isHidden = try flag(tape, value, name, default: false)
      case "hid": bar.hid = try hiding(tape, value)
      default:
        guard let edit = try barEdit(name, tape, value) else {
          throw unknownMember(name, of: "a bar")
        }
        bar.apply(edit)
      }
    }
    return bar
  }

  func hiding(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> AutomaticHiding {
    guard let member = tape.member("cause", of: at),
      let cause: HidingCause = try choice(tape, member, "hid.cause"),
      let toolbar = tape.member("toolbar", of: at)
    else { throw ReadFailure(.invalidArgument, "hid is {cause, toolbar}") }
    return AutomaticHiding(
      cause: cause, toolbar: try flag(tape, toolbar, "hid.toolbar", default: false))
  }

  package func storedToolbar(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Toolbar {
    var toolbar = Toolbar()
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      switch name {
      case "ver": break
      case "class": toolbar.className = try text(tape, value, name) ?? toolbar.className
      case "hidden": toolbar.isHidden = try flag(tape, value, name, default: true)
      default: toolbar.apply(try toolbarEdit(name, tape, value))
      }
    }
    return toolbar
  }
}
