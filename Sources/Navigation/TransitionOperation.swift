/// An operation on the transition in flight.
package enum TransitionOperation: Hashable, Sendable {
  /// Not yet there.
  case complete(Revision)
}

extension NavigationController {
  mutating func perform(
    _ operation: TransitionOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .complete: throw .invalidArgument("not yet there")
    }
  }
}
