package import NavigationCore

/// The resolved bar: all that the bar shows, as a pure function of the nav's state.
///
/// Equal states give equal values. `leftItems`, `rightItems` and `toolbarItems` share storage with
/// the state.
package struct ResolvedBar: Hashable, Sendable {
  package var top: ScreenID?
  /// The screen below `top`, which supplies the back button.
  package var back: ScreenID?
  /// The screen the user sees: the outermost presented one, else the top.
  package var visible: ScreenID?

  /// The bar's height in points, also while the bar is hidden.
  package var height: UInt64
  /// The height that the layout reserves: 0 while the bar is hidden.
  package var layoutHeight: UInt64
  /// The height class and prompt that decide which images and offsets apply.
  package var metrics: BarMetrics
  /// Whether the bar has a large title below its content.
  package var isLarge: Bool

  package var backButton: BackSlot?
  /// The menu of the back button; nil without a back button.
  package var backMenu: BackMenu?
  /// The buttons at the left, left-most first; the back button stands to the left of them.
  package var leftItems: [Button]
  /// The content of the middle; nil for a blank.
  package var middle: MiddleSlot?
  /// How the title in the middle is read.
  package var titleAccessibility: Accessibility
  /// What stands with the title; nil for an item that says nothing of it.
  package var titleParts: TitleParts?
  /// Whether the view in the middle declares a height greater than the bar's.
  package var titleViewOverflows: Bool
  /// The buttons at the right in logical order: index 0 is right-most.
  package var rightItems: [Button]
  /// The search field; nil without one.
  package var search: Search?
  package var usesLandscapeImages: Bool

  package var surface: Surface
  /// Whether the content shines through the bar.
  package var isTranslucent: Bool
  package var tintColor: String

  /// The content's upper edge, in points below the screen's upper edge.
  package var contentTop: UInt64
  /// The bars that the content extends under; nil if the screen wants no full-screen layout.
  package var extendsUnder: CoveringBars?
  package var showsToolbar: Bool
  /// The colour behind the toolbar's buttons, and whether the content shines through.
  package var toolbarBackground: String
  package var isToolbarTranslucent: Bool
  /// The toolbar's buttons in display order, also while it is hidden.
  package var toolbarItems: [Button]
  package var orientations: [Orientation]
  package var allowsSwipeBack: Bool
}

extension ResolvedBar {
  /// What stands with the title in the middle.
  package struct TitleParts: Hashable, Sendable {
    package var style: ItemStyle
    package var isLeading: Bool
    package var subtitle: Subtitle?
    /// The text of the large title and what is below it; nil unless the title is large and they differ
    /// from those in the middle.
    package var large: Large?
    package var menu: Menu

    /// The place below a title.
    package enum Subtitle: Hashable, Sendable {
      case text(String)
      case view(OpaqueJSON)

      /// The view, else the text unless it is empty.
      init?(_ view: OpaqueJSON?, _ text: String?) {
        if let view {
          self = .view(view)
        } else {
          guard let text, !text.isEmpty else { return nil }
          self = .text(text)
        }
      }
    }

    /// The large title.
    package struct Large: Hashable, Sendable {
      package var title: String
      package var subtitle: Subtitle?
    }
  }

  /// A search field.
  package struct Search: Hashable, Sendable {
    /// The place, which is not `automatic`.
    package var placement: SearchBarPlacement
    package var isActive: Bool
  }

  /// The middle position.
  package enum MiddleSlot: Hashable, Sendable {
    case view(TitleView)
    /// A text; an empty one is an explicit blank.
    case title(String)
  }

  /// A button as it is shown.
  package struct ButtonSlot: Hashable, Sendable {
    package var button: Button
    /// The image that fits the environment, if the button shows one.
    package var image: ImageReference?
    /// Whether the bar's tint colours the button; a custom view keeps its own colours.
    package var tintApplies: Bool
  }

  /// The back button as it is shown.
  package struct BackSlot: Hashable, Sendable {
    /// The text beside the indicator; nil for the indicator alone.
    package var text: String?
    /// The image in place of a text.
    package var image: ImageReference?
    /// The title that an image hides; the menu shows it, and a screen reader says it.
    package var hiddenTitle: String?
    package var source: BackSource
    package var indicator = BackIndicator.default
    package var isGeneric = false
    /// Whether `preferredText` does not fit, so that the generic text or none is shown.
    package var isTruncated = false
    /// The text from the screen below; nil if it has none.
    package var preferredText: String?
    /// The generic text, which replaces `preferredText` if that does not fit; nil if no text is shown at
    /// all.
    package var genericText: String?
    package var accessibility: Accessibility = [:]
    /// What a tap sends in place of a pop, by the `backAction` of the top; empty for no action name.
    package var action: String?
  }

  /// The arrow that points back, beside the back button's text.
  package enum BackIndicator: Hashable, Sendable {
    /// The system's image.
    case `default`
    /// The client's image, with its transition mask.
    case custom(image: ImageReference, mask: ImageReference)
  }

  /// Where the back button's content comes from.
  package enum BackSource: UInt8, CaseIterable, Sendable {
    /// The `backBarButtonItem` of the screen below.
    case backItem
    /// The title of the screen below.
    case title
    /// The generic text, because the screen below has no title.
    case generic
    /// The `backAction` of the top, with nothing below it.
    case backAction
  }

  /// The button with the image that fits the environment, and whether the bar's tint colours it.
  package func shown(_ button: Button) -> ButtonSlot {
    var image: ImageReference?
    if case .image(let portrait, let landscape) = button.face {
      image = usesLandscapeImages ? landscape ?? portrait : portrait
    }
    return ButtonSlot(
      button: button, image: image, tintApplies: button.content.customView == nil)
  }
}

extension ResolvedBar {
  /// How background, shadow and title are drawn.
  package enum Surface: Hashable, Sendable {
    /// By an appearance object, which replaces all properties of the bar.
    case appearance(AppearanceChoice)
    /// By the properties of the bar and its proxies.
    case properties(SurfaceProperties)
  }

  /// An appearance object that is set.
  package struct AppearanceChoice: Hashable, Sendable {
    package var slot: AppearanceSlot
    /// Whether the object is set in the top screen's item; else in the bar.
    package var isOfItem: Bool
    /// Whether displays draw the bar without background and shadow, because a standard object stands
    /// in for a scroll-edge one.
    package var isTransparent: Bool
  }

  /// The look that the properties of the bar and its proxies result in.
  package struct SurfaceProperties: Hashable, Sendable {
    package var background: Background
    package var textColor: String
    /// All attributes of the title, as they are set.
    package var attributes: TitleTextAttributes
    /// How far the title is moved down, in points as the client wrote it; nil for 0.
    package var titleOffset: OpaqueJSON?
    package var shadow: Shadow
  }

  /// The background behind the bar's content.
  package enum Background: Hashable, Sendable {
    /// A colour, as the client wrote it or by default.
    case color(String)
    /// An image; `isDimmed` draws it at the system's opacity, `backing` is the colour behind it.
    case image(ImageReference, isDimmed: Bool, backing: String?)
  }

  /// The line below the bar.
  package enum Shadow: Hashable, Sendable {
    /// The system's line: a third of a point at scale 3 or more, else half a point.
    case hairline(isThirdOfPoint: Bool)
    case image(ImageReference)
    case none
  }

  /// Bars that content may extend under.
  package struct CoveringBars: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let status = CoveringBars(rawValue: 1)
    package static let navigation = CoveringBars(rawValue: 2)
    package static let tool = CoveringBars(rawValue: 4)
  }
}
