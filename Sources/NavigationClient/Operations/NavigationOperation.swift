package import NavigationCore

/// One operation on a nav, performed alone or in a list that succeeds or fails as a whole.
///
/// ```swift
/// try await client.perform(
///   [.popToRoot(), .push(.init(title: "Now playing", route: "media/now"))],
///   on: "kiosk", guardedBy: .top(of: state))
/// ```
///
/// A client has an operation as it is written, not as the daemon reads it. The daemon alone checks
/// arguments, so a client can pass on members that only a newer daemon knows.
public struct NavigationOperation: Hashable, Sendable {
  /// Its name; `unknown` if this version does not know it.
  package let kind: OperationKind
  /// The operation as it goes on the wire.
  package let octets: OpaqueJSON

  /// The operation as JSON: an object with one member, such as `{"pop":{}}`.
  public var json: String { octets.text }

  /// Writes an operation from its arguments.
  package init(_ kind: OperationKind, _ arguments: JSONObject = [:]) {
    self.init(kind, arguments: .object(arguments))
  }

  /// Writes an operation from its arguments as one object.
  package init(_ kind: OperationKind, arguments: OpaqueJSON) {
    self.init(kind, octets: .object([kind.name: arguments]))
  }

  /// Takes an operation as it is written, and its name in it.
  package init(_ kind: OperationKind, octets: OpaqueJSON) {
    self.kind = kind
    self.octets = octets
  }

  /// Makes an operation from its JSON, for operations that this library does not know.
  ///
  /// - Parameter json: a JSON object with one member, such as `{"pop":{}}`.
  /// - Throws: `invalid-argument` when it is anything else.
  public init(json: String) throws(NavigationClientError) {
    guard case .object(let members) = try NavigationValue(json: json), members.count == 1,
      let name = members.keys.first
    else {
      throw NavigationClientError(.invalidArgument, "an operation is an object with one member")
    }
    self.init(OperationKind(name: name), octets: OpaqueJSON(validated: Array(json.utf8)))
  }
}

extension NavigationOperation {
  /// The behaviour of a push if the screen is on the stack already.
  public enum DuplicatePolicy: String, Hashable, Sendable {
    /// The daemon refuses it with `duplicate-screen`.
    case error
    /// The daemon changes nothing and answers `ok`.
    case ignore
  }

  /// Puts a screen on top of the stack.
  public static func push(
    _ screen: ScreenDescription, onDuplicate: DuplicatePolicy = .error
  ) -> NavigationOperation {
    var arguments: JSONObject = ["screen": screen.content]
    if onDuplicate == .ignore { arguments.add("onDuplicate", "ignore") }
    return NavigationOperation(.push, arguments)
  }

  /// Shows a screen in the way of the container, which pushes it; animated by default.
  public static func show(_ screen: ScreenDescription) -> NavigationOperation {
    NavigationOperation(.show, ["screen": screen.content])
  }

  /// Removes the top screen; the root stays.
  ///
  /// It needs a guard.
  public static func pop() -> NavigationOperation { NavigationOperation(.pop) }

  /// Removes all screens above `screen`.
  public static func popTo(_ screen: String) -> NavigationOperation {
    NavigationOperation(.popTo, ["screen": .string(screen)])
  }

  /// Removes all screens above the root.
  public static func popToRoot() -> NavigationOperation { NavigationOperation(.popToRoot) }

  /// Replaces the whole stack, bottom first.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func setStack(_ screens: [ScreenDescription]) -> NavigationOperation {
    NavigationOperation(.setStack, ["screens": .array(screens.map(\.content))])
  }

  /// Taps the back button.
  ///
  /// It needs a guard. Under a presentation, except a popover, it is refused as `covered`.
  public static func backTap() -> NavigationOperation { NavigationOperation(.uiBackTap) }

  /// Restores the ids and order of an earlier stack; the screens keep their present content.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func revert(to revision: UInt64) -> NavigationOperation {
    NavigationOperation(.revert, ["rev": .integer(revision)])
  }
}

