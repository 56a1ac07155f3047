import NavigationCore

// The layout of the content, and the orientations of the interface.

extension Orientation {
  /// The orientations of a phone without an orientation delegate: all but upside down.
  fileprivate static let ofPhone: [Orientation] = [.portrait, .landscapeLeft, .landscapeRight]
}

extension Resolution {
  /// The content's upper edge, in points below the screen's upper edge.
  ///
  /// It is 0 if the bar is hidden or the content extends under the bar, else the bar's lower edge.
  /// The content extends under the bar if two things hold. The screen extends its top edge, and the
  /// bar is translucent or the screen extends under opaque bars too.
  func contentTop(height: UInt64, isTranslucent: Bool) -> UInt64 {
    let edges = details?.edges ?? .all
    let extendsUnderBar =
      edges.contains(.top) && (isTranslucent || details?.extendsUnderOpaqueBars ?? false)
    return bar.isHidden || extendsUnderBar ? 0 : environment.statusBar + height
  }

  /// The translucent bars under which the content extends; nil without full-screen layout.
  ///
  /// The status bar is always translucent.
  func extendsUnder(
    isTranslucent: Bool, isToolbarTranslucent: Bool
  ) -> ResolvedBar.CoveringBars? {
    guard details?.wantsFullScreenLayout ?? false else { return nil }
    var bars: ResolvedBar.CoveringBars = .status
    if isTranslucent { bars.insert(.navigation) }
    if isToolbarTranslucent { bars.insert(.tool) }
    return bars
  }

  /// The orientations that the delegate supports, else those of the device; screens have no say.
  var orientations: [Orientation] {
    environment.orientations?.supported
      ?? (environment.isPhone ? Orientation.ofPhone : Orientation.allCases)
  }
}

// Metrics, height and large titles.

extension Resolution {
  /// UIKit's heights in points.
  private enum Points {
    static let standard: UInt64 = 44
    /// The height with a prompt, at any height class.
    static let prompt: UInt64 = 74
    /// The additional height of a large title.
    static let largeTitle: UInt64 = 52
  }

  /// An empty prompt counts as none.
  private var hasPrompt: Bool { details?.item.prompt.map { !$0.isEmpty } ?? false }

  /// The combination of height class and prompt.
  var metrics: BarMetrics {
    switch (environment.isVerticallyCompact, hasPrompt) {
    case (false, false): .default
    case (true, false): .compact
    case (false, true): .defaultPrompt
    case (true, true): .compactPrompt
    }
  }

  /// The bar's height in points, whether it is hidden or not.
  func height(isLarge: Bool) -> UInt64 {
    assert(mayBeLarge || !isLarge)
    let base =
      if hasPrompt {
        Points.prompt
      } else if environment.isVerticallyCompact {
        profile.compactHeight
      } else {
        Points.standard
      }
    return isLarge ? base + Points.largeTitle : base
  }

  var isLarge: Bool { mayBeLarge && Self.isLarge(stack) }

  /// Whether the bar allows large titles now, so that the screens decide.
  var mayBeLarge: Bool { bar.prefersLargeTitles && !environment.isVerticallyCompact }

  /// Whether the top screen's title is large, if the bar allows large titles.
  ///
  /// An automatic screen is like the one below it, and large at the root. O(screens from the top
  /// down to the nearest one that is not automatic).
  static func isLarge(_ stack: [Screen]) -> Bool {
    for screen in stack.reversed() {
      switch screen.hasDefaultDetails ? .automatic : screen.item.largeTitleDisplayMode {
      case .always: return true
      case .never: return false
      case .automatic: continue
      }
    }
    // All screens down to the root are automatic.
    return !stack.isEmpty
  }
}
