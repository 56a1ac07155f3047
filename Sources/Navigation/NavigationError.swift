/// Why an operation is refused; the state is untouched.
///
/// Names follow the protocol's error codes.
package enum NavigationError: Error, Hashable, Sendable {
  /// A screen with this identity is neither on the stack nor detached.
  case unknownScreen(ScreenID)
  /// A button with this identity is not known.
  case unknownButton(ButtonID)
  /// The button is known but not shown.
  case buttonNotDisplayed(ButtonID)
  /// A stack takes content screens only.
  case forbiddenKind(ScreenID?, ScreenKind)
  /// The screen is presented.
  case ownedElsewhere(ScreenID)
  /// The screen is on the stack already.
  case duplicateScreen(ScreenID)
  /// The screen stands twice in one replacement.
  case duplicateInSet(ScreenID)
  /// The button stands twice in one list.
  case duplicateItem(ButtonID)
  /// The button is on the item's other side.
  case itemBothSides(ButtonID)
  /// An item with this identity is neither on the bar nor detached.
  case unknownItem(ScreenID)
  /// The item is on the bar already, or stands twice in one replacement.
  case duplicateBarItem(ScreenID)
  /// The screen is known but not on the stack.
  case notInStack(ScreenID)
  /// No screen on the stack has this route.
  case routeNotInStack(String)
  /// Several screens on the stack have this route.
  case ambiguousRoute(String, candidates: [ScreenID])
  /// An attached controller must have a root.
  case noRoot
  /// No back button is shown.
  case noBackButton
  /// The presenter presents already, itself or through the controller.
  case alreadyPresenting(ScreenID)
  /// The screen to present is on the stack or presented.
  case alreadyActive(ScreenID)
  /// No template matches the route.
  case noRoute(String)
  /// Screens of the stack to go back to are no more.
  case restoreFailed(missing: [ScreenID])
  /// A class that nobody declared.
  case unknownClass(String)
  /// A class with the wrong base.
  case invalidClass(String)
  /// The stack would be deeper than the limit.
  case depthLimit(Int)
  /// The state would be larger than the limit, in bytes.
  case sizeLimit(Int)
  /// A gesture may not begin.
  case gestureRefused(GestureRefusal)
  /// An argument that makes no sense; the text says which and why.
  case invalidArgument(String)
}

/// What bounds one nav.
package struct NavigationLimits: Hashable, Sendable {
  /// The most screens a stack may hold.
  package var stackDepth = 64
  /// The most detached screens and unused buttons; the oldest is released first.
  package var detachedRecords = 256
  /// The most bytes the presented screens of one nav may take, encoded: they travel in one message.
  package var presentedBytes = 96 << 10
  /// The most bytes the records of one nav may take, encoded.
  package var stateBytes = 1 << 20
  /// The most bytes that the bar and the settings of one nav may take together, so that all parts fit
  /// into one message.
  package var partBytes = 1 << 17

  /// Makes the default limits.
  package init() {}
}

extension NavigationError {
  /// The same refusal in the words of a bar that has items instead of screens.
  var ofItem: NavigationError {
    switch self {
    case .unknownScreen(let id): .unknownItem(id)
    case .duplicateScreen(let id), .duplicateInSet(let id): .duplicateBarItem(id)
    default: self
    }
  }
}

/// A number with its noun: "1 session", "2 sessions", "0 watches".
///
/// - Parameters:
///   - number: how many there are.
///   - noun: the noun for one of them, whose plural takes "s", or "es" behind a hiss.
///   - figures: the number as it is to be printed; its digits if nil.
/// - Returns: both, for people.
package func counted(
  _ number: some BinaryInteger, _ noun: String, figures: String? = nil
) -> String {
  let hisses = ["s", "x", "z", "ch", "sh"].contains { noun.hasSuffix($0) }
  let ending = number == 1 ? "" : hisses ? "es" : "s"
  return "\(figures ?? String(number)) \(noun)\(ending)"
}
