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
  /// The text of the back button that the screen *above* shows; an empty one is no text.
  package var backButtonTitle: String?
  /// Which texts that back button may show, unless `backBarButtonItem` is set.
  package var backButtonDisplayMode = BackButtonDisplayMode.default
  /// Whether this screen hides its back button while it is on top.
  package var hidesBackButton = false
  /// Whether left items appear beside the back button instead of replacing it.
  package var leftItemsSupplementBackButton = false
  /// UIKit's `leftBarButtonItems`; index 0 is left-most.
  package var leftItems: [Button] = []
  /// UIKit's `rightBarButtonItems`; index 0 is right-most.
  package var rightItems: [Button] = []
  package var largeTitleDisplayMode = LargeTitleDisplayMode.automatic
  /// The text that a screen reader says for the title, and the language of title and prompt.
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

/// UIKit's `backButtonDisplayMode`: which texts a back button may show.
package enum BackButtonDisplayMode: UInt8, CaseIterable, Sendable {
  /// The title, else the general word, else none, as they fit.
  case `default`
  /// The general word if it fits, else none.
  case generic
  /// None.
  case minimal
}

/// UIKit's `largeTitleDisplayMode`: whether the title is large where the bar prefers large titles.
package enum LargeTitleDisplayMode: UInt8, CaseIterable, Sendable {
  /// Large if the screen below is large; large at the root.
  case automatic
  /// Large.
  case always
  /// Not large.
  case never
}

/// The appearance objects of a bar or of one item, by slot.
package struct AppearanceSet: EditableRecord {
  private var objects: [AppearanceSlot: OpaqueJSON] = [:]

  package init() {}

  package subscript(slot: AppearanceSlot) -> OpaqueJSON? {
    get { objects[slot] }
    set { objects[slot] = newValue }
  }

  /// The estimated encoded size, in bytes.
  var byteCount: Int { objects.reduce(0) { $0 + $1.value.bytes.count } }
}

/// How a screen reader reads a screen, a title or a button; it has only the members that are set.
package typealias Accessibility = [AccessibilityMember: Text]

/// A text for screen readers, by UIKit's names.
package enum AccessibilityMember: UInt8, CaseIterable, Sendable {
  /// `label` is said in place of what is drawn, and `hint` after it; `identifier` is a name for tests,
  /// never said; `language` is a tag of BCP 47.
  case label, hint, identifier, language
}

extension Accessibility {
  var byteCount: Int { reduce(0) { $0 + 24 + $1.value.string.jsonOctets } }
}

extension ScreenDetails {
  /// How the title of the bar is read: in the language of the item, else in that of the screen.
  var titleAccessibility: Accessibility {
    guard let language = accessibility[.language] else { return item.accessibility }
    return item.accessibility.merging([.language: language]) { own, _ in own }
  }
}
