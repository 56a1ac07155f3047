import NavigationCore

// Readers of the operations on bars and on the display.

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
      switch tape.member("dir", of: at).flatMap({ tape.string($0) }) {
      case "up": return .swipe(.up)
      case "down": return .swipe(.down)
      default: throw ReadFailure(.invalidArgument, "dir is up or down")
      }
    default: preconditionFailure("\(name) is no operation on bars")
    }
  }

  private func hidden(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Bool {
    guard let value = tape.member("hidden", of: at), let isHidden = tape.bool(value) else {
      throw ReadFailure(.invalidArgument, "hidden is true or false")
    }
    return isHidden
  }

  private func appearance(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> Operation {
    guard let member = tape.member("slot", of: at),
      let slot: AppearanceSlot = try reader.choice(tape, member, "slot")
    else { throw ReadFailure(.invalidArgument, "slot is one of \(AppearanceSlot.choices)") }
    guard let object = tape.member("object", of: at) else {
      throw ReadFailure(.invalidArgument, "object is an appearance object, or null for none")
    }
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
