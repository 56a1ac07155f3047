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
  private var extrasBox: Box<ItemExtras>?

  package init() {}

  /// The members that most items leave at their defaults; such an item takes no memory for them.
  package var extras: ItemExtras {
    get { extrasBox?.value ?? ItemExtras() }
    set { extrasBox = newValue == ItemExtras() ? nil : .value(newValue) }
  }

  var hasDefaultExtras: Bool { extrasBox == nil }

  /// `ItemExtras.backAction`.
  var backAction: Button? { extrasBox?.value.backAction }

  /// Whether a person searches in the item's search field.
  var hasActiveSearch: Bool {
    extrasBox.map { $0.value.searchBarPlacement != nil && $0.value.isSearchActive } ?? false
  }
}

/// The rarer members of a navigation item.
package struct ItemExtras: Hashable, Sendable {
  /// The text of the back button that the screen *above* shows; an empty one is no text.
  package var backButtonTitle: String?
  /// UIKit's `backAction`: what a tap on this screen's own back button does instead of popping.
  package var backAction: Button?
  package var style = ItemStyle.navigator
  package var subtitle: String?
  /// The client's own view in place of the subtitle.
  package var subtitleView: OpaqueJSON?
  /// The text of a large title; nil is the title in the middle.
  package var largeTitle: String?
  /// The text below a large title; nil is the subtitle.
  package var largeSubtitle: String?
  package var largeSubtitleView: OpaqueJSON?
  package var titleAlignment = TitleAlignment.automatic
  /// UIKit's `titleMenuProvider`: the menu at the title.
  package var titleMenu = Menu()
  /// UIKit's `preferredSearchBarPlacement`; nil for an item without a search.
  package var searchBarPlacement: SearchBarPlacement?
  /// Whether a person searches now; without a placement it means nothing.
  package var isSearchActive = false

  /// The estimated encoded size without buttons, in bytes.
  var byteCount: Int {
    let texts = [backButtonTitle, subtitle, largeTitle, largeSubtitle]
    let views = [subtitleView, largeSubtitleView]
    return texts.reduce(64) { $0 + 16 + ($1?.jsonOctets ?? 0) }
      + views.reduce(0) { $0 + ($1?.bytes.count ?? 0) } + titleMenu.byteCount
  }
}

/// UIKit's `UINavigationItem.ItemStyle`: how an item is laid out.
package enum ItemStyle: UInt8, CaseIterable, Sendable {
  /// For a stack of pages.
  case navigator
  /// For places with a history, such as folders.
  case browser
  /// For a document; `backAction` makes no back button of its own.
  case editor
}

/// UIKit's `searchBarPlacement`: where the search field of an item stands.
package enum SearchBarPlacement: UInt8, CaseIterable, Sendable {
  /// Below the title on a phone, else beside the buttons.
  case automatic
  /// Beside the buttons.
  case inline
  /// Below the title.
  case stacked
  /// With the buttons of the bar or of the toolbar.
  case integrated
  /// As `integrated`, in the center of a wide display.
  case integratedCentered
  /// As `integrated`, as a button.
  case integratedButton
}

/// UIKit's `titleAlignment`: where the title stands in the bar.
package enum TitleAlignment: UInt8, CaseIterable, Sendable {
  /// The center for the style `navigator`, else the leading side.
  case automatic
  /// The side where reading begins.
  case leading
  /// The middle of the bar.
  case center
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
