package import NavigationCore

extension Environment: TabledRecord {
  package static let table = MemberTable<Environment>(
    "the environment",
    [
      Member("owner", \.owner).readonly,
      Member("idiom", \.isPhone, on: "phone", off: "pad").documented("The kind of display."),
      Member("vCompact", \.isVerticallyCompact)
        .documented("Whether the height is compact, as on a phone in landscape."),
      Member("scrollEdge", \.isAtScrollEdge)
        .documented("Whether the content is scrolled to its edge."),
      Member("keyboard", \.showsKeyboard).documented("Whether a keyboard is shown."),
      Member("scale", \.scale, JSONTape.scale).documented("Pixels per point."),
      Member("statusBar", \.statusBarHeight, in: 0...10_000)
        .documented("The height of the status bar in whole points, 0 to 10000."),
      Member(
        "backTitleBudget", \.backTitleColumns, isDefault: { $0 == nil }, read: JSONTape.columnLimit
      ) { $1.integer(UInt64(clamping: $0 ?? 0)) }
      .documented(
        "The maximum width of the back button's text, in the daemon's units of text width."),
      Member("locale", \.locale, JSONTape.locale)
        .documented("The language, such as `en` or `zh-Hans`."),
      Member("orientation", \.orientation).documented("The orientation of the display."),
      Member("barPosition", \.barPosition).documented("The position of the bar."),
      Member("animations", \.animations)
        .documented("The animations that the person at the display wants."),
      Member("screenReader", \.hasScreenReader)
        .documented("Whether a screen reader runs, as UIKit's `isVoiceOverRunning`."),
      Member("contentSizeCategory", \.contentSizeCategory)
        .documented("The size of text that the person at the display wants."),
      Member("accessibilityContrast", \.hasHighContrast, on: "high", off: "normal")
        .documented("Whether the person at the display wants high contrast."),
      Member("orientations", \.delegateOrientations).readonly,
    ])
}

extension JSONTape {
  /// Reads the members of `env.set`.
  ///
  /// The reader checks the horizontal size class and ignores it: clients may report it with their
  /// other traits, but no rule uses it.
  func environmentEdits(_ at: Int) throws(ReadFailure) -> [Edit<Environment>] {
    try refuseReadonly(Environment.table, [], at)
    return try edits(at) { name, value throws(ReadFailure) in
      guard name == "horizontal" else { return false }
      let word = string(value)
      try need(
        kind(value) == .null || word == "compact" || word == "regular",
        "horizontal is compact or regular")
      return true
    }
  }

  /// Reads the scale as the client wrote it; nil for 2, the default.
  fileprivate func scale(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON? {
    let scale = number(at) ?? 0
    try need(
      scale > 0 && scale <= 100 && rawByteCount(at) <= 32,
      "scale is a number of pixels a point, from 0 to 100")
    return scale == 2 ? nil : OpaqueJSON(validated: raw(at))
  }

  fileprivate func columnLimit(_ at: Int, _ name: String) throws(ReadFailure) -> Int? {
    Int(try integer(at, name, in: 0...10_000))
  }

  fileprivate func locale(_ at: Int, _ name: String) throws(ReadFailure) -> String {
    guard let locale = string(at), !locale.isEmpty, locale.utf8.count <= 64 else {
      throw ReadFailure("locale is a language tag of 1 to 64 bytes")
    }
    return locale
  }

  /// Reads the orientations of a delegate, in its registration or a journal row.
  func delegateOrientations(_ at: Int) throws(ReadFailure) -> DelegateOrientations {
    let form = "supported is a list of orientations"
    let list = try listIndex("supported", of: at, orThrow: form)
    try need(count(list) > 0, form)
    var value = DelegateOrientations(supported: [], preferred: nil)
    try forEachElement(of: list) { element throws(ReadFailure) in
      let orientation: Orientation = try need(try optionalWord(element, "supported"), form)
      if !value.supported.contains(orientation) { value.supported.append(orientation) }
    }
    if let preferred = member("preferred", of: at) {
      value.preferred = try optionalWord(preferred, "preferred")
      if let preferred = value.preferred, !value.supported.contains(preferred) {
        throw ReadFailure("the preferred orientation is not supported")
      }
    }
    return value
  }
}

extension DelegateOrientations: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<DelegateOrientations> {
    { at, _ throws(ReadFailure) in try tape.delegateOrientations(at) }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.array("supported", supported) { $0.word($1.word) }
    if let preferred { json.member("preferred", word: preferred.word) }
    json.endObject()
  }
}
