package import NavigationCore

/// The first member of an operation or record that cannot be read, and the values it may have.
package struct ReadFailure: Error, Hashable, Sendable {
  package var code: ErrorCode
  /// The error for people.
  package var text: String
  /// The `reason` of the error on the wire; nil for codes without one.
  package var reason: String?

  package init(_ code: ErrorCode = .invalidArgument, _ text: String, reason: String? = nil) {
    self.code = code
    self.text = text
    self.reason = reason
  }
}

/// Reads records from a JSON tape.
///
/// A record may have known members only, because a misspelt one would have no effect. Functions
/// whose names begin with `stored` read records of the journal.
package struct RecordReader {
  package init() {}

  func screenArgument(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenArgument {
    switch tape.kind(at) {
    case .string: return .id(try screenID(tape, at))
    case .object: return .record(try screenRecord(tape, at))
    case .null: throw ReadFailure(.nilScreen, "a screen is required: its id or a record")
    case .no, .yes, .integer, .number, .array:
      throw ReadFailure(.invalidArgument, "a screen is an id or a record")
    }
  }

  package func screenID(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenID {
    if tape.isPlain(at), let id = ScreenID(tape.text(at)) { return id }
    guard let text = tape.string(at), let id = ScreenID(text) else {
      throw ReadFailure(
        .invalidArgument, "a screen id is a letter or digit, then up to 63 letters, digits, . _ -")
    }
    return id
  }

  /// Reads a screen record; `other` is the name of a member that stands beside those of the record,
  /// for the caller to read.
  func screenRecord(
    _ tape: borrowing JSONTape, _ at: Int, with other: ShortName? = nil
  ) throws(ReadFailure) -> ScreenRecord {
    var record = ScreenRecord()
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      let name = tape.shortName(key)
      switch name {
      case "id": record.id = tape.kind(value) == .null ? nil : try screenID(tape, value)
      case "kind": record.kind = try choice(tape, value, "kind")
      case "item":
        try needObject(tape, value, "item is a record")
        record.item = try itemEdits(tape, value, skipping: [])
      case _ where name == other: break
      default:
        guard let edit = try screenEdit(name, tape, key) else {
          throw unknownMember(tape.string(key) ?? "", of: "a screen record")
        }
        record.edits.add(edit)
      }
      key = tape.next(value)
    }
    return record
  }

  /// Reads the members of `screen.set` except `screen`.
  func screenEdits(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [ScreenEdit] {
    var edits: [ScreenEdit] = []
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let name = tape.shortName(key)
      if name != "screen" {
        guard let edit = try screenEdit(name, tape, key) else {
          throw unknownMember(tape.string(key) ?? "", of: "a screen")
        }
        edits.append(edit)
      }
      key = tape.next(key + 1)
    }
    return edits
  }

  private func screenEdit(
    _ name: ShortName, _ tape: borrowing JSONTape, _ key: Int
  ) throws(ReadFailure) -> ScreenEdit? {
    let at = key + 1
    switch name {
    case "title": return .title(try text(tape, at, "title"))
    case "route": return .route(try text(tape, at, "route"))
    case "args":
      return .args(tape.kind(at) == .null ? nil : try opaque(tape, at, "args"))
    case "item": return nil
    default:
      let name = tape.string(key) ?? ""
      if name == "toolbarItems" { return .toolbarItems(try buttons(tape, at, name)) }
      return try ScreenDetails.table.edits(self, name, tape, at, name)?.first.map { .other($0) }
    }
  }

  /// Reads the members of a navigation item, except those in `skipping`, the arguments of the
  /// operation.
  func itemEdits(
    _ tape: borrowing JSONTape, _ at: Int, skipping: [String]
  ) throws(ReadFailure) -> [ItemEdit] {
    var edits: [ItemEdit] = []
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      switch tape.shortName(key) {
      // The frequent name first, without a string. No operation has an argument with this name.
      case "title": edits.add(.title(try text(tape, key + 1, "title")))
      default:
        let name = tape.string(key) ?? ""
        if skipping.contains(name) { break }
        guard let edit = try itemEdit(name, tape, key + 1) else {
          throw unknownMember(name, of: "a navigation item")
        }
        edits.append(edit)
      }
      key = tape.next(key + 1)
    }
    return edits
  }

  private func itemEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> ItemEdit? {
    switch name {
    case "backBarButtonItem":
      return .backBarButtonItem(tape.kind(at) == .null ? nil : try button(tape, at))
    case "leftItems", "leftBarButtonItems": return .leftItems(try buttons(tape, at, name))
    case "rightItems", "rightBarButtonItems": return .rightItems(try buttons(tape, at, name))
    // UIKit's singular setters replace the whole list with at most one button.
    case "leftBarButtonItem":
      return .leftItems(tape.kind(at) == .null ? [] : [try button(tape, at)])
    case "rightBarButtonItem":
      return .rightItems(tape.kind(at) == .null ? [] : [try button(tape, at)])
    default:
      return try NavigationItem.table.edits(self, name, tape, at, name)?.first.map { .other($0) }
    }
  }
}

