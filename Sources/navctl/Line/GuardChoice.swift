import CommandLineOptions
import NavigationClient
import NavigationCore

/// Chooses the guards of a command: the typed conditions, else the state that was last seen.
///
/// navctl never reads the present state to make a guard. Such a guard would always hold, also for a
/// screen that another client has just pushed and that the user has not seen.
struct GuardChoice: Hashable, Sendable {
  var typed: Guards
  var hasTypedGuards: Bool { typed != Guards() }

  /// Reads the options that set conditions, such as `--top`, `--rev` and `--any`.
  init(_ line: ParsedCommandLine) throws(UsageError) {
    typed = Guards()
    typed.any = line.contains("any")
    // An empty text stands for an empty stack.
    if let top = line.value(of: "top") { typed.top = .some(top.isEmpty ? nil : top) }
    typed.revision = try line.integer(of: "rev").map { Revision($0) }
    if let text = line.value(of: "epoch") {
      typed.epoch = try ArgumentReader.epoch(text, option: "epoch")
    }
    if let text = line.value(of: "digest") {
      let digest = try require(
        Digest(text), "--digest takes 24 hex digits, as show prints them, not '\(text)'")
      typed.digest = digest
    }
    typed.depth = try line.integer(of: "depth")
    if let text = line.value(of: "stack") {
      typed.stack = text.unicodeScalars.split(separator: ",").map(String.init)
    }
    let has = line.values(of: "has")
    if !has.isEmpty { typed.has = has }
    if let id = line.value(of: "visible") { typed.visible = .some(id.isEmpty ? nil : id) }
  }

  /// The strictest guard that one of the operations needs; none if the first one creates the nav.
  static func strictestGuard(_ operations: [NavigationOperation]) -> OperationKind.NeededGuard {
    guard operations.first?.kind != .navCreate else { return .none }
    let needs = operations.map(\.neededGuard)
    if needs.contains(.wholeStack) { return .wholeStack }
    // A swipe down beside a pop is rare enough for the strictest guard of both.
    if needs.contains(.visibleScreen) {
      return needs.contains(.topScreen) ? .wholeStack : .visibleScreen
    }
    return needs.contains(.topScreen) ? .topScreen : .none
  }

  /// Whether an operation dismisses a named screen, which also ends the presentations above it.
  static func removesPresentationsAbove(_ operations: [NavigationOperation]) -> Bool {
    operations.contains { $0.kind == .dismiss && $0.neededGuard == .none }
  }

  /// The typed conditions, and the last seen visible screen unless the conditions already fix it.
  func guards(adding seen: SeenState?) -> Guards {
    guard let seen, let visible = seen.visible, !typed.any, typed.visible == nil,
      !typed.fixesState, typed.epoch == nil || typed.epoch == seen.epoch
    else { return typed }
    var guards = typed
    guards.epoch = seen.epoch
    guards.visible = .some(visible)
    return guards
  }

  /// The typed conditions, else guards from `seen`; throws if both lack what `need` requires.
  func guards(
    need: OperationKind.NeededGuard, seen: SeenState?, obstacle: String?, command: String,
    nav: String
  ) throws(UsageError) -> Guards {
    if typed.any { return typed }
    switch need {
    case .none, .byArguments: return typed
    case .visibleScreen:
      if typed.visible != nil || typed.fixesState { return typed }
    case .topScreen:
      if typed.top != nil || typed.fixesStack { return typed }
    case .wholeStack:
      if typed.fixesStack { return typed }
      if typed.top != nil {
        throw UsageError(
          "\(command) replaces or removes more than the top, so --top alone is not sufficient",
          remedy: "navctl \(command) \(nav) --rev N, or --any")
      }
    }
    guard let seen else {
      throw Self.unseenError(need, obstacle: obstacle, command: command, nav: nav)
    }
    var guards = typed
    guards.epoch = guards.epoch ?? seen.epoch
    if need == .visibleScreen, let visible = seen.visible {
      guards.visible = guards.visible ?? .some(visible)
      guards.top = guards.top ?? .some(seen.top)
    } else if need == .topScreen {
      guards.top = .some(seen.top)
      // A screen that was presented since covers what the user wants to remove.
      guards.visible = guards.visible ?? seen.visible
    } else {
      guards.revision = seen.revision
    }
    return guards
  }

  private static func unseenError(
    _ need: OperationKind.NeededGuard, obstacle: String?, command: String, nav: String
  ) -> UsageError {
    let option =
      switch need {
      case .topScreen: "--top ID"
      case .visibleScreen: "--visible ID"
      case .none, .wholeStack, .byArguments: "--rev N"
      }
    // `show` would be no help, since it cannot record what it shows.
    if let obstacle {
      return UsageError(
        "\(command) would remove screens, and navctl cannot record what it shows: \(obstacle)",
        remedy: "add \(option), or --any for any state")
    }
    return UsageError(
      "\(command) would remove screens that this terminal has not shown",
      remedy: "navctl show \(nav), then again; or add \(option), or --any for any state")
  }
}

extension NavigationOperation {
  /// Reads an operation that the user typed as JSON; only the daemon checks its arguments.
  init(typed text: String) throws(UsageError) {
    // The name alone, as in a script of navctl.
    let name = text.filter { !$0.isWhitespace }
    guard OperationKind(name: name) == .unknown else {
      let isComplete = NavigationOperation(OperationKind(name: name)).refusal == nil
      throw UsageError(
        "an operation is not JSON",
        remedy: isComplete
          ? "'{\"\(name)\":{}}'" : "'{\"\(name)\":{...}}', with its arguments of docs/protocol.md")
    }
    let json = try ArgumentReader.object(text, what: "an operation")
    let members = json.members
    try require(
      members.count == 1, "an operation is an object with one member, not \(members.count)",
      remedy: "for example '{\"push\":{\"screen\":{\"title\":\"Home\"}}}'")
    self.init(OperationKind(name: members[0].name), octets: json.opaque)
  }

  /// The rights that the operation may need; whether a button pops depends on the state of the nav.
  var neededRights: Rights {
    switch kind {
    case .buttonActivate: return [.push, .pop]
    case .push, .show, .segue:
      let policy = try? JSONValue(octets.bytes)[kind.name]?["onDuplicate"]?.string
      return policy == "popTo" || policy == "update" ? [.push, .pop] : kind.rights
    default: return kind.rights
    }
  }

  /// The guard that the operation needs; navctl is stricter than the daemon about `dismiss`.
  ///
  /// A `dismiss` without `from` ends any presentation; with `from`, the user has named a screen.
  var neededGuard: OperationKind.NeededGuard {
    do {
      let arguments = try JSONValue(octets.bytes)[kind.name]
      switch kind {
      case .dismiss: return arguments?["from"] == nil ? .visibleScreen : .none
      case .replace: return arguments?["screen"] == nil ? .topScreen : .none
      case .insert: return arguments?["at"] == nil ? .none : .wholeStack
      default: return kind.neededGuard
      }
    } catch {
      return .wholeStack
    }
  }
}
