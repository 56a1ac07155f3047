import NavigationCore

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
