package import NavigationCore

/// A UINavigationItem: the title, buttons and appearance that a screen supplies to the bar.
package struct NavigationItem: EditableRecord {
  /// UIKit's `title`: nil shows the screen's title, an empty text shows a blank.
  package var title: String?
  /// UIKit's `prompt`, a line above the bar's content.
  package var prompt: String?
  /// The client's own view in place of the title.
  package var titleView: TitleView?
  /// The back button that the screen *above* shows.
  package var backBarButtonItem: Button?
  /// Whether this screen hides its back button while it is on top.
  package var hidesBackButton = false
  /// Whether left items appear beside the back button instead of replacing it.
  package var leftItemsSupplementBackButton = false
  /// UIKit's `leftBarButtonItems`; index 0 is left-most.
  package var leftItems: [Button] = []
  /// UIKit's `rightBarButtonItems`; index 0 is right-most.
  package var rightItems: [Button] = []
  package var largeTitleDisplayMode = LargeTitleDisplayMode.automatic
  /// What is said in place of the title, and the language of title and prompt.
  package var accessibility: Accessibility = [:]
  /// Appearance objects of this item alone.
  package var appearance = AppearanceSet()

  package init() {}
}

/// A view of the client's that replaces the title; its height is optional.
package struct TitleView: Hashable, Sendable {
  package var view: OpaqueJSON
  /// Height in points; the value as the client wrote it.
  package var height: OpaqueJSON?
}

/// UINavigationItem.LargeTitleDisplayMode.
package enum LargeTitleDisplayMode: UInt8, CaseIterable, Sendable {
  /// Large if the screen below is large; large at the root.
  case automatic
  /// Large.
  case always
  /// Inline.
  case never
}

/// The four appearance objects of a bar or of one item; nil for a slot without one.
package struct AppearanceSet: EditableRecord {
  /// Used at standard height.
  package var standard: OpaqueJSON?
  /// Used at compact height.
  package var compact: OpaqueJSON?
  /// Used while the content's edge meets the bar.
  package var scrollEdge: OpaqueJSON?
  /// Used at compact height while the content's edge meets the bar.
  package var compactScrollEdge: OpaqueJSON?

  package init() {}
}
