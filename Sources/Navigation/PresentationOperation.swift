/// An operation on the presentation chain.
package enum PresentationOperation: Hashable, Sendable {
  /// UIKit's `present(_:animated:)`; without a presenter what is visible presents.
  case present(ScreenArgument, from: ScreenID?, style: String?)
  /// UIKit's `dismiss(animated:)`: what a screen presents and everything above it, or the whole
  /// chain.
  case dismiss(from: ScreenID?)
}

extension NavigationController {
  mutating func perform(
    _ operation: PresentationOperation, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .present(let argument, let presenter, let style):
      return try present(argument, from: presenter, style: style, &draft, context)
    case .dismiss(let presenter): return .dismissed(try dismiss(from: presenter, &draft))
    }
  }
}
