import NavigationCore

/// The navigation item of a screen, or a change of it; omitted members keep their values.
public struct ItemDescription: Hashable, Sendable {
  let members: JSONObject

  /// The names of members to reset to their defaults.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member of an item, by its word in the protocol.
    case title, prompt, titleView, backBarButtonItem, hidesBackButton,
      leftItemsSupplementBackButton, leftItems, rightItems, largeTitleDisplayMode, appearance
  }

  /// UIKit's `largeTitleDisplayMode`.
  public enum LargeTitleDisplayMode: String, Hashable, Sendable {
    /// As for the screen below.
    case automatic
    /// Large, if the bar prefers large titles.
    case always
    /// Never large.
    case never
  }

  /// A view in place of the title.
  public struct TitleView: Hashable, Sendable {
    let value: NavigationValue

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - view: the description from which the display makes the view.
    ///   - height: its height in points, 0 or more. With it, the daemon knows whether the view
    ///     fits.
    public init(_ view: NavigationValue, height: Double? = nil) {
      var members = ["view": view]
      members["height"] = height.map { .number($0) }
      value = .object(members)
    }
  }

  /// Describes an item.
  ///
  /// - Parameters:
  ///   - title: the text in the middle, in place of the screen's title.
  ///   - prompt: a line above the bar.
  ///   - hidesBackButton: whether the bar shows no back button.
  ///   - leftItemsSupplementBackButton: whether the left buttons stand beside the back button
  ///     rather than in its place.
  ///   - leftItems: buttons on the left, left-most first.
  ///   - rightItems: buttons on the right, right-most first.
  ///   - backBarButtonItem: the back button that leads to this screen.
  ///   - titleView: a view in the middle, in place of any title.
  ///   - largeTitleDisplayMode: whether its title is large.
  ///   - appearance: the appearances of the bar while this screen is on top, by state; they
  ///     replace all that were set before.
  ///   - clearing: members to reset to their defaults.
  public init(
    title: String? = nil, prompt: String? = nil, hidesBackButton: Bool? = nil,
    leftItemsSupplementBackButton: Bool? = nil, leftItems: [ButtonDescription]? = nil,
    rightItems: [ButtonDescription]? = nil, backBarButtonItem: ButtonDescription? = nil,
    titleView: TitleView? = nil, largeTitleDisplayMode: LargeTitleDisplayMode? = nil,
    appearance: [AppearanceSlot: NavigationValue]? = nil, clearing: [Name] = []
  ) {
    var members: JSONObject = [:]
    members.add("title", title)
    members.add("prompt", prompt)
    members.add("hidesBackButton", hidesBackButton)
    members.add("leftItemsSupplementBackButton", leftItemsSupplementBackButton)
    members.add("leftItems", leftItems.map { .array($0.map(\.content)) })
    members.add("rightItems", rightItems.map { .array($0.map(\.content)) })
    members.add("backBarButtonItem", backBarButtonItem?.content)
    members.add("titleView", titleView?.value.octets)
    members.add("largeTitleDisplayMode", largeTitleDisplayMode?.rawValue)
    if let appearance {
      let slots = appearance.map { ($0.key.rawValue, $0.value) }
      let value = NavigationValue.object(Dictionary(uniqueKeysWithValues: slots))
      members.add("appearance", value.octets)
    }
    for name in clearing where !members.contains(name.rawValue) {
      members.add(name.rawValue, OpaqueJSON.null)
    }
    self.members = members
  }
}

/// A button of a bar: a new one, or one that the nav knows, by its id.
public struct ButtonDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let content: OpaqueJSON
  let members: JSONObject

  /// The visible content of a button.
  public enum Face: Hashable, Sendable {
    /// A text.
    case title(String)
    /// An image, by the name under which the display looks it up.
    case image(String)
    /// A standard button such as `done` or `add`.
    case systemItem(String)
    /// A custom view of the display, by its name.
    case customView(String)
  }

  /// Describes a new button.
  ///
  /// - Parameters:
  ///   - id: its id; nil lets the daemon choose one.
  ///   - face: its visible content.
  ///   - isDone: whether it has the style `done`, which displays show bold.
  ///   - action: the name of the application's action for a tap.
  public init(id: String? = nil, _ face: Face, isDone: Bool = false, action: String? = nil) {
    var members: JSONObject = [:]
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
    content = .object(members)
  }

  /// Names a button that the nav knows.
  public static func existing(_ id: String) -> ButtonDescription {
    ButtonDescription(stringLiteral: id)
  }

  /// Names a button that the nav knows.
  public init(stringLiteral id: String) {
    content = .string(id)
    members = ["id": .string(id)]
  }
}