extension RecordReader {
  func unknownMember(_ name: String, of what: String) -> ReadFailure {
    if Self.readonly.contains(Text(name)) {
      return ReadFailure(.readonly, "\(name) is derived or fixed and cannot be set")
    }
    return ReadFailure(.invalidArgument, "\(what) has no member \(name)")
  }

  /// Members that are derived or fixed, in UIKit or in navd, so that clients cannot set them.
  static let readonly: Set<Text> = [
    "root", "top", "visible", "class", "item", "items", "frame", "bounds", "alpha", "subviews",
    "ver", "kind", "attached", "fullInteractivePopGestureRecognizer", "topItem", "backItem",
    "viewControllers", "navigationItem",
  ]

  func string(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String {
    guard let text = tape.string(at) else {
      throw ReadFailure(.invalidArgument, "\(name) is a text or null")
    }
    return text
  }

  func text(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String? {
    tape.kind(at) == .null ? nil : try string(tape, at, name)
  }

  func language(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Text? {
    let text = try string(tape, at, name)
    guard Grammar.isLanguageTag(text) else {
      throw ReadFailure(
        .invalidArgument, "\(name) is a tag of BCP 47, such as zh-Hans, of at most 64 bytes")
    }
    return Text(text)
  }

  func bool(_ tape: borrowing JSONTape, _ at: Int, _ name: String) throws(ReadFailure) -> Bool {
    guard let value = tape.bool(at) else {
      throw ReadFailure(.invalidArgument, "\(name) is true or false")
    }
    return value
  }

  func flag(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String, default: Bool
  ) throws(ReadFailure) -> Bool {
    tape.kind(at) == .null ? `default` : try bool(tape, at, name)
  }

  func integer(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String,
    in range: ClosedRange<UInt64> = 0...9_007_199_254_740_991
  ) throws(ReadFailure) -> UInt64 {
    guard let value = tape.integer(at), range.contains(value) else {
      throw ReadFailure(
        .invalidArgument,
        "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return value
  }

  func opaque(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON {
    guard tape.rawCount(at) <= 65536 else {
      throw ReadFailure(.limit, "\(name) is larger than 65536 bytes", reason: "size")
    }
    return OpaqueJSON(validated: tape.raw(at))
  }

  /// Reads an alternative by its word; nil for null.
  func choice<Choice: WireNamed>(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice? {
    tape.kind(at) == .null ? nil : try word(tape, at, name)
  }

  func word<Choice: WireNamed>(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Choice {
    guard let word = tape.string(at), let choice = Choice(word: word) else {
      throw ReadFailure(.invalidArgument, "\(name) is one of \(Choice.choices)")
    }
    return choice
  }
}
