package import NavigationCore

extension JSONTape {
  func screenArgument(_ at: Int) throws(ReadFailure) -> ScreenArgument {
    switch kind(at) {
    case .string: return .id(try screenID(at))
    case .object: return .record(try screenRecord(at))
    case .null: throw ReadFailure(.nilScreen, "a screen is required: its id or a record")
    case .no, .yes, .integer, .number, .array: throw ReadFailure("a screen is an id or a record")
    }
  }

  package func screenID(_ at: Int) throws(ReadFailure) -> ScreenID {
    if isUnescapedString(at), let id = ScreenID(self.text(at)) { return id }
    guard let text = string(at), let id = ScreenID(text) else {
      throw ReadFailure("a screen id is a letter or digit, then up to 63 letters, digits, . _ -")
    }
    return id
  }

  /// Reads a screen record; `extra` is the name of a member that stands beside those of the record,
  /// for the caller to read.
  func screenRecord(_ at: Int, with extra: ShortName? = nil) throws(ReadFailure) -> ScreenRecord {
    var record = ScreenRecord()
    let end = next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      let name = shortName(key)
      switch name {
      case "id": record.id = kind(value) == .null ? nil : try screenID(value)
      case "kind": record.kind = try optionalWord(value, "kind")
      case "item":
        try needObject(value, "item is a record")
        record.item = try itemEdits(value, skipping: [])
      case _ where name == extra: break
      default:
        guard let edit = try screenEdit(name, key) else {
          throw unknownMember(string(key) ?? "", of: "a screen record")
        }
        record.edits.add(edit)
      }
      key = next(value)
    }
    return record
  }

  /// Reads the members of `screen.set` except `screen`.
  func screenEdits(_ at: Int) throws(ReadFailure) -> [ScreenEdit] {
    var edits: [ScreenEdit] = []
    let end = next(at)
    var key = at + 1
    while key < end {
      let name = shortName(key)
      if name != "screen" {
        guard let edit = try screenEdit(name, key) else {
          throw unknownMember(string(key) ?? "", of: "a screen")
        }
        edits.append(edit)
      }
      key = next(key + 1)
    }
    return edits
  }

  private func screenEdit(_ name: ShortName, _ key: Int) throws(ReadFailure) -> ScreenEdit? {
    let at = key + 1
    switch name {
    case "title": return .title(try optionalString(at, "title"))
    case "route": return .route(try optionalString(at, "route"))
    case "args": return .args(kind(at) == .null ? nil : try opaque(at, "args"))
    case "item": return nil
    default:
      let name = string(key) ?? ""
      if name == "toolbarItems" { return .toolbarItems(try buttons(at, name)) }
      return try ScreenDetails.table.edits(self, name, at, name)?.first.map { .other($0) }
    }
  }

  /// Reads the members of a navigation item, except those in `skipping`, the arguments of the
  /// operation.
  func itemEdits(_ at: Int, skipping: [String]) throws(ReadFailure) -> [ItemEdit] {
    var edits: [ItemEdit] = []
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      if skipping.contains(name) { return }
      guard let edit = try itemEdit(name, value) else {
        throw unknownMember(name, of: "a navigation item")
      }
      edits.add(edit)
    }
    return edits
  }

  private func itemEdit(_ name: String, _ at: Int) throws(ReadFailure) -> ItemEdit? {
    switch name {
    case "title": return .title(try optionalString(at, "title"))
    case "backBarButtonItem":
      return .backBarButtonItem(kind(at) == .null ? nil : try button(at))
    case "backAction": return .backAction(kind(at) == .null ? nil : try button(at))
    case "leftItems", "leftBarButtonItems": return .leftItems(try buttons(at, name))
    case "rightItems", "rightBarButtonItems": return .rightItems(try buttons(at, name))
    // UIKit's singular setters replace the whole list with at most one button.
    case "leftBarButtonItem": return .leftItems(kind(at) == .null ? [] : [try button(at)])
    case "rightBarButtonItem": return .rightItems(kind(at) == .null ? [] : [try button(at)])
    default: return try NavigationItem.table.edits(self, name, at, name)?.first.map { .other($0) }
    }
  }
}
