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
