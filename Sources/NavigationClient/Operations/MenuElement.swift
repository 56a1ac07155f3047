import NavigationCore

/// An element of a menu: an action or a submenu.
public struct MenuElement: Hashable, Sendable {
  let wireValue: OpaqueJSON

  /// The mark beside an action.
  public enum State: String, Hashable, Sendable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The marks; `mixed` stands for a choice that is on in part.
    case off, on, mixed
  }

  /// Describes an action.
  ///
  /// - Parameters:
  ///   - id: its name in the menu, `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
  ///   - title: its text.
  ///   - action: the name of the application's action; `nav.pop` pops.
  ///   - state: the mark beside it.
  ///   - isEnabled: whether it can be chosen.
  /// - Returns: the element.
  public static func action(
    _ id: String, _ title: String, action: String? = nil, state: State = .off,
    isEnabled: Bool = true
  ) -> MenuElement {
    var members: JSONObject = ["id": .string(id), "title": .string(title)]
    members.add("action", action)
    if state != .off { members.add("state", state.rawValue) }
    if !isEnabled { members.add("isEnabled", false) }
    return MenuElement(wireValue: .object(members))
  }

  /// Describes a submenu.
  ///
  /// - Parameters:
  ///   - title: its text.
  ///   - children: its elements; a menu has at most 64, in at most 4 menus in each other.
  /// - Returns: the element.
  public static func submenu(_ title: String, _ children: [MenuElement]) -> MenuElement {
    MenuElement(
      wireValue: .object([
        "title": .string(title), "children": .array(children.map(\.wireValue)),
      ]))
  }
}

/// What a button shows beside its face.
public enum Badge: Hashable, Sendable {
  /// A number, 0 or more.
  case count(Int)
  /// A text.
  case text(String)
  /// A badge without content.
  case indicator

  var wireValue: OpaqueJSON {
    switch self {
    case .count(let count): .integer(UInt64(clamping: count))
    case .text(let text): .string(text)
    case .indicator: .bool(true)
    }
  }
}
