import NavigationSync

/// One operation on a nav, to be performed alone or in a list that succeeds or fails as one.
///
/// ```swift
/// try await client.perform(
///   [.popToRoot(), .push(.init(title: "Now playing", route: "media/now"))],
///   on: "kiosk", guardedBy: .top(of: state))
/// ```
public struct NavigationOperation: Hashable, Sendable {
  /// The operation as it travels: a JSON object with one member, as in `{"pop":{}}`.
  public let json: String

  init(_ name: String, _ arguments: [Member] = []) {
    var writer = JSONWriter()
    Member.Content.members([Member(name, .members(arguments))]).write(to: &writer)
    json = String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Takes an operation that this library has no word for.
  ///
  /// - Parameter json: a JSON object with one member, as in `{"pop":{}}`.
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
  /// What to do when a screen to push is on the stack already.
  public enum DuplicatePolicy: String, Hashable, Sendable {
    /// Refuse with `duplicate-screen`.
    case error
    /// Change nothing.
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

  /// Shows a screen as the container sees fit: here, it is pushed, animated unless told otherwise.
  public static func show(_ screen: ScreenDescription) -> NavigationOperation {
    NavigationOperation("show", [Member("screen", screen.content)])
  }

  /// Removes the top screen; the last one stays.
  ///
  /// Must be guarded.
  public static func pop() -> NavigationOperation { NavigationOperation("pop") }

  /// Removes every screen above one.
  public static func popTo(_ screen: String) -> NavigationOperation {
    NavigationOperation("popTo", [Member("screen", .value(.string(screen)))])
  }

  /// Removes every screen but the root.
  public static func popToRoot() -> NavigationOperation { NavigationOperation("popToRoot") }

  /// Replaces the whole stack, bottom first.
  ///
  /// Must be guarded by revision, digest or stack.
  public static func setStack(_ screens: [ScreenDescription]) -> NavigationOperation {
    NavigationOperation("setStack", [Member("screens", .list(screens.map(\.content)))])
  }

  /// Taps the back button.
  ///
  /// Must be guarded.
  public static func backTap() -> NavigationOperation { NavigationOperation("ui.backTap") }

  /// Goes back to the stack of an earlier revision, with the screens as they are today.
  ///
  /// Must be guarded by revision, digest or stack.
  public static func revert(to revision: UInt64) -> NavigationOperation {
    NavigationOperation("revert", [Member("rev", .value(.integer(Int64(clamping: revision))))])
  }
}

extension NavigationOperation {
  /// Creates the nav with a root screen; only as the first of a list.
  public static func create(root: ScreenDescription) -> NavigationOperation {
    NavigationOperation("nav.create", [Member("root", root.content)])
  }

  /// Creates the nav without a screen, with classes of bars that the daemon's configuration
  /// declares; only as the first of a list.
  public static func create(
    barClass: String = "NavigationBar", toolbarClass: String = "Toolbar"
  ) -> NavigationOperation {
    let classes = [
      Member("bar", .value(.string(barClass))), Member("toolbar", .value(.string(toolbarClass))),
    ]
    return NavigationOperation("nav.create", [Member("classes", .members(classes))])
  }

  /// Creates a bar that stands alone; only as the first of a list.
  public static func createBar() -> NavigationOperation {
    NavigationOperation("nav.create", [Member("kind", .value("bar"))])
  }

  /// Sets members of the nav's settings, each replaced whole; `null` puts one to its default.
  public static func configure(_ settings: [String: NavigationValue]) -> NavigationOperation {
    let members = settings.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("nav.configure", members)
  }

  /// Ends the nav.
  ///
  /// Must be guarded by revision, digest or stack.
  public static func close() -> NavigationOperation { NavigationOperation("nav.close") }

  /// Puts the nav on display, which it must have a root screen for.
  public static func attach() -> NavigationOperation { NavigationOperation("attach") }

  /// Takes the nav off display.
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
  /// Makes a screen that is on no stack yet.
  public static func createScreen(_ screen: ScreenDescription) -> NavigationOperation {
    NavigationOperation("screen.create", screen.members)
  }

  /// Sets members of a screen; `null` puts one to its default.
  public static func setScreen(
    _ screen: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    let sorted = members.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("screen.set", [Member("screen", .value(.string(screen)))] + sorted)
  }

  /// Forgets a screen that is on no stack.
  public static func releaseScreen(_ screen: String) -> NavigationOperation {
    NavigationOperation("screen.release", [Member("screen", .value(.string(screen)))])
  }

  /// Changes what the bar shows for a screen, which may be anywhere.
  public static func itemSet(
    _ screen: String, _ item: ItemDescription, requireOnStack: Bool = false
  ) -> NavigationOperation {
    var arguments = [Member("screen", .value(.string(screen)))] + item.members
    if requireOnStack { arguments.add("requireOnStack", true) }
    return NavigationOperation("item.set", arguments)
  }

  /// Makes a button that is in no list yet.
  public static func createButton(_ button: ButtonDescription) -> NavigationOperation {
    NavigationOperation("button.create", button.members)
  }

  /// Sets members of a button wherever it is shown; `null` puts one to its default.
  public static func setButton(
    _ button: String, _ members: [String: NavigationValue]
  ) -> NavigationOperation {
    let sorted = members.sorted { $0.key < $1.key }.map { Member($0.key, .value($0.value)) }
    return NavigationOperation("button.set", [Member("button", .value(.string(button)))] + sorted)
  }

  /// Forgets a button that is in no list.
  public static func releaseButton(_ button: String) -> NavigationOperation {
    NavigationOperation("button.release", [Member("button", .value(.string(button)))])
  }

  /// Presses a button that is shown; whoever watches the nav is told.
  public static func activateButton(_ button: String) -> NavigationOperation {
    NavigationOperation("button.activate", [Member("button", .value(.string(button)))])
  }
}
