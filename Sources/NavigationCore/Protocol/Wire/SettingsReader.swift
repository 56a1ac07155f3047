/// Reads the members of `settings`; null means the default.
package struct SettingsReader {
  private let reader: RecordReader

  package init(_ reader: RecordReader) { self.reader = reader }

  /// Reads the arguments of `nav.configure`.
  func edits(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [SettingsEdit] {
    try reader.refuseReadonly(Self.readonly, tape, at)
    var edits: [SettingsEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      edits.append(try edit(name, tape, value))
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
      default: settings.content.apply(try edit(name, tape, value))
      }
    }
    return settings
  }

  private func edit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> SettingsEdit {
    let isNull = tape.kind(at) == .null
    switch name {
    case "container": return .container(isNull ? nil : try reader.opaque(tape, at, name))
    case "restorationID": return .restorationID(try reader.text(tape, at, name))
    case "interactivePop":
      return .interactivePop(isNull ? InteractivePop() : try interactivePop(tape, at))
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
    case "veto": return .veto(isNull ? Veto() : try veto(tape, at))
    case "questionDeadline":
      return .questionDeadline(isNull ? 250 : try reader.integer(tape, at, name, in: 1...60_000))
    case "transitionDeadline":
      return .transitionDeadline(isNull ? 1000 : try reader.integer(tape, at, name, in: 1...60_000))
    case "gestureDeadline":
      return .gestureDeadline(isNull ? 10000 : try reader.integer(tape, at, name, in: 1...600_000))
    case "queue": return .queue(isNull ? 8 : try reader.integer(tape, at, name, in: 0...64))
    case "profile": return .profile(isNull ? Profile() : try profile(tape, at))
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

  private func interactivePop(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> InteractivePop {
    var value = InteractivePop()
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "interactivePop is {enabled, mode}")
    }
    try tape.forEachMember(of: at) { name, place throws(ReadFailure) in
      switch name {
      case "enabled":
        value.isEnabled = try reader.flag(tape, place, "interactivePop.enabled", default: true)
      case "mode":
        switch tape.string(place) {
        case "edge": value.isFullScreen = false
        case "fullScreen": value.isFullScreen = true
        default:
          throw ReadFailure(.invalidArgument, "interactivePop.mode is edge or fullScreen")
        }
      default: throw reader.unknownMember(name, of: "interactivePop")
      }
    }
    return value
  }

  private func veto(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Veto {
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "veto is {deadline, policy, required}")
    }
    var value = Veto()
    try tape.forEachMember(of: at) { name, place throws(ReadFailure) in
      switch name {
      case "deadline":
        value.deadline = try reader.integer(tape, place, "veto.deadline", in: 1...60_000)
      case "policy":
        switch tape.string(place) {
        case "deny": value.allowsOnTimeout = false
        case "allow": value.allowsOnTimeout = true
        default: throw ReadFailure(.invalidArgument, "veto.policy is deny or allow")
        }
      case "required":
        value.isRequired = try reader.flag(tape, place, "veto.required", default: false)
      default: throw reader.unknownMember(name, of: "veto")
      }
    }
    return value
  }

  private func profile(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Profile {
    guard tape.kind(at) == .object else {
      throw ReadFailure(
        .invalidArgument, "profile is {os, compactHeight, shadowNeedsBackground, extraSystemItems}")
    }
    var value = Profile()
    try tape.forEachMember(of: at) { name, place throws(ReadFailure) in
      switch name {
      case "os": value.os = try reader.integer(tape, place, "profile.os", in: 7...99)
      case "compactHeight":
        value.compactHeight = try reader.integer(
          tape, place, "profile.compactHeight", in: 1...1000)
      case "shadowNeedsBackground":
        value.shadowNeedsBackground = try reader.flag(tape, place, name, default: true)
      case "extraSystemItems":
        value.extraSystemItems = try reader.flag(tape, place, name, default: false)
      default: throw reader.unknownMember(name, of: "profile")
      }
    }
    return value
  }
}
