/// A UINavigationItem: what a screen gives the bar to show; a plain record, not a view.
package struct NavigationItem: Hashable, Sendable {
  /// UIKit's `title`: nil re-exposes the screen's title, an empty text is an explicit blank.
  package var title: String?
  /// UIKit's `prompt`, a line above the bar's content.
  package var prompt: String?
  /// The client's own view in place of the title.
  package var titleView: TitleView?
  /// The back button that the screen *above* shows.
  package var backBarButtonItem: Button?
  /// Whether this screen, on top, hides its back button.
  package var hidesBackButton = false
  /// Whether left items stand beside the back button instead of replacing it.
  package var leftItemsSupplementBackButton = false
  /// UIKit's `leftBarButtonItems`; index 0 is left-most.
  package var leftItems: [Button] = []
  /// UIKit's `rightBarButtonItems`; index 0 is right-most.
  package var rightItems: [Button] = []
  /// UIKit's `largeTitleDisplayMode`.
  package var largeTitleDisplayMode = LargeTitleDisplayMode.automatic
  /// Appearance objects of this item alone.
  package var appearance = AppearanceSet()

  /// Makes an item at its defaults.
  package init() {}
}

/// A view of the client's in place of a title, with its height in points if the client says it.
package struct TitleView: Hashable, Sendable {
  /// The client's name or description of the view.
  package var view: OpaqueJSON
  /// Height in points; the value as the client wrote it.
  package var height: OpaqueJSON?

  /// Makes a title view.
  package init(view: OpaqueJSON, height: OpaqueJSON? = nil) {
    self.view = view
    self.height = height
  }
}

/// UINavigationItem.LargeTitleDisplayMode.
package enum LargeTitleDisplayMode: UInt8, Sendable {
  /// As the screen below; large at the root.
  case automatic
  /// Large.
  case always
  /// Inline.
  case never
}

/// The four appearance slots of a bar or of one item; each a value that is replaced whole.
package struct AppearanceSet: Hashable, Sendable {
  /// Used at standard height.
  package var standard: OpaqueJSON?
  /// Used at compact height.
  package var compact: OpaqueJSON?
  /// Used while the content's edge meets the bar.
  package var scrollEdge: OpaqueJSON?
  /// Used at compact height while the content's edge meets the bar.
  package var compactScrollEdge: OpaqueJSON?

  /// Makes an empty set.
  package init() {}
}
