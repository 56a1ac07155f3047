/// An operation on bars, toolbar, appearance and environment.
package enum BarOperation: Hashable, Sendable {
  /// Not yet there.
  case setBarHidden(Bool)
}

extension NavigationController {
  mutating func perform(
    _ operation: BarOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .setBarHidden: throw .invalidArgument("not yet there")
    }
  }
}
