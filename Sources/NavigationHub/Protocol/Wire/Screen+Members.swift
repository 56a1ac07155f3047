package import NavigationCore

// What is said of screens and items on the wire and in the journal. A client's buttons can be ids, so
// its lists of them, like the hot members, are read in JSONTape+Screens.swift.

extension ScreenDetails: TabledRecord {
  package static let table = MemberTable<ScreenDetails>(
    "a screen",
    [
      Member("restorationID", \.restorationID).documented("The id for saving and restoring."),
      Member("prefersBarHidden", \.prefersBarHidden)
        .documented("Whether the bar is hidden while the screen is the top."),
      Member("prefersToolbarHidden", \.prefersToolbarHidden)
        .documented("Whether the toolbar is hidden while the screen is the top."),
      Member("hidesBottomBarWhenPushed", \.hidesBottomBarWhenPushed).documented(
        "Whether the toolbar is hidden while the screen is the top, if it has no other preference."),
      Member("wantsFullScreenLayout", \.wantsFullScreenLayout)
        .documented("Whether the screen extends under every bar."),
      Member("extendsUnderOpaqueBars", \.extendsUnderOpaqueBars)
        .documented("Whether the screen also extends under opaque bars."),
      Member("canPop", \.canPop).documented(
        "Whether a person may pop the screen while it is the top; programs always may."),
      Member("modalInPresentation", \.modalInPresentation)
        .documented("Whether a person cannot swipe the screen away while it is presented."),
      Member("edges", \.edges).documented("The edges at which the screen extends under bars."),
      Member("toolbarItems", \.toolbarItems)
        .documented("The buttons in the toolbar, in display order."),
      Member("accessibilityLabel", \.accessibility[.label])
        .documented("What a screen reader says when the screen comes on display."),
      Member("language", \.accessibility[.language], JSONTape.language)
        .documented("The language of the screen, a tag of BCP 47."),
      Member("item", \.item),
    ])
}

extension NavigationItem: TabledRecord, WireValue {
  package static let table = MemberTable<NavigationItem>(
    "a navigation item",
    [
      Member("title", \.title)
        .documented("The text in the middle, in place of the screen's title."),
      Member("prompt", \.prompt).documented("A line above the bar."),
      Member("titleView", \.titleView).documented("A view in the middle, in place of any title."),
      Member("backBarButtonItem", \.backBarButtonItem)
        .documented("The back button that leads to this screen."),
      Member("backButtonTitle", \.extras.backButtonTitle)
        .documented("The text of the back button that leads to this screen."),
      Member("backButtonDisplayMode", \.backButtonDisplayMode)
        .documented("Which texts the back button that leads to this screen may show."),
      Member("hidesBackButton", \.hidesBackButton)
        .documented("Whether the bar shows no back button."),
      Member("leftItemsSupplementBackButton", \.leftItemsSupplementBackButton).documented(
        "Whether the left buttons stand beside the back button rather than in its place."),
      Member("leftItems", \.leftItems).documented("Buttons on the left, left-most first."),
      Member("rightItems", \.rightItems).documented("Buttons on the right, right-most first."),
      Member("largeTitleDisplayMode", \.largeTitleDisplayMode)
        .documented("Whether its title is large, if the bar prefers large titles."),
      Member("accessibilityLabel", \.accessibility[.label])
        .documented("What a screen reader says in place of the title."),
      Member("language", \.accessibility[.language], JSONTape.language).documented(
        "The language of title and prompt, a tag of BCP 47; without it, the screen's."),
      Member("appearance", \.appearance).documented(
        "The appearances of the bar while this screen is on top, by state; they replace others."
      ),
      Member("backAction", \.extras.backAction).documented(
        "The button that a tap on this screen's back button activates, in place of the pop."),
      Member("style", \.extras.style).documented("How the item is laid out."),
      Member("subtitle", \.extras.subtitle).documented("The text below the title."),
      Member("subtitleView", \.extras.subtitleView)
        .documented("A view below the title, in place of the subtitle."),
      Member("largeTitle", \.extras.largeTitle)
        .documented("The text of the large title, in place of the title."),
      Member("largeSubtitle", \.extras.largeSubtitle)
        .documented("The text below the large title, in place of the subtitle."),
      Member("largeSubtitleView", \.extras.largeSubtitleView)
        .documented("A view below the large title, in place of any subtitle."),
      Member("titleAlignment", \.extras.titleAlignment)
        .documented("Where the title stands in the bar."),
      Member("titleMenu", \.extras.titleMenu).documented("The menu at the title."),
      Member("preferredSearchBarPlacement", \.extras.searchBarPlacement)
        .documented("Where the search field stands; without it there is none."),
      Member("isSearchActive", \.extras.isSearchActive)
        .documented("Whether a person searches; `ui.back` ends that before it pops."),
    ])
  package static func read(_ tape: JSONTape) -> ReadValue<NavigationItem> {
    { at, name throws(ReadFailure) in
      try tape.needObject(at, "\(name) is a record")
      return try tape.storedRecord(at)
    }
  }
  package func write(_ json: inout JSONWriter) { json.record(self) }
}

