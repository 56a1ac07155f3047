// Readers of the environment, which the display reports, in messages and in journal rows.

extension RecordReader {
  /// Reads the members of `env.set`.
  func environmentEdits(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [EnvironmentEdit] {
    try refuseReadonly(["owner", "orientations"], tape, at)
    var edits: [EnvironmentEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      guard name != "horizontal" else { return try checkHorizontal(tape, value) }
      edits.append(try environmentEdit(name, tape, value))
    }
    return edits
  }

  /// Checks the horizontal size class and ignores its value.
  ///
  /// Clients may report it with their other traits, but no rule uses it.
  private func checkHorizontal(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) {
    switch tape.string(at) {
    case "compact", "regular": return
    case nil where tape.kind(at) == .null: return
    default: throw ReadFailure(.invalidArgument, "horizontal is compact or regular")
    }
  }

  private func environmentEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> EnvironmentEdit {
    let isNull = tape.kind(at) == .null
    let standard = Environment()
    switch name {
    case "idiom": return .isPhone(try !word(tape, at, name, off: "phone", on: "pad"))
    case "vCompact": return .isVerticallyCompact(try flag(tape, at, name, default: false))
    case "scrollEdge": return .isAtScrollEdge(try flag(tape, at, name, default: false))
    case "keyboard": return .showsKeyboard(try flag(tape, at, name, default: false))
    case "scale": return .scale(isNull ? nil : try scale(tape, at))
    case "statusBar":
      return .statusBar(
        isNull ? standard.statusBar : try integer(tape, at, name, in: 0...10_000))
    case "backTitleBudget":
      return .backTitleBudget(isNull ? nil : Int(try integer(tape, at, name, in: 0...10_000)))
    case "locale": return .locale(isNull ? standard.locale : try locale(tape, at))
    case "orientation": return .orientation(try choice(tape, at, name) ?? standard.orientation)
    case "barPosition": return .barPosition(try choice(tape, at, name) ?? standard.barPosition)
    case "animations": return .animations(try choice(tape, at, name) ?? standard.animations)
    case "screenReader": return .hasScreenReader(try flag(tape, at, name, default: false))
    case "contentSizeCategory":
      return .contentSizeCategory(try choice(tape, at, name) ?? standard.contentSizeCategory)
    case "accessibilityContrast":
      return .hasHighContrast(try word(tape, at, name, off: "normal", on: "high"))
    default: throw unknownMember(name, of: "the environment")
    }
  }

  /// Reads one of two words, of which the first is the default.
  private func word(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String, off: String, on: String
  ) throws(ReadFailure) -> Bool {
    let word = tape.kind(at) == .null ? off : tape.string(at)
    guard word == on || word == off else {
      throw ReadFailure(.invalidArgument, "\(name) is \(off) or \(on)")
    }
    return word == on
  }

  /// Reads the scale as the client wrote it; nil for 2, the default.
  private func scale(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> OpaqueJSON? {
    guard let scale = tape.number(at), scale > 0, scale <= 100, tape.rawCount(at) <= 32 else {
      throw ReadFailure(.invalidArgument, "scale is a number of pixels a point, from 0 to 100")
    }
    return scale == 2 ? nil : OpaqueJSON(validated: tape.raw(at))
  }

  private func locale(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> String {
    guard let locale = tape.string(at), !locale.isEmpty, locale.utf8.count <= 64 else {
      throw ReadFailure(.invalidArgument, "locale is a language tag of 1 to 64 bytes")
    }
    return locale
  }

  package func storedEnvironment(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure)
    -> Environment
  {
    var environment = Environment()
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      switch name {
      case "ver": break
      case "owner": environment.owner = try text(tape, value, name)
      case "orientations": environment.orientations = try orientations(tape, value)
      default: environment.apply(try environmentEdit(name, tape, value))
      }
    }
    return environment
  }

  /// Reads the orientations of an orientation delegate, `{supported, preferred}`, from a journal
  /// row.
  func orientations(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> DelegateOrientations {
    guard let list = tape.member("supported", of: at), tape.kind(list) == .array else {
      throw ReadFailure(
        .invalidArgument, "orientations is {supported, preferred} with a list and one of it")
    }
    var supported: [Orientation] = []
    try tape.forEachElement(of: list) { element throws(ReadFailure) in
      guard let orientation: Orientation = try choice(tape, element, "supported") else {
        throw ReadFailure(.invalidArgument, "supported lists \(Orientation.choices)")
      }
      supported.append(orientation)
    }
    var preferred: Orientation?
    if let member = tape.member("preferred", of: at) {
      preferred = try choice(tape, member, "preferred")
    }
    return DelegateOrientations(supported: supported, preferred: preferred)
  }
}
