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
    record.edits = try buttonEdits(tape, at, skipping: "id")
    if let id = tape.member("id", of: at), tape.kind(id) != .null {
      record.id = try buttonID(tape, id)
    }
    return record
  }

  /// Reads the members of a button except `skipping`, which holds its id.
  func buttonEdits(
    _ tape: borrowing JSONTape, _ at: Int, skipping: String
  ) throws(ReadFailure) -> [ButtonEdit] {
    var edits: [ButtonEdit] = []
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let name = tape.string(key) ?? ""
      if name != skipping { edits.append(try buttonEdit(name, tape, key + 1)) }
      key = tape.next(key + 1)
    }
    return edits
  }

  private func buttonEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> ButtonEdit {
    let isNull = tape.kind(at) == .null
    switch name {
    case "title": return .title(try text(tape, at, name))
    case "image": return .image(isNull ? nil : try image(tape, at, name))
    case "landscapeImage": return .landscapeImage(isNull ? nil : try image(tape, at, name))
    case "systemItem": return .systemItem(isNull ? nil : try systemItem(tape, at))
    case "customView": return .customView(isNull ? nil : try opaque(tape, at, name))
    case "style": return .style(try style(tape, at))
    case "action": return .action(try text(tape, at, name))
    case "isEnabled": return .isEnabled(try flag(tape, at, name, default: true))
    case "isSelected": return .isSelected(try flag(tape, at, name, default: false))
    default:
      guard let edit = try accessibility(tape, at, name, AccessibilityMember.ofButton) else {
        throw unknownMember(name, of: "a button")
      }
      return .accessibility(edit.0, edit.1)
    }
  }

  private func style(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ButtonStyle {
    // UIKit's legacy style; it looks like the plain one since iOS 7.
    if tape.string(at) == "bordered" { return .plain }
    return try choice(tape, at, "style") ?? .plain
  }

  private func systemItem(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> SystemItem {
    if let name = tape.string(at), let item = SystemItem(name: name) { return item }
    if let raw = tape.integer(at), raw < 256, let item = SystemItem(rawValue: UInt8(raw)) {
      return item
    }
    throw ReadFailure(
      .invalidArgument,
      "systemItem is a number from 0 to 24 or one of "
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
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let member = tape.string(key) ?? ""
      switch member {
      case "ref": break
      case "hasAlpha": image.hasAlpha = try flag(tape, key + 1, member, default: false)
      case "empty": image.isEmpty = try flag(tape, key + 1, member, default: false)
      default: throw unknownMember(member, of: "an image")
      }
      key = tape.next(key + 1)
    }
    return image
  }
}

extension RecordReader {
  package func storedScreen(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Screen {
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "a screen is no record")
    }
    let (record, version) = try screenRecord(tape, at)
    guard let id = record.id else { throw ReadFailure(.invalidArgument, "a screen without id") }
    do {
      return try Screen(stored: record, id: id, version: Revision(version))
    } catch {
      throw ReadFailure(.invalidArgument, error.what)
    }
  }

  package func storedButton(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Button {
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "a button is no record")
    }
    let record = try buttonRecord(tape, at)
    do {
      return try Button(stored: record)
    } catch {
      throw ReadFailure(.invalidArgument, error.what)
    }
  }
}