extension TitleView: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<TitleView> { tape.titleView }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("view", raw: view.bytes)
    json.optional("height", height)
    json.endObject()
  }
}

extension Edges {
  /// Each edge with its word, in the order in which the writer writes them.
  static let wireNames: [(Edges, String)] = [
    (.top, "top"), (.left, "left"), (.bottom, "bottom"), (.right, "right"),
  ]
}

extension Edges: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Edges> { tape.edges }
  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    for (edge, word) in Edges.wireNames where contains(edge) { json.word(word) }
    json.endArray()
  }
}

extension Button: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<Button> {
    { at, _ throws(ReadFailure) in try tape.storedButton(at) }
  }
  package func write(_ json: inout JSONWriter) { json.button(self) }
}

extension [Button]: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<[Button]> {
    { at, name throws(ReadFailure) in
      try need(tape.kind(at) == .array, "\(name) is a list of buttons: ids or records")
      return try tape.elements(of: at, tape.storedButton)
    }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginArray()
    for button in self { json.button(button) }
    json.endArray()
  }
}

extension JSONTape {
  fileprivate func titleView(_ at: Int, _ name: String) throws(ReadFailure) -> TitleView {
    guard kind(at) == .object else { return TitleView(view: try opaque(at, name)) }
    let view = try need(
      member("view", of: at), "titleView is a record with view, and height if you like")
    var height: OpaqueJSON?
    if let value = value("height", of: at) {
      try need(
        number(value).map { $0 >= 0 } ?? false, "titleView.height is a number of points, 0 or more")
      height = OpaqueJSON(validated: raw(value))
    }
    try need(
      count(at) == (member("height", of: at) == nil ? 1 : 2),
      "titleView has no members but view and height")
    return TitleView(view: try opaque(view, "titleView.view"), height: height)
  }

  fileprivate func edges(_ at: Int, _ name: String) throws(ReadFailure) -> Edges {
    let form = "edges is a list of top, left, bottom, right"
    try need(kind(at) == .array, form)
    return try elements(of: at) { element throws(ReadFailure) in
      let word = string(element)
      return try need(Edges.wireNames.first(where: { $0.1 == word })?.0, form)
    }.reduce(into: []) { $0.insert($1) }
  }

  package func storedButton(_ at: Int) throws(ReadFailure) -> Button {
    try needObject(at, "a button is no record")
    var id: ButtonID?
    let content: ButtonContent = try storedRecord(at) { name, value throws(ReadFailure) in
      guard name == "id" else { return false }
      id = try buttonID(value)
      return true
    }
    guard let id else { throw ReadFailure("a button without id") }
    return Button(id: id, content: content)
  }

  package func storedScreen(_ at: Int) throws(ReadFailure) -> Screen {
    try needObject(at, "a screen is no record")
    var (id, version): (ScreenID?, UInt64) = (nil, 0)
    var (title, route): (String?, String?)
    var args: OpaqueJSON?
    var details: ScreenDetails?
    let end = next(at)
    var key = at + 1
    while key < end {
      let value = key + 1
      switch shortName(key) {
      case "id": id = try screenID(value)
      case "ver": version = try integer(value, "ver")
      case "title": title = try optionalString(value, "title")
      case "route": route = try optionalString(value, "route")
      case "args": args = try opaque(value, "args")
      default:
        let name = string(key) ?? ""
        var new = details ?? ScreenDetails()
        if name == "kind" {
          new.kind = try word(value, name)
        } else {
          new.apply(try ScreenDetails.table.editsOfKnownMember(self, name, value))
        }
        details = new
      }
      key = next(value)
    }
    guard let id else { throw ReadFailure("a screen without id") }
    var screen = Screen(id: id, version: Revision(version), title: title, route: route)
    if let args { screen.args = args }
    if let details { screen.details = details }
    return screen
  }
}

// Readers of buttons, in messages and in journal rows.

