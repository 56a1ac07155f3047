/// The chain of presented screens; each was presented by the one before, the first by a screen of the
/// stack.
package struct Presentation: PartContent {
  /// The chain, outermost last.
  package var chain: [Presented] = []

  /// Makes the empty chain.
  package init() {}
}

/// A presented screen.
package struct Presented: Equatable, Sendable {
  /// The screen.
  package var screen: Screen
  /// Who presents it.
  package var from: ScreenID?
  /// UIKit's modal presentation style, as the client named it.
  package var style: String?

  /// Makes a value from its members.
  package init(screen: Screen, from: ScreenID?, style: String?) {
    self.screen = screen
    self.from = from
    self.style = style
  }
}
