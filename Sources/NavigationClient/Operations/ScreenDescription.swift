import NavigationSync

/// A screen to put somewhere: a new one, or one that the nav knows, by its id.
///
/// ```swift
/// let screens: [ScreenDescription] = ["home", .init(title: "About", route: "about")]
/// ```
public struct ScreenDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  private enum Kind: Hashable {
    case existing(String)
    case new([Member])
  }

  private let kind: Kind

  /// Describes a new screen.
  ///
  /// - Parameters:
  ///   - id: its id, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`; the daemon chooses one if there is none.
  ///   - title: its title; also that of the bar, and of the back button above it.
  ///   - route: what the application finds its content by.
  ///   - args: anything else that the application needs, at most 64 KiB. Whoever may read the nav
  ///     sees it: no secrets.
  ///   - restorationID: the name under which it is restored.
  ///   - item: what the bar shows for it.
  public init(
    id: String? = nil, title: String? = nil, route: String? = nil, args: NavigationValue? = nil,
    restorationID: String? = nil, item: ItemDescription? = nil
  ) {
    var members: [Member] = []
    members.add("id", id)
    members.add("title", title)
    members.add("route", route)
    if let args { members.append(Member("args", .value(args))) }
    members.add("restorationID", restorationID)
    if let item { members.append(Member("item", .members(item.members))) }
    kind = .new(members)
  }

  private init(_ kind: Kind) { self.kind = kind }

  /// Names a screen that the nav knows.
  public static func existing(_ id: String) -> ScreenDescription {
    ScreenDescription(.existing(id))
  }

  /// Names a screen that the nav knows.
  public init(stringLiteral id: String) { kind = .existing(id) }

  var content: Member.Content {
    switch kind {
    case .existing(let id): .value(.string(id))
    case .new(let members): .members(members)
    }
  }

  /// The members of a new screen; of one that is named, nothing but its id.
  var members: [Member] {
    switch kind {
    case .existing(let id): [Member("id", .value(.string(id)))]
    case .new(let members): members
    }
  }
}

/// What the bar shows for a screen, or how that changes; what is left out stays as it is.
public struct ItemDescription: Hashable, Sendable {
  let members: [Member]

  /// Names of the members, to be put back to their defaults.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The members of an item.
    case title, prompt, titleView, backBarButtonItem, hidesBackButton,
      leftItemsSupplementBackButton, leftItems, rightItems, largeTitleDisplayMode
  }

  /// Describes an item.
  ///
  /// - Parameters:
  ///   - title: shown in the middle in place of the screen's title.
  ///   - prompt: a line above the bar.
  ///   - hidesBackButton: whether the back button is left out.
  ///   - leftItemsSupplementBackButton: whether the left buttons stand beside the back button
  ///     rather than in its place.
  ///   - leftItems: buttons on the left, left-most first.
  ///   - rightItems: buttons on the right, right-most first.
  ///   - backBarButtonItem: how the back button to this screen looks.
  ///   - clearing: members to put back to their defaults.
  public init(
    title: String? = nil, prompt: String? = nil, hidesBackButton: Bool? = nil,
    leftItemsSupplementBackButton: Bool? = nil, leftItems: [ButtonDescription]? = nil,
    rightItems: [ButtonDescription]? = nil, backBarButtonItem: ButtonDescription? = nil,
    clearing: [Name] = []
  ) {
    var members: [Member] = []
    members.add("title", title)
    members.add("prompt", prompt)
    members.add("hidesBackButton", hidesBackButton)
    members.add("leftItemsSupplementBackButton", leftItemsSupplementBackButton)
    if let leftItems { members.append(Member("leftItems", .list(leftItems.map(\.content)))) }
    if let rightItems { members.append(Member("rightItems", .list(rightItems.map(\.content)))) }
    if let backBarButtonItem {
      members.append(Member("backBarButtonItem", backBarButtonItem.content))
    }
    for name in clearing where !members.contains(where: { $0.name == name.rawValue }) {
      members.append(Member(name.rawValue, .value(.null)))
    }
    self.members = members
  }
}

/// A button of a bar: a new one, or one that the nav knows, by its id.
public struct ButtonDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let content: Member.Content
  let members: [Member]

  /// What a button shows.
  public enum Face: Hashable, Sendable {
    /// A text.
    case title(String)
    /// An image, by the name under which the display finds it.
    case image(String)
    /// A standard button such as `done` or `add`.
    case systemItem(String)
    /// A view of the display's, by its name.
    case customView(String)
  }

  /// Describes a new button.
  ///
  /// - Parameters:
  ///   - id: its id; the daemon chooses one if there is none.
  ///   - face: what it shows.
  ///   - isDone: whether it is the one that finishes something, shown bold.
  ///   - action: what the application does when it is pressed.
  public init(id: String? = nil, _ face: Face, isDone: Bool = false, action: String? = nil) {
    var members: [Member] = []
    members.add("id", id)
    switch face {
    case .title(let text): members.add("title", text)
    case .image(let ref): members.add("image", ref)
    case .systemItem(let name): members.add("systemItem", name)
    case .customView(let name): members.add("customView", name)
    }
    if isDone { members.add("style", "done") }
    members.add("action", action)
    self.members = members
    content = .members(members)
  }

  /// Names a button that the nav knows.
  public static func existing(_ id: String) -> ButtonDescription {
    ButtonDescription(stringLiteral: id)
  }

  /// Names a button that the nav knows.
  public init(stringLiteral id: String) {
    content = .value(.string(id))
    members = [Member("id", .value(.string(id)))]
  }
}

/// One member of a record or of an operation's arguments.
struct Member: Hashable, Sendable {
  indirect enum Content: Hashable, Sendable {
    case value(NavigationValue)
    case list([Content])
    case members([Member])

    /// The same as a value.
    var value: NavigationValue {
      switch self {
      case .value(let value): value
      case .list(let contents): .array(contents.map(\.value))
      case .members(let members):
        .object(Dictionary(members.map { ($0.name, $0.content.value) }) { $1 })
      }
    }

    func write(to json: inout JSONWriter) {
      switch self {
      case .value(let value): value.write(to: &json)
      case .list(let contents):
        json.beginArray()
        for content in contents { content.write(to: &json) }
        json.endArray()
      case .members(let members):
        json.beginObject()
        for member in members {
          json.dynamicName(member.name)
          member.content.write(to: &json)
        }
        json.endObject()
      }
    }
  }

  var name: String
  var content: Content

  init(_ name: String, _ content: Content) {
    self.name = name
    self.content = content
  }
}

extension [Member] {
  mutating func add(_ name: String, _ text: String?) {
    if let text { append(Member(name, .value(.string(text)))) }
  }

  mutating func add(_ name: String, _ flag: Bool?) {
    if let flag { append(Member(name, .value(.bool(flag)))) }
  }
}