extension JSONTape {
  func buttons(_ at: Int, _ name: String) throws(ReadFailure) -> [ButtonArgument] {
    if kind(at) == .null { return [] }
    try need(kind(at) == .array, "\(name) is a list of buttons: ids or records")
    return try elements(of: at) { at throws(ReadFailure) in try button(at) }
  }

  func button(_ at: Int) throws(ReadFailure) -> ButtonArgument {
    switch kind(at) {
    case .string:
      // A text that cannot be an id is the id of no button.
      guard let id = ButtonID(string(at) ?? "") else {
        throw ReadFailure(.unknownButton, "\"\(string(at) ?? "")\" is not the id of a button")
      }
      return .id(id)
    case .object: return .record(try buttonRecord(at))
    case .null, .no, .yes, .integer, .number, .array:
      throw ReadFailure(.unknownButton, "a list of buttons holds ids and records only")
    }
  }

  package func buttonID(_ at: Int) throws(ReadFailure) -> ButtonID {
    guard let text = string(at), let id = ButtonID(text) else {
      throw ReadFailure("a button id is a letter or digit, then up to 63 letters, digits, . _ -")
    }
    return id
  }

  func buttonRecord(_ at: Int) throws(ReadFailure) -> ButtonRecord {
    var record = ButtonRecord()
    record.edits = try edits(at) { name, _ in name == "id" }
    record.id = try value("id", of: at).map { at throws(ReadFailure) in try buttonID(at) }
    return record
  }

  fileprivate func style(_ at: Int, _ name: String) throws(ReadFailure) -> ButtonStyle {
    // UIKit's legacy style; it looks like the plain one since iOS 7.
    string(at) == "bordered" ? .plain : try word(at, name)
  }

  fileprivate func systemItem(_ at: Int, _ name: String) throws(ReadFailure) -> SystemItem {
    if let name = string(at), let item = SystemItem(word: name) { return item }
    if let raw = integer(at), raw < 256, let item = SystemItem(rawValue: UInt8(raw)) {
      return item
    }
    throw ReadFailure(
      "\(name) is a number from 0 to 24 or one of \(SystemItem.choices)")
  }

  func image(_ at: Int, _ name: String) throws(ReadFailure) -> ImageReference {
    if let ref = string(at) { return ImageReference(ref: ref) }
    let text = string("ref", of: at)
    var image = ImageReference(
      ref: try need(text, "\(name) is a reference or {ref, hasAlpha, empty}"))
    try forEachMember(of: at) { member, value throws(ReadFailure) in
      switch member {
      case "ref": break
      case "hasAlpha": image.hasAlpha = try boolOrNullAsFalse(value, member)
      case "empty": image.isEmpty = try boolOrNullAsFalse(value, member)
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
      Member("title", \.title).documented("The text."),
      Member("image", \.image).documented("The image."),
      Member("landscapeImage", \.landscapeImage)
        .documented("The image on a phone in landscape."),
      Member("systemItem", \.systemItem).documented("The standard button that it is."),
      Member("customView", \.customView)
        .documented("The custom view, by the description from which displays make it."),
      Member("style", \.style, JSONTape.style)
        .documented("How much it stands out: `done` is bold, `prominent` the main action."),
      Member("action", \.action)
        .documented("The name of the application's action for a tap."),
      Member("isEnabled", \.isEnabled)
        .documented("Whether a tap does anything; a back button ignores it."),
      Member("isSelected", \.isSelected).documented("Whether displays show it as selected."),
      Member("accessibilityLabel", \.accessibility[.label])
        .documented("What a screen reader says in place of the face."),
      Member("accessibilityHint", \.accessibility[.hint])
        .documented("What the button does, said after the label."),
      Member("accessibilityIdentifier", \.accessibility[.identifier])
        .documented("A name for tests, never said."),
      Member("menu", \.extras.menu)
        .documented("The menu that it opens, on a tap if it has no action."),
      Member(
        "changesSelectionAsPrimaryAction", \.extras.changesSelectionAsPrimaryAction
      ).documented(
        "Whether a choice selects an element of its menu; without a menu, whether a tap toggles it."
      ),
      Member("isHidden", \.extras.isHidden).documented("Whether it is hidden and takes no room."),
      Member("badge", \.extras.badge)
        .documented("A number, a text, or true for a badge without content."),
    ])
}

extension ImageReference: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<ImageReference> { tape.image }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("ref", ref)
    json.memberIfTrue("hasAlpha", hasAlpha)
    json.memberIfTrue("empty", isEmpty)
    json.endObject()
  }
}

extension SystemItem: WireNamed {
  package static let words = names
  package static func read(_ tape: JSONTape) -> ReadValue<SystemItem> { tape.systemItem }
}
