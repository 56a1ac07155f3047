import NavigationCore

/// A screen in an operation: a new one, or the id of one that the nav knows.
///
/// ```swift
/// let screens: [ScreenDescription] = ["home", .init(title: "About", route: "about")]
/// ```
public struct ScreenDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let wireValue: OpaqueJSON
  /// The members of a new screen; for a known screen only its id.
  let members: JSONObject

  /// UIKit's `UIRectEdge`.
  public enum Edge: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The edges of a screen.
    case top, left, bottom, right
  }

  init(_ members: JSONObject) {
    wireValue = .object(members)
    self.members = members
  }

  /// Names a screen that the nav knows.
  public static func existing(_ id: String) -> ScreenDescription {
    ScreenDescription(stringLiteral: id)
  }

  /// Names a screen that the nav knows.
  public init(stringLiteral id: String) {
    wireValue = .string(id)
    members = ["id": .string(id)]
  }
}

/// The navigation item of a screen, or a change of it; omitted members keep their values.
public struct ItemDescription: Hashable, Sendable {
  let members: JSONObject

  /// A view in place of the title.
  public struct TitleView: Hashable, Sendable {
    let value: NavigationValue

    /// Describes a view.
    ///
    /// - Parameters:
    ///   - view: the description from which the display makes the view.
    ///   - height: its height in points, 0 or more. From the height, the daemon computes
    ///     whether the view fits into the bar.
    public init(_ view: NavigationValue, height: Double? = nil) {
      var members = ["view": view]
      members["height"] = height.map { .number($0) }
      value = .object(members)
    }
  }

  init(_ members: JSONObject, _ resetting: [Name]) {
    var members = members
    for name in resetting where !members.contains(name.rawValue) {
      members.add(name.rawValue, OpaqueJSON.null)
    }
    self.members = members
  }
}

/// A button of a bar: a new one, or one that the nav knows, by its id.
public struct ButtonDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let wireValue: OpaqueJSON
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
  ///   - style: how much it stands out.
  ///   - action: the name of the application's action for a tap.
  ///   - isEnabled: whether a tap does anything; ignored for a back button.
  ///   - isSelected: whether displays show it as selected.
  ///   - accessibilityLabel: what a screen reader says in place of the face.
  ///   - accessibilityHint: what the button does, said after the label.
  ///   - accessibilityIdentifier: a name for tests, never said.
  ///   - menu: what it opens, on a tap if it has no action.
  ///   - changesSelectionAsPrimaryAction: whether a choice selects an element of the menu; without a
  ///     menu, whether a tap toggles the button.
  ///   - isHidden: whether it is hidden and takes no room.
  ///   - badge: its badge.
  public init(
    id: String? = nil, _ face: Face, style: Style = .plain, action: String? = nil,
    isEnabled: Bool = true, isSelected: Bool = false, accessibilityLabel: String? = nil,
    accessibilityHint: String? = nil, accessibilityIdentifier: String? = nil,
    menu: [MenuElement] = [], changesSelectionAsPrimaryAction: Bool = false,
    isHidden: Bool = false, badge: Badge? = nil
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
    if style != .plain { members.add("style", style.rawValue) }
    members.add("action", action)
    if !isEnabled { members.add("isEnabled", false) }
    if isSelected { members.add("isSelected", true) }
    members.add("accessibilityLabel", accessibilityLabel)
    members.add("accessibilityHint", accessibilityHint)
    members.add("accessibilityIdentifier", accessibilityIdentifier)
    if !menu.isEmpty { members.add("menu", .array(menu.map(\.wireValue))) }
    if changesSelectionAsPrimaryAction { members.add("changesSelectionAsPrimaryAction", true) }
    if isHidden { members.add("isHidden", true) }
    members.add("badge", badge?.wireValue)
    self.members = members
    wireValue = .object(members)
  }

  /// Names a button that the nav knows.
  public static func existing(_ id: String) -> ButtonDescription {
    ButtonDescription(stringLiteral: id)
  }

  /// Names a button that the nav knows.
  public init(stringLiteral id: String) {
    wireValue = .string(id)
    members = ["id": .string(id)]
  }
}
