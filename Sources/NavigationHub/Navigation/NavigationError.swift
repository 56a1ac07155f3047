package import NavigationCore

/// The reason to refuse an operation, which leaves the state untouched.
package enum NavigationError: Error, Hashable, Sendable {
  /// The nav has no screen with this id: none on the stack, presented or detached.
  case unknownScreen(ScreenID)
  case unknownButton(ButtonID)
  /// The nav has the button, but it takes no tap now.
  case buttonRefused(ButtonID, ButtonRefusal)
  /// The screen is not of kind `content`, the only kind that a stack takes.
  case forbiddenKind(ScreenID?, ScreenKind)
  /// The screen is in the presentation chain.
  case alreadyPresented(ScreenID)
  /// The screen is on the stack already.
  case duplicateScreen(ScreenID)
  /// There is a detached screen with this id and other contents.
  case differsFromDetached(ScreenID)
  /// One replacement of the stack names the screen twice.
  case duplicateInSet(ScreenID)
  /// One list names the button twice, or a record would redefine a button in use.
  case duplicateButton(ButtonID)
  /// The edit would put the button on both sides of the item, left and right.
  case buttonOnBothSides(ButtonID)
  /// An item with this identity is neither on the bar nor detached.
  case unknownItem(ScreenID)
  /// The item is on the bar already, or one replacement names it twice.
  case duplicateBarItem(ScreenID)
  /// The screen is known but not on the stack.
  case notInStack(ScreenID)
  case emptyStack
  /// No screen on the stack has this route.
  case routeNotInStack(String)
  /// Several screens on the stack have this route.
  case ambiguousRoute(String, candidates: [ScreenID])
  /// An attached controller must have a root.
  case rootRequired
  /// A presented screen covers the stack, so a person cannot pop its top.
  case covered
  case noBackButton
  /// The `canPop` of the top screen is false, so a person may not pop it.
  case popBlocked(ScreenID)
  /// A person may not dismiss the outermost presented screen.
  case dismissBlocked(ScreenID, DismissRefusal)
  /// The screen cannot present, because the controller's one chain has screens already.
  case alreadyPresenting(ScreenID)
  /// The screen to present is on the stack or presented.
  case onStackOrPresented(ScreenID)
  /// No template matches the route; `unmet` is the first condition that kept one from matching.
  case noMatchingRoute(String, unmet: RouteTemplate.Condition? = nil)
  /// Screens of the stack to restore were released after that stack was replaced.
  case restoreFailed(missing: [ScreenID])
  /// The configuration declares no class of this name.
  case unknownClass(String)
  /// The class is based on a bar where a toolbar is needed, or the reverse.
  case wrongBaseClass(String)
  /// The stack would be deeper than the limit.
  case depthLimit(Int)
  /// The nav's records or parts would be larger than the limit, in bytes.
  case sizeLimit(Int)
  case gestureRefused(GestureRefusal)
  /// An argument is invalid; the text says which and why.
  case invalidArgument(String)
}

/// Why a button takes no tap; the reasons are tested in this order.
package enum ButtonRefusal: String, Hashable, Sendable {
  /// Neither bar nor toolbar displays the button.
  case notDisplayed
  /// The button's `isEnabled` is false.
  case disabled
}

/// Why a person may not dismiss a presented screen; the reasons are tested in this order.
package enum DismissRefusal: String, Hashable, Sendable {
  /// The screen's `modalInPresentation` is true.
  case modalInPresentation
  /// Nobody can swipe away a screen of a full-screen style.
  case fullScreenStyle = "style"
}

/// The limits of one nav.
package struct NavigationLimits: Hashable, Sendable {
  /// The most screens a stack may hold.
  package var stackDepth = 64
  /// The most detached screens and unused buttons; the oldest is released first.
  package var detachedRecords = 256
  /// The most bytes the presented screens of one nav may take, encoded: they travel in one message.
  package var presentedBytes = 96 << 10
  /// The most bytes the records of one nav may take, encoded.
  package var stateBytes = 1 << 20
  /// The most bytes that the bar and the settings of one nav may take together, beside the looks of
  /// all bars.
  package var barAndSettingsBytes = 1 << 17
  /// The most bytes that the looks of all bars may take.
  ///
  /// With these limits all parts of a nav fit into one message.
  package var lookBytes = 16 << 10
}

extension NavigationError {
  /// The error in terms of items, for a standalone bar, which has no screens.
  var inItemTerms: NavigationError {
    switch self {
    case .unknownScreen(let id): .unknownItem(id)
    case .duplicateScreen(let id), .duplicateInSet(let id): .duplicateBarItem(id)
    default: self
    }
  }
}

/// A number with its noun, for messages to people: "1 session", "2 sessions", "0 watches".
///
/// The plural takes "es" after s, x, z, ch and sh, else "s". `figures` is the number as text, for
/// example with separators; nil stands for its plain digits.
package func counted(
  _ number: some BinaryInteger, _ noun: String, figures: String? = nil
) -> String {
  assert(!noun.isEmpty)
  let takesES = ["s", "x", "z", "ch", "sh"].contains { noun.hasSuffix($0) }
  let ending = number == 1 ? "" : takesES ? "es" : "s"
  return "\(figures ?? String(number)) \(noun)\(ending)"
}
