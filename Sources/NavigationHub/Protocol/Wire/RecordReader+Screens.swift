package import NavigationCore

/// Returns a value that must be there; throws `invalid-argument` with a text for people otherwise.
@inline(__always)
func require<Value>(
  _ value: Value?, _ otherwise: @autoclosure () -> String
) throws(ReadFailure) -> Value {
  guard let value else { throw ReadFailure(.invalidArgument, otherwise()) }
  return value
}

/// Throws `invalid-argument` with a text for people unless the condition holds.
@inline(__always)
func require(
  _ condition: Bool, _ otherwise: @autoclosure () -> String
) throws(ReadFailure) {
  guard condition else { throw ReadFailure(.invalidArgument, otherwise()) }
}

extension RecordReader {
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
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      if skipping.contains(name) { return }
      guard let edit = try itemEdit(name, tape, value) else {
        throw unknownMember(name, of: "a navigation item")
      }
      edits.add(edit)
    }
    return edits
  }

  private func itemEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> ItemEdit? {
    switch name {
    case "title": return .title(try text(tape, at, "title"))
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
