package import NavigationCore

/// One operation on a nav, performed alone or in a list that succeeds or fails as a whole.
///
/// ```swift
/// try await client.perform(
///   [.popToRoot(), .push(.init(title: "Now playing", route: "media/now"))],
///   on: "kiosk", guardedBy: .stack(of: state))
/// ```
///
/// Only the daemon checks the arguments, so a client can pass on members that only a newer daemon
/// knows.
public struct NavigationOperation: Hashable, Sendable {
  /// The name of the operation; `unknown` if this version does not know it.
  package let kind: OperationKind
  /// The operation as JSON, as the client sends it.
  package let octets: OpaqueJSON

  /// The operation as JSON: an object with one member, such as `{"pop":{}}`.
  public var json: String { octets.text }

  package init(_ kind: OperationKind, _ arguments: JSONObject = [:]) {
    self.init(kind, octets: .object([kind.name: .object(arguments)]))
  }

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

  /// Puts a screen on top of the stack.
  ///
  /// - Parameters:
  ///   - screen: the screen.
  ///   - onDuplicate: what happens if it is on the stack. Except with `error` and `ignore`, a
  ///     description without an id means the topmost screen with the same route and args.
  /// - Returns: the operation.
  public static func push(
    _ screen: ScreenDescription, onDuplicate: DuplicatePolicy = .error
  ) -> NavigationOperation {
    NavigationOperation(.push, pushArguments(screen, onDuplicate))
  }

  /// Shows a screen in the way of the container, which pushes it; animated by default.
  public static func show(
    _ screen: ScreenDescription, onDuplicate: DuplicatePolicy = .error
  ) -> NavigationOperation {
    NavigationOperation(.show, pushArguments(screen, onDuplicate))
  }

  private static func pushArguments(
    _ screen: ScreenDescription, _ policy: DuplicatePolicy
  ) -> JSONObject {
    [
      "screen": screen.wireValue,
      "onDuplicate": policy == .error ? nil : .string(policy.rawValue),
    ]
  }

  /// Removes all screens above `screen`; with `inclusive` that screen too, but never the root.
  ///
  /// `result`, at most 4 KiB, is for the client that waits for the lowest of them.
  public static func popTo(
    _ screen: String, inclusive: Bool = false, result: NavigationValue? = nil
  ) -> NavigationOperation {
    var arguments: JSONObject = ["screen": .string(screen)]
    if inclusive { arguments.add("inclusive", true) }
    arguments.add("result", result?.octets)
    return NavigationOperation(.popTo, arguments)
  }

  /// Replaces the whole stack, bottom first.
  ///
  /// It needs a guard by revision, digest or stack.
  public static func setStack(_ screens: [ScreenDescription]) -> NavigationOperation {
    NavigationOperation(.setStack, ["screens": .array(screens.map(\.wireValue))])
  }

  /// Puts a screen in the place of another one.
  ///
  /// Without `replaced` it needs a guard.
  ///
  /// - Parameters:
  ///   - replaced: the id of the screen to replace, by default the top. It can be the root.
  ///   - screen: the new screen, which must not be on the stack.
  ///   - isBack: whether a new top comes with the animation of a pop, not of a push.
  ///   - result: what the client gets that waits for the replaced screen, at most 4 KiB.
  /// - Returns: the operation.
  public static func replace(
    _ replaced: String? = nil, with screen: ScreenDescription, isBack: Bool = false,
    result: NavigationValue? = nil
  ) -> NavigationOperation {
    NavigationOperation(
      .replace,
      [
        "with": screen.wireValue, "screen": replaced.map { .string($0) },
        "direction": isBack ? .string("back") : nil, "result": result?.octets,
      ])
  }

  /// A place in the stack.
  public enum Place: Hashable, Sendable {
    /// Directly below this screen.
    case below(String)
    /// Directly above this screen.
    case above(String)
    /// At this index, from 0 at the bottom to the depth of the stack.
    case at(Int)
  }

  /// Puts a screen into the stack.
  ///
  /// With a place by index, it needs a guard by revision, digest or stack.
  ///
  /// - Parameters:
  ///   - screen: the screen, which must not be on the stack.
  ///   - place: where it comes.
  /// - Returns: the operation.
  public static func insert(
    _ screen: ScreenDescription, _ place: Place
  ) -> NavigationOperation {
    let (name, value): (String, OpaqueJSON) =
      switch place {
      case .below(let id): ("below", .string(id))
      case .above(let id): ("above", .string(id))
      // navd refuses a negative number.
      case .at(let index): ("at", OpaqueJSON(validated: Array("\(index)".utf8)))
      }
    return NavigationOperation(.insert, ["screen": screen.wireValue, name: value])
  }

  /// Takes screens out of the stack, wherever they are; one must stay.
  public static func remove(_ screens: [String]) -> NavigationOperation {
    NavigationOperation(.remove, ["screens": .array(screens.map { .string($0) })])
  }

  /// Creates the nav with a root screen; it must be the first operation of a list.
  public static func create(root: ScreenDescription) -> NavigationOperation {
    NavigationOperation(.navCreate, ["root": root.wireValue])
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

  /// Sets members of a screen; the screen need not be on the stack.
  public static func setScreen(
    _ screen: String, _ settings: [ScreenSetting]
  ) -> NavigationOperation {
    NavigationOperation(
      .screenSet, ["screen": .string(screen)] + JSONObject(settings.map(\.member)))
  }

  /// Changes the navigation item of a screen; the screen need not be on the stack.
  public static func setItem(
    of screen: String, _ item: ItemDescription, requireOnStack: Bool = false
  ) -> NavigationOperation {
    var arguments = ["screen": .string(screen)] + item.members
    if requireOnStack { arguments.add("requireOnStack", true) }
    return NavigationOperation(.itemSet, arguments)
  }

  /// Creates a button without showing it.
  public static func createButton(_ button: ButtonDescription) -> NavigationOperation {
    NavigationOperation(.buttonCreate, button.members)
  }

  /// Sets members of a button, also where it is shown.
  public static func setButton(
    _ button: String, _ settings: [ButtonSetting]
  ) -> NavigationOperation {
    NavigationOperation(
      .buttonSet, ["button": .string(button)] + JSONObject(settings.map(\.member)))
  }
}
