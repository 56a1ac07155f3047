package import NavigationCore

// Readers of buttons, in messages and in journal rows.

extension RecordReader {
  func buttons(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> [ButtonArgument] {
    if tape.kind(at) == .null { return [] }
    guard tape.kind(at) == .array else {
      throw ReadFailure(.invalidArgument, "\(name) is a list of buttons: ids or records")
    }
    return try tape.elements(of: at) { at throws(ReadFailure) in try button(tape, at) }
  }

  func button(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ButtonArgument {
    switch tape.kind(at) {
    case .string:
      // A text that cannot be an id is the id of no button.
      guard let id = ButtonID(tape.string(at) ?? "") else {
        throw ReadFailure(.unknownButton, "\"\(tape.string(at) ?? "")\" is not the id of a button")
      }
      return .id(id)
    case .object: return .record(try buttonRecord(tape, at))
    case .null, .no, .yes, .integer, .number, .array:
      throw ReadFailure(.unknownButton, "a list of buttons holds ids and records only")
    }
  }

  package func buttonID(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ButtonID {
    guard let text = tape.string(at), let id = ButtonID(text) else {
      throw ReadFailure(
        .invalidArgument, "a button id is a letter or digit, then up to 63 letters, digits, . _ -")
    }
    return id
  }

  func buttonRecord(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ButtonRecord {
    var record = ButtonRecord()
    record.edits = try edits(tape, at) { name, _ in name == "id" }
    if let id = tape.member("id", of: at), tape.kind(id) != .null {
      record.id = try buttonID(tape, id)
    }
    return record
  }

  fileprivate func style(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> ButtonStyle {
    // UIKit's legacy style; it looks like the plain one since iOS 7.
    tape.string(at) == "bordered" ? .plain : try word(tape, at, name)
  }

  fileprivate func systemItem(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> SystemItem {
    if let name = tape.string(at), let item = SystemItem(name: name) { return item }
    if let raw = tape.integer(at), raw < 256, let item = SystemItem(rawValue: UInt8(raw)) {
      return item
    }
    throw ReadFailure(
      .invalidArgument,
      "\(name) is a number from 0 to 24 or one of "
        + SystemItem.allCases.map(\.name).joined(separator: ", "))
  }

  func image(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> ImageReference {
    if let ref = tape.string(at) { return ImageReference(ref: ref) }
    guard tape.kind(at) == .object, let ref = tape.member("ref", of: at),
      let text = tape.string(ref)
    else {
      throw ReadFailure(.invalidArgument, "\(name) is a reference or {ref, hasAlpha, empty}")
    }
    var image = ImageReference(ref: text)
    try tape.forEachMember(of: at) { member, value throws(ReadFailure) in
      switch member {
      case "ref": break
      case "hasAlpha": image.hasAlpha = try flag(tape, value, member, default: false)
      case "empty": image.isEmpty = try flag(tape, value, member, default: false)
      default: throw unknownMember(member, of: "an image")
      }
    }
    return image
  }
}

extension ButtonContent: TabledRecord {
  package static let table = MemberTable<ButtonContent>(
    "a button",
    [
      Member("title", \.title), Member("image", \.image),
      Member("landscapeImage", \.landscapeImage), Member("systemItem", \.systemItem),
      Member("customView", \.customView), Member("style", \.style, RecordReader.style),
      Member("action", \.action), Member("isEnabled", \.isEnabled),
      Member("isSelected", \.isSelected), Member("accessibilityLabel", \.accessibility[.label]),
      Member("accessibilityHint", \.accessibility[.hint]),
      Member("accessibilityIdentifier", \.accessibility[.identifier]),
    ])
}

extension ImageReference: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<ImageReference> { reader.image }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("ref", ref)
    json.flag("hasAlpha", hasAlpha)
    json.flag("empty", isEmpty)
    json.endObject()
  }
}

extension SystemItem: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<SystemItem> { reader.systemItem }
  package func write(_ json: inout JSONWriter) { json.word(name) }
}
