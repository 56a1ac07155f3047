package import NavigationCore

// What is said of screens and items on the wire and in the journal. A client's buttons can be ids, so
// its lists of them, like the hot members, are read by `RecordReader`.

extension ScreenDetails: TabledRecord {
  package static let table = MemberTable<ScreenDetails>(
    "a screen",
    [
      Member("restorationID", \.restorationID), Member("prefersBarHidden", \.prefersBarHidden),
      Member("wantsFullScreenLayout", \.wantsFullScreenLayout),
      Member("extendsUnderOpaqueBars", \.extendsUnderOpaqueBars), Member("canPop", \.canPop),
      Member("modalInPresentation", \.modalInPresentation), Member("edges", \.edges),
      Member("toolbarItems", \.toolbarItems), Member("accessibilityLabel", \.accessibility[.label]),
      Member("language", \.accessibility[.language], RecordReader.language),
      Member("item", \.item),
    ])
}

extension NavigationItem: TabledRecord, WireValue {
  package static let table = MemberTable<NavigationItem>(
    "a navigation item",
    [
      Member("title", \.title), Member("prompt", \.prompt), Member("titleView", \.titleView),
      Member("backBarButtonItem", \.backBarButtonItem),
      Member("hidesBackButton", \.hidesBackButton),
      Member("leftItemsSupplementBackButton", \.leftItemsSupplementBackButton),
      Member("leftItems", \.leftItems), Member("rightItems", \.rightItems),
      Member("largeTitleDisplayMode", \.largeTitleDisplayMode),
      Member("accessibilityLabel", \.accessibility[.label]),
      Member("language", \.accessibility[.language], RecordReader.language),
      Member("appearance", \.appearance),
    ])
  package static func read(_ reader: RecordReader) -> ReadValue<NavigationItem> {
    { tape, at, name throws(ReadFailure) in
      try reader.needObject(tape, at, "\(name) is a record")
      return try reader.stored(tape, at)
    }
  }
  package func write(_ json: inout JSONWriter) { json.record(self) }
}

extension TitleView: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<TitleView> { reader.titleView }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("view", raw: view.bytes)
    json.optional("height", height)
    json.endObject()
  }
}

extension Edges {
  /// Each edge with its word, in the order in which the writer writes them.
  static let named: [(Edges, StaticString)] = [
    (.top, "top"), (.left, "left"), (.bottom, "bottom"), (.right, "right"),
  ]
}

extension Edges: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Edges> { reader.edges }
  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    for (edge, word) in Edges.named where contains(edge) { json.plain(word) }
    json.endArray()
  }
}

extension Button: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<Button> {
    { tape, at, _ throws(ReadFailure) in try reader.storedButton(tape, at) }
  }
  package func write(_ json: inout JSONWriter) { json.button(self) }
}

extension [Button]: WireValue {
  package static func read(_ reader: RecordReader) -> ReadValue<[Button]> {
    { tape, at, name throws(ReadFailure) in
      guard tape.kind(at) == .array else {
        throw ReadFailure(.invalidArgument, "\(name) is a list of buttons: ids or records")
      }
      return try tape.elements(of: at) { at throws(ReadFailure) in
        try reader.storedButton(tape, at)
      }
    }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    for button in self { json.button(button) }
    json.endArray()
  }
}

extension RecordReader {
  fileprivate func titleView(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> TitleView {
    guard tape.kind(at) == .object else {
      return TitleView(view: try opaque(tape, at, name))
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

  fileprivate func edges(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> Edges {
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

  package func storedButton(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Button {
    try needObject(tape, at, "a button is no record")
    var id: ButtonID?
    let content: ButtonContent = try stored(tape, at) { name, value throws(ReadFailure) in
      guard name == "id" else { return false }
      id = try buttonID(tape, value)
      return true
    }
    guard let id else { throw ReadFailure(.invalidArgument, "a button without id") }
    return Button(id: id, content: content)
  }

  package func storedScreen(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> Screen {
    try needObject(tape, at, "a screen is no record")
    var (id, version): (ScreenID?, UInt64) = (nil, 0)
    var (title, route): (String?, String?)
    var args: OpaqueJSON?
    var details: ScreenDetails?
    let end = tape.next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      switch tape.shortName(key) {
      case "id": id = try screenID(tape, value)
      case "ver": version = try integer(tape, value, "ver")
      case "title": title = try text(tape, value, "title")
      case "route": route = try text(tape, value, "route")
      case "args": args = try opaque(tape, value, "args")
      default:
        let name = tape.string(key) ?? ""
        var new = details ?? ScreenDetails()
        if name == "kind" {
          new.kind = try word(tape, value, name)
        } else {
          new.apply(try ScreenDetails.table.required(self, name, tape, value))
        }
        details = new
      }
      key = tape.next(value)
    }
    guard let id else { throw ReadFailure(.invalidArgument, "a screen without id") }
    var screen = Screen(id: id, version: Revision(version), title: title, route: route)
    if let args { screen.args = args }
    if let details { screen.details = details }
    return screen
  }
}
