/// The direction of a swipe over the content.
package enum SwipeDirection: UInt8, CaseIterable, Sendable {
  /// A swipe up hides the bars, a swipe down shows them.
  case up, down
}

/// One of the four appearance objects of a bar or an item.
package enum AppearanceSlot: UInt8, CaseIterable, Sendable {
  /// One object for each combination of height class and scroll edge.
  case standard, compact, scrollEdge, compactScrollEdge
}

/// One member of the bar to set.
package enum BarEdit: Hashable, Sendable {
  case look(BarLookEdit)
  case tintColor(String?)
  case backgroundColor(String?)
  case prefersLargeTitles(Bool)
  case appearance(AppearanceSet)
}

/// One member of the toolbar to set.
package enum ToolbarEdit: Hashable, Sendable {
  case barStyle(BarStyle?)
  case tintColor(String?)
  case barTintColor(String?)
  case translucent(Bool?)
}

/// One member of a look to set; maps are replaced whole.
package enum BarLookEdit: Hashable, Sendable {
  case barStyle(BarStyle?)
  case translucent(Bool?)
  case barTintColor(String?)
  case titleTextAttributes(TitleTextAttributes)
  case titleOffsets([BarMetrics: OpaqueJSON])
  case backgroundImages([BackgroundSlot: ImageReference])
  case shadowImage(ImageReference?)
  case backIndicatorImage(ImageReference?)
  case backIndicatorMask(ImageReference?)
}

/// One member of the environment to set.
package enum EnvironmentEdit: Hashable, Sendable {
  case isPhone(Bool)
  case isVerticallyCompact(Bool)
  case isAtScrollEdge(Bool)
  case showsKeyboard(Bool)
  case scale(OpaqueJSON?)
  case statusBar(UInt64)
  case backTitleBudget(Int?)
  case locale(String)
  case orientation(Orientation)
  case barPosition(BarPosition)
  case animations(Animations)
  case hasScreenReader(Bool)
  case contentSizeCategory(ContentSizeCategory)
  case hasHighContrast(Bool)
}
