/// An operation on the presentation chain.
package enum PresentationOperation: Hashable, Sendable {
  /// Not yet there.
  case dismiss(from: ScreenID?)
}

extension NavigationController {
  mutating func perform(
    _ operation: PresentationOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .dismiss: throw .invalidArgument("not yet there")
    }
  }
}
