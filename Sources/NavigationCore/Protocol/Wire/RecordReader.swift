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
/// In a client's message, a record may have known members only, because a misspelt one would have
/// no effect. In a journal row, a record may also have a `ver` and ids in the form that the daemon
/// assigns.
package struct RecordReader {
  /// The origin of a record.
  package enum Source: Sendable {
    /// A client's message.
    case client
    /// A row of the journal.
    case journal
  }

  let source: Source

  package init(_ source: Source) { self.source = source }

  func screenArgument(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> ScreenArgument {
    switch tape.kind(at) {
    case .string: return .id(try screenID(tape, at))
    case .object: return .record(try screenRecord(tape, at).record)
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

  /// Reads a screen record and its version, which is 0 in a client's message.
  ///
  /// `other` is the name of a member that stands beside those of the record, for the caller to read.
  func screenRecord(
    _ tape: borrowing JSONTape, _ at: Int, with other: ShortName? = nil
  ) throws(ReadFailure) -> (record: ScreenRecord, version: UInt64) {
    var record = ScreenRecord()
    var version: UInt64 = 0
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      let name = tape.shortName(key)
      switch name {
      case "id": record.id = tape.kind(value) == .null ? nil : try screenID(tape, value)
      case "ver" where source == .journal: version = try integer(tape, value, "ver")
      case "kind": record.kind = try choice(tape, value, "kind")
      case "item":
        guard tape.kind(value) == .object else {
          throw ReadFailure(.invalidArgument, "item is a record")
        }
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
    return (record, version)
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
    case "edges": return .edges(try edges(tape, at))
    default: return try longScreenEdit(tape.string(key) ?? "", tape, at)
    }
  }

  /// Reads a member of a screen whose name has more than eight bytes; nil if there is none of this
  /// name.
  private func longScreenEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> ScreenEdit? {
    switch name {
    case "restorationID": .restorationID(try text(tape, at, name))
    case "prefersBarHidden":
      .prefersBarHidden(tape.kind(at) == .null ? nil : try flag(tape, at, name, default: false))
    case "wantsFullScreenLayout":
      .wantsFullScreenLayout(try flag(tape, at, name, default: false))
    case "extendsUnderOpaqueBars":
      .extendsUnderOpaqueBars(try flag(tape, at, name, default: false))
    case "canPop": .canPop(try flag(tape, at, name, default: true))
    case "modalInPresentation":
      .modalInPresentation(try flag(tape, at, name, default: false))
    case "toolbarItems": .toolbarItems(try buttons(tape, at, name))
    default:
      try accessibility(tape, at, name, AccessibilityMember.ofTitle).map { .accessibility($0, $1) }
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
      // Frequent names first, without a string. No operation has an argument with one of these
      // names.
      case "title": edits.add(.title(try text(tape, key + 1, "title")))
      case "prompt": edits.add(.prompt(try text(tape, key + 1, "prompt")))
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
    let isNull = tape.kind(at) == .null
    switch name {
    case "titleView": return .titleView(isNull ? nil : try titleView(tape, at))
    case "backBarButtonItem": return .backBarButtonItem(isNull ? nil : try button(tape, at))
    case "hidesBackButton": return .hidesBackButton(try flag(tape, at, name, default: false))
    case "leftItemsSupplementBackButton":
      return .leftItemsSupplementBackButton(try flag(tape, at, name, default: false))
    case "leftItems": return .leftItems(try buttons(tape, at, name))
    case "rightItems": return .rightItems(try buttons(tape, at, name))
    case "leftBarButtonItems" where source == .client:
      return .leftItems(try buttons(tape, at, name))
    case "rightBarButtonItems" where source == .client:
      return .rightItems(try buttons(tape, at, name))
    // UIKit's singular setters replace the whole list with at most one button.
    case "leftBarButtonItem" where source == .client:
      return .leftItems(isNull ? [] : [try button(tape, at)])
    case "rightBarButtonItem" where source == .client:
      return .rightItems(isNull ? [] : [try button(tape, at)])
    case "largeTitleDisplayMode":
      return .largeTitleDisplayMode(try choice(tape, at, name) ?? .automatic)
    case "appearance": return .appearance(isNull ? AppearanceSet() : try appearance(tape, at))
    default:
      return try accessibility(tape, at, name, AccessibilityMember.ofTitle)
        .map { .accessibility($0, $1) }
    }
  }

  private func titleView(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> TitleView {
    guard tape.kind(at) == .object else {
      return TitleView(view: try opaque(tape, at, "titleView"))
    }
    guard let view = tape.member("view", of: at) else {
      throw ReadFailure(.invalidArgument, "titleView is a record with view, and height if you like")
    }
    var height: OpaqueJSON?
    if let value = tape.member("height", of: at), tape.kind(value) != .null {
      guard let points = tape.number(value), points >= 0 else {
        throw ReadFailure(.invalidArgument, "titleView.height is a number of points, 0 or more")
      }
      height = OpaqueJSON(validated: tape.raw(value))
    }
    guard tape.count(at) == (tape.member("height", of: at) == nil ? 1 : 2) else {
      throw ReadFailure(.invalidArgument, "titleView has no members but view and height")
    }
    return TitleView(view: try opaque(tape, view, "titleView.view"), height: height)
  }

  func appearance(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> AppearanceSet {
    guard tape.kind(at) == .object else {
      throw ReadFailure(.invalidArgument, "appearance is a record of slots")
    }
    var set = AppearanceSet()
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let name = tape.string(key) ?? ""
      let value = key + 1
      let look = try appearanceObject(tape, value, name)
      switch name {
      case "standard": set.standard = look
      case "compact": set.compact = look
      case "scrollEdge": set.scrollEdge = look
      case "compactScrollEdge": set.compactScrollEdge = look
      default: throw unknownMember(name, of: "appearance")
      }
      key = tape.next(value)
    }
    return set
  }

  private func edges(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Edges {
    if tape.kind(at) == .null { return .all }
    guard tape.kind(at) == .array else {
      throw ReadFailure(.invalidArgument, "edges is a list of top, left, bottom, right")
    }
    var edges: Edges = []
    try tape.forEachElement(of: at) { element throws(ReadFailure) in
      let word = tape.string(element)
      guard let edge = Edges.named.first(where: { $0.1.description == word })?.0 else {
        throw ReadFailure(.invalidArgument, "edges is a list of top, left, bottom, right")
      }
      edges.insert(edge)
    }
    return edges
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

  func text(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String? {
    if tape.kind(at) == .null { return nil }
    guard let text = tape.string(at) else {
      throw ReadFailure(.invalidArgument, "\(name) is a text or null")
    }
    return text
  }

  /// Reads a member for screen readers, one of those that the record has; nil for another name.
  func accessibility(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String, _ members: [AccessibilityMember]
  ) throws(ReadFailure) -> (AccessibilityMember, Text?)? {
    guard let member = AccessibilityMember(wireName: name), members.contains(member) else {
      return nil
    }
    let text = try text(tape, at, name)
    guard member != .language || text.map(Grammar.isLanguageTag) != false else {
      throw ReadFailure(
        .invalidArgument, "\(name) is a tag of BCP 47, such as zh-Hans, of at most 64 bytes")
    }
    return (member, text.map { Text($0) })
  }

  func flag(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String, default: Bool
  ) throws(ReadFailure) -> Bool {
    if tape.kind(at) == .null { return `default` }
    guard let value = tape.bool(at) else {
      throw ReadFailure(.invalidArgument, "\(name) is true or false")
    }
    return value
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
    if tape.kind(at) == .null { return nil }
    guard let word = tape.string(at), let choice = Choice(wireName: word) else {
      throw ReadFailure(.invalidArgument, "\(name) is one of \(Choice.choices)")
    }
    return choice
  }
}
