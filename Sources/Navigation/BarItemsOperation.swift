/// An operation on the items of a standalone bar, or a tap on any bar's back button.
///
/// A standalone bar keeps its items as screens of which only the item is used.
package enum BarItemsOperation: Hashable, Sendable {
  /// UIKit's `pushItem(_:animated:)`.
  case push(ScreenArgument)
  /// UIKit's `popItem(animated:)`.
  case pop
  /// UIKit's `setItems(_:animated:)`.
  case set([ScreenArgument])
  /// A tap on the back button, of a controller too.
  case backTap
}

extension NavigationController {
  mutating func perform(
    _ operation: BarItemsOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    if case .backTap = operation {
      guard showsBackButton else { throw .noBackButton }
      return .popped(pop(&draft))
    }
    guard isStandalone else {
      throw .invalidArgument("the items of a controller's bar are those of its screens")
    }
    switch operation {
    case .push(let argument): return try push(argument, .error, &draft, context)
    case .set(let arguments): return try setStack(arguments, &draft, context)
    case .pop, .backTap: return .popped(pop(&draft))
    }
  }
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
