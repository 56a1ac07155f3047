import NavigationProtocol

/// A screen in an operation: a new one, or the id of one that the nav knows.
///
/// ```swift
/// let screens: [ScreenDescription] = ["home", .init(title: "About", route: "about")]
/// ```
public struct ScreenDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  private enum Kind: Hashable {
    case existing(String)
    case new([Member])
  }

  /// UIKit's `UIRectEdge`.
  public enum Edge: String, Hashable, Sendable, CaseIterable {
    // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
    /// The edges of a screen.
    case top, left, bottom, right
  }

  private let kind: Kind

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
  public init(
    id: String? = nil, title: String? = nil, route: String? = nil, args: NavigationValue? = nil,
    restorationID: String? = nil, item: ItemDescription? = nil,
    toolbarItems: [ButtonDescription]? = nil, prefersBarHidden: Bool? = nil, edges: [Edge]? = nil,
    extendsUnderOpaqueBars: Bool? = nil, wantsFullScreenLayout: Bool? = nil
  ) {
    var members: [Member] = []
    members.add("id", id)
    members.add("title", title)
    members.add("route", route)
    if let args { members.append(Member("args", .value(args))) }
    members.add("restorationID", restorationID)
    if let item { members.append(Member("item", .members(item.members))) }
    if let toolbarItems {
      members.append(Member("toolbarItems", .list(toolbarItems.map(\.content))))
    }
    members.add("prefersBarHidden", prefersBarHidden)
    if let edges {
      members.append(Member("edges", .list(edges.map { .value(.string($0.rawValue)) })))
    }
    members.add("extendsUnderOpaqueBars", extendsUnderOpaqueBars)
    members.add("wantsFullScreenLayout", wantsFullScreenLayout)
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

  /// The members of a new screen; for a known screen only its id.
  var members: [Member] {
    switch kind {
    case .existing(let id): [Member("id", .value(.string(id)))]
    case .new(let members): members
    }
  }
}

/// One member of a record or of an operation's arguments.
struct Member: Hashable, Sendable {
  indirect enum Content: Hashable, Sendable {
    case value(NavigationValue)
    case list([Content])
    case members([Member])

    /// The content as a value.
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
