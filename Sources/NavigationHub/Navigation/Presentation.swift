package import NavigationCore

/// The chain of presented screens.
///
/// Each screen was presented by the one before it, the first by a screen of the stack.
package struct Presentation: PartContent {
  /// The chain, outermost last.
  package var chain: [Presented] = []

  package init() {}

  package func index(of id: ScreenID) -> Int? { chain.firstIndex { $0.screen.id == id } }
}

/// A presented screen.
package struct Presented: Equatable, Sendable {
  package var screen: Screen
  /// The screen that presents it; nil if no screen was visible.
  package var from: ScreenID?
  /// UIKit's modal presentation style, as the client named it.
  package var style: String?

  /// Whether the screen covers the bar and the stack, so that nobody can touch them.
  ///
  /// UIKit's popovers leave them visible. Any other style counts as covering, also an unknown one
  /// and none.
  package var coversStack: Bool { Self.coversStack(style: style) }

  /// Whether a screen of this style covers the bar and the stack.
  package static func coversStack(style: String?) -> Bool { style != "popover" }

  /// Why a person may not dismiss the screen; nil if nothing is against it.
  ///
  /// UIKit's two full-screen styles have no swipe down.
  var dismissRefusal: DismissRefusal? {
    if !screen.hasDefaultDetails, screen.details.modalInPresentation {
      return .modalInPresentation
    }
    return style == "fullScreen" || style == "overFullScreen" ? .style : nil
  }

  /// Whether the screen covers the whole navigation interface, whichever screen presents it.
  ///
  /// True for UIKit's two current-context styles, because the controller defines the presentation
  /// context.
  package var coversNavigationInterface: Bool {
    style == "currentContext" || style == "overCurrentContext"
  }
}
