import NavigationCore

/// A screen in an operation: a new one, or the id of one that the nav knows.
///
/// ```swift
/// let screens: [ScreenDescription] = ["home", .init(title: "About", route: "about")]
/// ```
public struct ScreenDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let content: OpaqueJSON
  /// The members of a new screen; for a known screen only its id.
  let members: JSONObject

  /// UIKit's `UIRectEdge`.
  public enum Edge: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The edges of a screen.
    case top, left, bottom, right
  }

  /// Describes a new screen.
  ///
  /// - Parameters:
  ///   - id: its id, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`; nil lets the daemon choose one.
  ///   - title: its title, which the bar shows, and the back button of the screen above.
  ///   - route: the route, by which the application finds the content.
  ///   - args: further data for the application, at most 64 KiB. Every client that can read the nav
  ///     sees it, so it must not contain secrets.
  ///   - restorationID: the id for saving and restoring; nil for a screen that is not saved.
  ///   - item: its content in the bar.
  ///   - toolbarItems: its buttons in the toolbar, in display order.
  ///   - prefersBarHidden: whether the bar hides or shows when it becomes the top; nil for no
  ///     change.
  ///   - edges: the edges at which it extends under bars; nil for all.
  ///   - extendsUnderOpaqueBars: whether it also extends under opaque bars.
  ///   - wantsFullScreenLayout: whether it extends under every bar.
  ///   - canPop: whether a person may pop it while it is the top; programs always may.
  ///   - isModalInPresentation: whether a person cannot swipe it away while it is presented.
  ///   - accessibilityLabel: what a screen reader says when the screen comes on display.
  ///   - language: the language of the screen, a tag of BCP 47; nil for that of the display.
  public init(
    id: String? = nil, title: String? = nil, route: String? = nil, args: NavigationValue? = nil,
    restorationID: String? = nil, item: ItemDescription? = nil,
    toolbarItems: [ButtonDescription]? = nil, prefersBarHidden: Bool? = nil, edges: [Edge]? = nil,
    extendsUnderOpaqueBars: Bool? = nil, wantsFullScreenLayout: Bool? = nil,
    canPop: Bool? = nil, isModalInPresentation: Bool? = nil, accessibilityLabel: String? = nil,
    language: String? = nil
  ) {
    var members: JSONObject = [:]
    members.add("id", id)
    members.add("title", title)
    members.add("route", route)
    members.add("args", args?.octets)
    members.add("restorationID", restorationID)
    members.add("item", item.map { .object($0.members) })
    members.add("toolbarItems", toolbarItems.map { .array($0.map(\.content)) })
    members.add("prefersBarHidden", prefersBarHidden)
    members.add("edges", edges.map { .array($0.map { .string($0.rawValue) }) })
    members.add("extendsUnderOpaqueBars", extendsUnderOpaqueBars)
    members.add("wantsFullScreenLayout", wantsFullScreenLayout)
    members.add("canPop", canPop)
    members.add("modalInPresentation", isModalInPresentation)
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("language", language)
    content = .object(members)
    self.members = members
  }

  /// Names a screen that the nav knows.
  public static func existing(_ id: String) -> ScreenDescription {
    ScreenDescription(stringLiteral: id)
  }

  /// Names a screen that the nav knows.
  public init(stringLiteral id: String) {
    content = .string(id)
    members = ["id": .string(id)]
  }
}

/// The navigation item of a screen, or a change of it; omitted members keep their values.
public struct ItemDescription: Hashable, Sendable {
  let members: JSONObject

  /// The names of the members, for those to reset to their defaults.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// A member of an item, by its word in the protocol.
    case title, prompt, titleView, backBarButtonItem, hidesBackButton,
      leftItemsSupplementBackButton, leftItems, rightItems, largeTitleDisplayMode, appearance,
      accessibilityLabel, language
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
  ///   - largeTitleDisplayMode: whether its title is large, if the bar prefers large titles.
  ///   - appearance: the appearances of the bar while this screen is on top, by state; they
  ///     replace all that were set before.
  ///   - accessibilityLabel: what a screen reader says in place of the title.
  ///   - language: the language of title and prompt, a tag of BCP 47; without it, the screen's.
  ///   - resetting: members to reset to their defaults.
  public init(
    title: String? = nil, prompt: String? = nil, hidesBackButton: Bool? = nil,
    leftItemsSupplementBackButton: Bool? = nil, leftItems: [ButtonDescription]? = nil,
    rightItems: [ButtonDescription]? = nil, backBarButtonItem: ButtonDescription? = nil,
    titleView: TitleView? = nil, largeTitleDisplayMode: LargeTitleDisplayMode? = nil,
    appearance: [AppearanceSlot: NavigationValue]? = nil, accessibilityLabel: String? = nil,
    language: String? = nil, resetting: [Name] = []
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
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("language", language)
    for name in resetting where !members.contains(name.rawValue) {
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
    /// An image by its name, with a title that screen readers say.
    case image(String, title: String? = nil)
    /// A standard button.
    case systemItem(SystemItem)
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
  ///   - isEnabled: whether a tap does anything. A back button ignores it.
  ///   - isSelected: whether displays show it as selected.
  ///   - accessibilityLabel: what a screen reader says in place of the face.
  ///   - accessibilityHint: what the button does, said after the label.
  ///   - accessibilityIdentifier: a name for tests, never said.
  public init(
    id: String? = nil, _ face: Face, isDone: Bool = false, action: String? = nil,
    isEnabled: Bool = true, isSelected: Bool = false, accessibilityLabel: String? = nil,
    accessibilityHint: String? = nil, accessibilityIdentifier: String? = nil
  ) {
    var members: JSONObject = [:]
    members.add("id", id)
    switch face {
    case .title(let text): members.add("title", text)
    case .image(let ref, let title):
      members.add("image", ref)
      members.add("title", title)
    case .systemItem(let item): members.add("systemItem", item.rawValue)
    case .customView(let name): members.add("customView", name)
    }
    if isDone { members.add("style", "done") }
    members.add("action", action)
    if !isEnabled { members.add("isEnabled", false) }
    if isSelected { members.add("isSelected", true) }
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("accessibilityHint", accessibilityHint)
    members.add("accessibilityIdentifier", accessibilityIdentifier)
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