extension NavigationOperation {
  /// Creates the nav with a root screen; it must be the first operation of a list.
  public static func create(root: ScreenDescription) -> NavigationOperation {
    NavigationOperation(.navCreate, ["root": root.content])
  }

  /// Creates the nav without a screen, with bar classes that the daemon's configuration declares.
  ///
  /// It must be the first operation of a list.
  public static func create(
    barClass: String = "NavigationBar", toolbarClass: String = "Toolbar"
  ) -> NavigationOperation {
    let classes: JSONObject = [
      "bar": .string(barClass), "toolbar": .string(toolbarClass),
    ]
    return NavigationOperation(.navCreate, ["classes": .object(classes)])
  }

  /// Creates a standalone bar; it must be the first operation of a list.
  public static func createBar() -> NavigationOperation {
    NavigationOperation(.navCreate, ["kind": .string("bar")])
  }

  /// Changes settings of the nav, each as a whole; `null` resets one to its default.
  public static func configure(_ settings: [String: NavigationValue]) -> NavigationOperation {
    NavigationOperation(.navConfigure, JSONObject(settings))
  }

  /// Closes the nav.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func close() -> NavigationOperation { NavigationOperation(.navClose) }

  /// Puts the nav on display; it must have a root screen.
  public static func attach() -> NavigationOperation { NavigationOperation(.attach) }

  /// Takes the nav off the display.
  public static func detach() -> NavigationOperation { NavigationOperation(.detach) }

  /// Shows or hides the bar.
  public static func setBarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation(.barSetHidden, ["hidden": .bool(isHidden)])
  }

  /// Shows or hides the toolbar.
  public static func setToolbarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation(.toolbarSetHidden, ["hidden": .bool(isHidden)])
  }
}

extension NavigationOperation {
  /// Creates a screen without showing it.
  ///
  /// - Parameters:
  ///   - screen: the screen.
  ///   - replace: whether it may take the place of a detached screen with the same id. Otherwise
  ///     navd refuses it as `duplicate-screen`, unless both are equal.
  /// - Returns: the operation.
  public static func createScreen(
    _ screen: ScreenDescription, replace: Bool = false
  ) -> NavigationOperation {
    var members = screen.members
    if replace { members.add("replace", .bool(true)) }
    return NavigationOperation(.screenCreate, members)
  }

  /// Sets members of a screen; `null` resets one to its default.
  public static func setScreen(
    _ screen: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    NavigationOperation(.screenSet, ["screen": .string(screen)] + JSONObject(members))
  }

  /// Releases a screen that is not shown.
  public static func releaseScreen(_ screen: String) -> NavigationOperation {
    NavigationOperation(.screenRelease, ["screen": .string(screen)])
  }

  /// Changes the navigation item of a screen; the screen need not be on the stack.
  public static func itemSet(
    _ screen: String, _ item: ItemDescription, requireOnStack: Bool = false
  ) -> NavigationOperation {
    var arguments = ["screen": .string(screen)] + item.members
    if requireOnStack { arguments.add("requireOnStack", true) }
    return NavigationOperation(.itemSet, arguments)
  }

  /// Creates a button without showing it.
  public static func createButton(_ button: ButtonDescription) -> NavigationOperation {
    NavigationOperation(.buttonCreate, button.members)
  }

  /// Sets members of a button, also where it is shown; `null` resets one to its default.
  public static func setButton(
    _ button: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    NavigationOperation(.buttonSet, ["button": .string(button)] + JSONObject(members))
  }

  /// Releases a button that is not shown.
  public static func releaseButton(_ button: String) -> NavigationOperation {
    NavigationOperation(.buttonRelease, ["button": .string(button)])
  }

  /// Taps a visible button; all watchers of the nav get the event `buttonActivated`.
  public static func activateButton(_ button: String) -> NavigationOperation {
    NavigationOperation(.buttonActivate, ["button": .string(button)])
  }
}
