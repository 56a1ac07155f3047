/// Reads the members of `settings`; null means the default.
package struct SettingsReader {
  private let reader: RecordReader

  package init(_ reader: RecordReader) { self.reader = reader }

  /// Reads the arguments of `nav.configure`.
  func edits(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [SettingsEdit] {
    try reader.refuseReadonly(Self.readonly, tape, at)
    var edits: [SettingsEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      edits += try self.edits(name, tape, value)
    }
    return edits
  }

  /// Properties of UIKit's controller that have no setter.
  private static let readonly: Set<Text> = [
    "interactivePopGestureRecognizer", "barHideOnTapGestureRecognizer",
    "barHideOnSwipeGestureRecognizer", "topViewController", "visibleViewController",
    "navigationBar", "bar", "toolbar", "proxy",
  ]

  package func stored(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> RecordedSettings
  {
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "settings are no record")
    }
    var settings = RecordedSettings(isAttached: false, content: Settings())
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      switch name {
      case "ver": break
      case "attached": settings.isAttached = try reader.flag(tape, value, name, default: false)
      case "proxy": settings.content.proxy = try reader.proxy(tape, value)
      default: for edit in try edits(name, tape, value) { settings.content.apply(edit) }
      }
    }
    return settings
  }

  private func edits(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [SettingsEdit] {
    switch name {
    case "interactivePop": try edits(name, ["enabled", "mode"], tape, at)
    case "veto": try edits(name, ["deadline", "policy", "required"], tape, at)
    case "profile":
      try edits(
        name, ["os", "compactHeight", "shadowNeedsBackground", "extraSystemItems"], tape, at)
    default: [try edit(name, tape, at)]
    }
  }

  private func edit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> SettingsEdit {
    let isNull = tape.kind(at) == .null
    switch name {
    case "container": return .container(isNull ? nil : try reader.opaque(tape, at, name))
    case "restorationID": return .restorationID(try reader.text(tape, at, name))
    case "interactivePopWithoutBackButton":
      return .interactivePopWithoutBackButton(try reader.flag(tape, at, name, default: false))
    case "simultaneous":
      return .simultaneous(isNull ? nil : try list(name, tape, at))
    case "hidesBarsOnTap": return .hidesBarsOnTap(try reader.flag(tape, at, name, default: false))
    case "hidesBarsOnSwipe":
      return .hidesBarsOnSwipe(try reader.flag(tape, at, name, default: false))
    case "hidesBarsWhenVerticallyCompact":
      return .hidesBarsWhenVerticallyCompact(try reader.flag(tape, at, name, default: false))
    case "hidesBarsWhenKeyboardAppears":
      return .hidesBarsWhenKeyboardAppears(try reader.flag(tape, at, name, default: false))
    case "guard": return .guardPolicy(try reader.choice(tape, at, name) ?? .removal)
    case "vetoScope": return .vetoScope(try reader.choice(tape, at, name) ?? .pushpop)
    case "questionDeadline":
      return .questionDeadline(isNull ? 250 : try reader.integer(tape, at, name, in: 1...60_000))
    case "transitionDeadline":
      return .transitionDeadline(isNull ? 1000 : try reader.integer(tape, at, name, in: 1...60_000))
    case "gestureDeadline":
      return .gestureDeadline(isNull ? 10000 : try reader.integer(tape, at, name, in: 1...600_000))
    case "queue": return .queue(isNull ? 8 : try reader.integer(tape, at, name, in: 0...64))
    case "backTitles": return .backTitles(isNull ? [:] : try backTitles(tape, at))
    case "routes": return .routes(isNull ? nil : try list(name, tape, at))
    default: throw reader.unknownMember(name, of: "settings")
    }
  }

  private func list(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> OpaqueJSON {
    guard tape.kind(at) == .array else { throw ReadFailure(.invalidArgument, "\(name) is a list") }
    try tape.forEachElement(of: at) { element throws(ReadFailure) in
      let isRight =
        name == "routes"
        ? tape.kind(element) == .object && tape.member("match", of: element) != nil
          && tape.member("screens", of: element) != nil
        : tape.kind(element) == .array && tape.count(element) == 2
      guard isRight else {
        throw ReadFailure(
          .invalidArgument,
          name == "routes"
            ? "a route is {match, screens}" : "simultaneous holds pairs of gesture kinds")
      }
    }
    return try reader.opaque(tape, at, name)
  }

  private func backTitles(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [Text: Text] {
    let form = "backTitles is an object of texts of 1 to 256 bytes by language tag"
    try reader.needObject(tape, at, form)
    var titles: [Text: Text] = [:]
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      let tag = BackTitles.canonical(name)
      guard let title = tape.string(value), (1...256).contains(title.utf8.count),
        (1...64).contains(tag.utf8.count), titles.updateValue(Text(title), forKey: Text(tag)) == nil
      else { throw ReadFailure(.invalidArgument, form + ", each tag once") }
    }
    return titles
  }

  /// Reads the members of a record inside the settings; null sets the default of each.
  private func edits(
    _ record: String, _ members: [String], _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [SettingsEdit] {
    if tape.kind(at) == .null {
      return try members.map { name throws(ReadFailure) in try edit(name, of: record, tape, at) }
    }
    try reader.needObject(tape, at, "\(record) is {\(members.joined(separator: ", "))}")
    var edits: [SettingsEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      edits.append(try edit(name, of: record, tape, value))
    }
    return edits
  }

  private func edit(
    _ name: String, of record: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> SettingsEdit {
    let path = "\(record).\(name)"
    let isNull = tape.kind(at) == .null
    switch path {
    case "interactivePop.enabled":
      return .interactivePopIsEnabled(try reader.flag(tape, at, path, default: true))
    case "interactivePop.mode":
      return .interactivePopIsFullScreen(try isSecond(("edge", "fullScreen"), tape, at, path))
    case "veto.deadline":
      return .vetoDeadline(isNull ? 2000 : try reader.integer(tape, at, path, in: 1...60_000))
    case "veto.policy": return .vetoAllowsOnTimeout(try isSecond(("deny", "allow"), tape, at, path))
    case "veto.required": return .vetoIsRequired(try reader.flag(tape, at, path, default: false))
    case "profile.os":
      return .profileOS(isNull ? 17 : try reader.integer(tape, at, path, in: 7...99))
    case "profile.compactHeight":
      return .profileCompactHeight(isNull ? 32 : try reader.integer(tape, at, path, in: 1...1000))
    case "profile.shadowNeedsBackground":
      return .profileShadowNeedsBackground(try reader.flag(tape, at, path, default: true))
    case "profile.extraSystemItems":
      return .profileExtraSystemItems(try reader.flag(tape, at, path, default: false))
    default: throw reader.unknownMember(name, of: record)
    }
  }

  /// Whether a value is the second of two words; null is the first.
  private func isSecond(
    _ words: (String, String), _ tape: borrowing JSONTape, _ at: Int, _ path: String
  ) throws(ReadFailure) -> Bool {
    let word = tape.kind(at) == .null ? words.0 : tape.string(at) ?? ""
    guard word == words.0 || word == words.1 else {
      throw ReadFailure(.invalidArgument, "\(path) is \(words.0) or \(words.1)")
    }
    return word == words.1
  }
}
