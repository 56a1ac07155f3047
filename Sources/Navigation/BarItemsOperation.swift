/// An operation on the items of a standalone bar.
package enum BarItemsOperation: Hashable, Sendable {
  /// Not yet there.
  case backTap
}

extension NavigationController {
  mutating func perform(
    _ operation: BarItemsOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .backTap: throw .invalidArgument("not yet there")
    }
  }
}
