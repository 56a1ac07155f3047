import NavigationProtocol

/// One operation on a nav, performed alone or in a list that succeeds or fails as a whole.
///
/// ```swift
/// try await client.perform(
///   [.popToRoot(), .push(.init(title: "Now playing", route: "media/now"))],
///   on: "kiosk", guardedBy: .top(of: state))
/// ```
public struct NavigationOperation: Hashable, Sendable {
  /// The operation as JSON: an object with one member, such as `{"pop":{}}`.
  public let json: String

  init(_ name: String, _ arguments: [Member] = []) {
    var writer = JSONWriter()
    Member.Content.members([Member(name, .members(arguments))]).write(to: &writer)
    json = String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Makes an operation from its JSON, for operations that this library does not know.
  ///
  /// - Parameter json: a JSON object with one member, such as `{"pop":{}}`.
  /// - Throws: `invalid-argument` when it is anything else.
  public init(json: String) throws(NavigationClientError) {
    guard case .object(let members) = try NavigationValue(json: json), members.count == 1 else {
      throw NavigationClientError(.invalidArgument, "an operation is an object with one member")
    }
    self.json = json
  }

  var bytes: [UInt8] { Array(json.utf8) }
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
    var arguments = [Member("screen", screen.content)]
    if onDuplicate == .ignore { arguments.add("onDuplicate", "ignore") }
    return NavigationOperation("push", arguments)
  }

  /// Shows a screen in the way of the container, which pushes it; animated by default.
  public static func show(_ screen: ScreenDescription) -> NavigationOperation {
    NavigationOperation("show", [Member("screen", screen.content)])
  }

  /// Removes the top screen; the root stays.
  ///
  /// It needs a guard.
  public static func pop() -> NavigationOperation { NavigationOperation("pop") }

  /// Removes all screens above `screen`.
  public static func popTo(_ screen: String) -> NavigationOperation {
    NavigationOperation("popTo", [Member("screen", .value(.string(screen)))])
  }

  /// Removes all screens above the root.
  public static func popToRoot() -> NavigationOperation { NavigationOperation("popToRoot") }

  /// Replaces the whole stack, bottom first.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func setStack(_ screens: [ScreenDescription]) -> NavigationOperation {
    NavigationOperation("setStack", [Member("screens", .list(screens.map(\.content)))])
  }

  /// Taps the back button.
  ///
  /// It needs a guard.
  public static func backTap() -> NavigationOperation { NavigationOperation("ui.backTap") }

  /// Restores the ids and order of an earlier stack; the screens keep their present content.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func revert(to revision: UInt64) -> NavigationOperation {
    NavigationOperation("revert", [Member("rev", .value(.integer(Int64(clamping: revision))))])
  }
}

extension NavigationOperation {
  /// Creates the nav with a root screen; it must be the first operation of a list.
  public static func create(root: ScreenDescription) -> NavigationOperation {
    NavigationOperation("nav.create", [Member("root", root.content)])
  }

  /// Creates the nav without a screen, with bar classes that the daemon's configuration declares.
  ///
  /// It must be the first operation of a list.
  public static func create(
    barClass: String = "NavigationBar", toolbarClass: String = "Toolbar"
  ) -> NavigationOperation {
    let classes = [
      Member("bar", .value(.string(barClass))), Member("toolbar", .value(.string(toolbarClass))),
    ]
    return NavigationOperation("nav.create", [Member("classes", .members(classes))])
  }

  /// Creates a standalone bar; it must be the first operation of a list.
  public static func createBar() -> NavigationOperation {
    NavigationOperation("nav.create", [Member("kind", .value("bar"))])
  }

  /// Changes settings of the nav, each as a whole; `null` resets one to its default.
  public static func configure(_ settings: [String: NavigationValue]) -> NavigationOperation {
    let members = settings.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("nav.configure", members)
  }

  /// Closes the nav.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func close() -> NavigationOperation { NavigationOperation("nav.close") }

  /// Puts the nav on display; it must have a root screen.
  public static func attach() -> NavigationOperation { NavigationOperation("attach") }

  /// Takes the nav off the display.
  public static func detach() -> NavigationOperation { NavigationOperation("detach") }

  /// Shows or hides the bar.
  public static func setBarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation("bar.setHidden", [Member("hidden", .value(.bool(isHidden)))])
  }

  /// Shows or hides the toolbar.
  public static func setToolbarHidden(_ isHidden: Bool) -> NavigationOperation {
    NavigationOperation("toolbar.setHidden", [Member("hidden", .value(.bool(isHidden)))])
  }
}

extension NavigationOperation {
  /// Creates a screen without showing it.
  public static func createScreen(_ screen: ScreenDescription) -> NavigationOperation {
    NavigationOperation("screen.create", screen.members)
  }

  /// Sets members of a screen; `null` resets one to its default.
  public static func setScreen(
    _ screen: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    let sorted = members.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("screen.set", [Member("screen", .value(.string(screen)))] + sorted)
  }

  /// Releases a screen that is not shown.
  public static func releaseScreen(_ screen: String) -> NavigationOperation {
    NavigationOperation("screen.release", [Member("screen", .value(.string(screen)))])
  }

  /// Changes the navigation item of a screen; the screen need not be on the stack.
  public static func itemSet(
    _ screen: String, _ item: ItemDescription, requireOnStack: Bool = false
  ) -> NavigationOperation {
    var arguments = [Member("screen", .value(.string(screen)))] + item.members
    if requireOnStack { arguments.add("requireOnStack", true) }
    return NavigationOperation("item.set", arguments)
  }

  /// Creates a button without showing it.
  public static func createButton(_ button: ButtonDescription) -> NavigationOperation {
    NavigationOperation("button.create", button.members)
  }

  /// Sets members of a button, also where it is shown; `null` resets one to its default.
  public static func setButton(
    _ button: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    let sorted = members.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("button.set", [Member("button", .value(.string(button)))] + sorted)
  }

  /// Releases a button that is not shown.
  public static func releaseButton(_ button: String) -> NavigationOperation {
    NavigationOperation("button.release", [Member("button", .value(.string(button)))])
  }

  /// Taps a visible button; all watchers of the nav get the event `buttonActivated`.
  public static func activateButton(_ button: String) -> NavigationOperation {
    NavigationOperation("button.activate", [Member("button", .value(.string(button)))])
  }
}
