package import NavigationCore

extension Environment: TabledRecord {
  package static let table = MemberTable<Environment>(
    "the environment",
    [
      Member("owner", \.owner).readonly,
      Member("idiom", \.isPhone, on: "phone", off: "pad"),
      Member("vCompact", \.isVerticallyCompact), Member("scrollEdge", \.isAtScrollEdge),
      Member("keyboard", \.showsKeyboard),
      Member("scale", \.scale, RecordReader.scale),
      Member("statusBar", \.statusBar, in: 0...10_000),
      Member(
        "backTitleBudget", \.backTitleBudget, isDefault: { $0 == nil }, read: RecordReader.budget
      ) { $1.integer(UInt64(clamping: $0 ?? 0)) },
      Member("locale", \.locale, RecordReader.locale), Member("orientation", \.orientation),
      Member("barPosition", \.barPosition), Member("animations", \.animations),
      Member("screenReader", \.hasScreenReader),
      Member("contentSizeCategory", \.contentSizeCategory),
      Member("accessibilityContrast", \.hasHighContrast, on: "high", off: "normal"),
      Member("orientations", \.orientations).readonly,
    ])
}

extension RecordReader {
  /// Reads the members of `env.set`.
  ///
  /// It checks the horizontal size class and ignores it: clients may report it with their other
  /// traits, but no rule uses it.
  func environmentEdits(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [Edit<Environment>] {
    try refuseReadonly(Environment.table, [], tape, at)
    return try edits(tape, at) { name, value throws(ReadFailure) in
      guard name == "horizontal" else { return false }
      let word = tape.string(value)
      guard tape.kind(value) == .null || word == "compact" || word == "regular" else {
        throw ReadFailure(.invalidArgument, "horizontal is compact or regular")
      }
      return true
    }
  }

  /// Reads the scale as the client wrote it; nil for 2, the default.
  fileprivate func scale(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON? {
    guard let scale = tape.number(at), scale > 0, scale <= 100, tape.rawCount(at) <= 32 else {
      throw ReadFailure(.invalidArgument, "scale is a number of pixels a point, from 0 to 100")
    }
    return scale == 2 ? nil : OpaqueJSON(validated: tape.raw(at))
  }

  fileprivate func budget(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Int? {
    Int(try integer(tape, at, name, in: 0...10_000))
  }

  fileprivate func locale(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    guard let locale = tape.string(at), !locale.isEmpty, locale.utf8.count <= 64 else {
      throw ReadFailure(.invalidArgument, "locale is a language tag of 1 to 64 bytes")
    }
    return locale
  }
}

extension DelegateOrientations: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<DelegateOrientations> {
    { tape, at, _ throws(ReadFailure) in try reader.delegateOrientations(tape, at) }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.name("supported")
    json.beginArray()
    for orientation in supported { json.word(orientation.word) }
    json.endArray()
    if let preferred { json.member("preferred", word: preferred.word) }
    json.endObject()
  }
}
