extension NavigationOperation {
  /// How a segue shows a screen.
  public enum SegueKind: String, Hashable, Sendable {
    /// On the stack.
    case show
    /// Where the container shows details.
    case showDetail
  }

  /// Follows a segue to a screen.
  public static func segue(
    _ kind: SegueKind = .show, to screen: ScreenDescription
  ) -> NavigationOperation {
    NavigationOperation(
      "segue",
      [Member("kind", .value(.string(kind.rawValue))), Member("screen", screen.content)])
  }

  /// Which of several screens with the same route is meant.
  public enum RouteMatch: String, Hashable, Sendable {
    /// The topmost.
    case top
    /// The only one; several are refused.
    case unique
  }

  /// Removes every screen above the one with a route.
  public static func popTo(route: String, match: RouteMatch = .top) -> NavigationOperation {
    NavigationOperation(
      "popTo",
      [
        Member("route", .value(.string(route))), Member("match", .value(.string(match.rawValue))),
      ])
  }

  /// Makes the stack that the nav's route templates give for a route, keeping what agrees.
  ///
  /// Must be guarded by revision, digest or stack.
  public static func open(_ route: String) -> NavigationOperation {
    NavigationOperation("open", [Member("route", .value(.string(route)))])
  }

  /// Restores a stack from what `read("restoration", of:)` gave.
  ///
  /// Must be guarded by revision, digest or stack.
  ///
  /// - Parameters:
  ///   - payload: what was read.
  ///   - root: the root screen to use if there is none in it.
  /// - Returns: the operation.
  public static func restore(
    _ payload: NavigationValue, root: ScreenDescription? = nil
  ) -> NavigationOperation {
    var arguments = [Member("payload", .value(payload))]
    if let root { arguments.append(Member("root", root.content)) }
    return NavigationOperation("restore", arguments)
  }

  /// How a screen is presented.
  public struct PresentationStyle: RawRepresentable, Hashable, Sendable {
    /// The word for it.
    public let rawValue: String

    /// Makes a style from its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// As the display sees fit.
    public static let automatic = Self(rawValue: "automatic")
    /// Over everything.
    public static let fullScreen = Self(rawValue: "fullScreen")
    /// Over everything, which shines through.
    public static let overFullScreen = Self(rawValue: "overFullScreen")
    /// Over the presenting context.
    public static let currentContext = Self(rawValue: "currentContext")
    /// Over the presenting context, which shines through.
    public static let overCurrentContext = Self(rawValue: "overCurrentContext")
    /// As a sheet.
    public static let pageSheet = Self(rawValue: "pageSheet")
    /// As a small sheet.
    public static let formSheet = Self(rawValue: "formSheet")
    /// As a bubble beside what was tapped.
    public static let popover = Self(rawValue: "popover")
  }

  /// Presents a screen over the stack.
  ///
  /// - Parameters:
  ///   - screen: the screen.
  ///   - presenter: the id of the screen that presents it; nil for the nav itself.
  ///   - style: how; nil for what is usual.
  /// - Returns: the operation.
  public static func present(
    _ screen: ScreenDescription, from presenter: String? = nil, style: PresentationStyle? = nil
  ) -> NavigationOperation {
    var arguments = [Member("screen", screen.content)]
    arguments.add("from", presenter)
    arguments.add("style", style?.rawValue)
    return NavigationOperation("present", arguments)
  }

  /// Ends a presentation, with all that are on top of it.
  ///
  /// - Parameter presenter: the id of the screen that presents it; nil for the nav itself.
  /// - Returns: the operation.
  public static func dismiss(from presenter: String? = nil) -> NavigationOperation {
    var arguments: [Member] = []
    arguments.add("from", presenter)
    return NavigationOperation("dismiss", arguments)
  }
}

extension NavigationOperation {
  /// Puts an item on a bar that stands alone.
  public static func pushItem(_ item: BarItemDescription) -> NavigationOperation {
    NavigationOperation("pushItem", [Member("item", item.content)])
  }

  /// Removes the top item of a bar that stands alone.
  ///
  /// Must be guarded.
  public static func popItem() -> NavigationOperation { NavigationOperation("popItem") }

  /// Replaces all items of a bar that stands alone, bottom first.
  ///
  /// Must be guarded by revision, digest or stack.
  public static func setItems(_ items: [BarItemDescription]) -> NavigationOperation {
    NavigationOperation("setItems", [Member("items", .list(items.map(\.content)))])
  }

  /// Takes an operation that this library has no word for, as it travels.
  ///
  /// - Parameter json: a JSON object with one member, as in `{"pop":{}}`.
  /// - Returns: the operation.
  /// - Throws: `invalid-argument` when it is anything else.
  public static func raw(
    _ json: String
  ) throws(NavigationClientError) -> NavigationOperation {
    try NavigationOperation(json: json)
  }
}

/// An item of a bar that stands alone: a new one, or one that the bar knows, by its id.
public struct BarItemDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let content: Member.Content

  /// Describes a new item.
  ///
  /// - Parameters:
  ///   - id: its id; the daemon chooses one if there is none.
  ///   - item: what the bar shows for it.
  public init(id: String? = nil, _ item: ItemDescription) {
    var members: [Member] = []
    members.add("id", id)
    members.append(Member("item", .members(item.members)))
    content = .members(members)
  }

  /// Names an item that the bar knows.
  public init(stringLiteral id: String) { content = .value(.string(id)) }
}
