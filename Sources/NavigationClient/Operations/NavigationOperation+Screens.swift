import NavigationCore

extension NavigationOperation {
  /// The kind of a segue.
  public enum SegueKind: String, Hashable, Sendable {
    /// Pushes the screen.
    case show
    /// Shows the screen where the container shows details.
    case showDetail
  }

  /// Shows a screen as a segue does.
  public static func segue(
    _ kind: SegueKind = .show, to screen: ScreenDescription
  ) -> NavigationOperation {
    NavigationOperation(
      .segue,
      ["kind": .string(kind.rawValue), "screen": screen.wireValue])
  }

  /// The choice among several screens with the same route.
  public enum RouteMatch: String, Hashable, Sendable {
    /// The topmost screen with the route.
    case top
    /// The only screen with the route; the daemon refuses if there are several.
    case unique
  }

  /// Removes all screens above the one with a route; with `inclusive` that screen too.
  public static func popTo(
    route: String, match: RouteMatch = .top, inclusive: Bool = false,
    result: NavigationValue? = nil
  ) -> NavigationOperation {
    var arguments: JSONObject = ["route": .string(route), "match": .string(match.rawValue)]
    if inclusive { arguments.add("inclusive", true) }
    arguments.add("result", result?.octets)
    return NavigationOperation(.popTo, arguments)
  }

  /// Replaces the stack by the screens of a route, by the nav's route templates.
  ///
  /// Screens that match the route stay on the stack. The operation needs a guard by revision,
  /// digest or stack.
  ///
  /// - Parameters:
  ///   - route: the route, perhaps with query and fragment.
  ///   - dismissing: whether what is presented is dismissed first; nil for what the setting
  ///     `dismissesOnOpen` says.
  /// - Returns: the operation.
  public static func open(_ route: String, dismissing: Bool? = nil) -> NavigationOperation {
    NavigationOperation(.open, ["route": .string(route), "over": dismissing.map { .bool($0) }])
  }

  /// Restores a stack that ``NavigationClient/read(_:of:within:)`` returned as ``NavigationAspect/restoration``.
  ///
  /// It needs a guard by revision, digest or stack.
  ///
  /// - Parameters:
  ///   - payload: the saved stack.
  ///   - root: the root screen if no saved screen can be restored.
  /// - Returns: the operation.
  public static func restore(
    _ payload: NavigationValue, root: ScreenDescription? = nil
  ) -> NavigationOperation {
    NavigationOperation(.restore, ["payload": payload.octets, "root": root?.wireValue])
  }

  /// The style of a presentation.
  public struct PresentationStyle: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The style as text.
    public let rawValue: String

    /// Makes a style from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// The display chooses the style.
    public static let automatic = Self(rawValue: "automatic")
    /// Over the whole display.
    public static let fullScreen = Self(rawValue: "fullScreen")
    /// Over the whole display, and translucent.
    public static let overFullScreen = Self(rawValue: "overFullScreen")
    /// Over the presenting context.
    public static let currentContext = Self(rawValue: "currentContext")
    /// Over the presenting context, and translucent.
    public static let overCurrentContext = Self(rawValue: "overCurrentContext")
    /// As a sheet.
    public static let pageSheet = Self(rawValue: "pageSheet")
    /// As a small sheet.
    public static let formSheet = Self(rawValue: "formSheet")
    /// As a popover beside the tapped element.
    public static let popover = Self(rawValue: "popover")
  }

  /// Presents a screen over the stack.
  ///
  /// - Parameters:
  ///   - screen: the screen.
  ///   - presenter: the id of the presenting screen; nil for the nav itself.
  ///   - style: the style; nil for the default.
  /// - Returns: the operation.
  public static func present(
    _ screen: ScreenDescription, from presenter: String? = nil, style: PresentationStyle? = nil
  ) -> NavigationOperation {
    NavigationOperation(
      .present,
      [
        "screen": screen.wireValue, "from": presenter.map { .string($0) },
        "style": style.map { .string($0.rawValue) },
      ])
  }

  /// Ends what a screen presents, and all presentations above it.
  ///
  /// - Parameters:
  ///   - presenter: the id of the presenting screen; nil, or a screen of the stack, for the nav
  ///     itself. A presented screen that presents nothing is dismissed itself.
  ///   - result: at most 4 KiB for the client that waits for the lowest screen dismissed.
  /// - Returns: the operation.
  public static func dismiss(
    from presenter: String? = nil, result: NavigationValue? = nil
  ) -> NavigationOperation {
    NavigationOperation(
      .dismiss, ["from": presenter.map { .string($0) }, "result": result?.octets])
  }

  /// Puts an item on a standalone bar.
  public static func pushItem(_ item: BarItemDescription) -> NavigationOperation {
    NavigationOperation(.pushItem, ["item": item.wireValue])
  }

  /// Replaces all items of a standalone bar, bottom first.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func setItems(_ items: [BarItemDescription]) -> NavigationOperation {
    NavigationOperation(.setItems, ["items": .array(items.map(\.wireValue))])
  }
}

/// An item of a standalone bar: a new one, or the id of one that the bar knows.
public struct BarItemDescription: Hashable, Sendable, ExpressibleByStringLiteral {
  let wireValue: OpaqueJSON

  /// Describes a new item.
  ///
  /// - Parameters:
  ///   - id: its id; nil lets the daemon choose one.
  ///   - item: its content.
  public init(id: String? = nil, _ item: ItemDescription) {
    wireValue = .object(["id": id.map { .string($0) }, "item": .object(item.members)])
  }

  /// Refers to an item that the bar knows.
  public init(stringLiteral id: String) { wireValue = .string(id) }
}
