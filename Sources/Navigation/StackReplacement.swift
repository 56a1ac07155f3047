/// A replacement of the stack that names no screens itself.
package enum StackReplacement: Hashable, Sendable {
  /// Not yet there.
  case open(route: String)
}

extension NavigationController {
  mutating func perform(
    _ operation: StackReplacement, _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    switch operation {
    case .open: throw .invalidArgument("not yet there")
    }
  }
}
