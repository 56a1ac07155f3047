/// A replacement of the stack that names no screens itself.
package enum StackReplacement: Hashable, Sendable {
  /// Goes to a route by the templates in the settings.
  case open(route: String)
  /// Puts back what was saved; the root is for a payload of which nothing is left.
  case restore([RestorationEntry], root: ScreenArgument?)
  /// Puts back the stack of an earlier revision; what it was is found by who keeps the history.
  case revert(to: Revision, stack: [ScreenID]?)
}

extension NavigationController {
  mutating func perform(
    _ operation: StackReplacement, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .open(let route): return try open(route, &draft, context)
    case .restore(let entries, let root): return try restore(entries, root, &draft, context)
    case .revert(_, let stack):
      guard let stack else { throw .invalidArgument("there is no earlier revision to revert to") }
      return try revert(to: stack, &draft, context)
    }
  }

  private mutating func revert(
    to ids: [ScreenID], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let missing = ids.filter { screen($0) == nil }
    guard missing.isEmpty else { throw .restoreFailed(missing: missing) }
    return try setStack(ids.map { .id($0) }, &draft, context)
  }
}
