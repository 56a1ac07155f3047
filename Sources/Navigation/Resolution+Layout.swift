// Where the content lies, and how the device may be held.

extension Orientation {
  /// What a phone supports unless its delegate says otherwise.
  fileprivate static let ofPhone: [Orientation] = [.portrait, .landscapeLeft, .landscapeRight]
}

extension Resolution {
  /// The content's upper edge in points.
  ///
  /// It is the screen's if the bar is hidden, or if the content extends under the bar: its top edge
  /// extends, and the bar is translucent or opaque bars do not matter. Else it is the bar's lower edge.
  func contentTop(height: UInt64, isTranslucent: Bool) -> UInt64 {
    let edges = details?.edges ?? .all
    let extendsUnderBar =
      edges.contains(.top) && (isTranslucent || details?.extendsUnderOpaqueBars ?? false)
    return bar.isHidden || extendsUnderBar ? 0 : environment.statusBar + height
  }

  /// The translucent bars, if the screen wants its content below all of them; the status bar always
  /// is translucent.
  func extendsUnder(
    isTranslucent: Bool, isToolbarTranslucent: Bool
  ) -> ResolvedBar.CoveringBars? {
    guard details?.wantsFullScreenLayout ?? false else { return nil }
    var bars: ResolvedBar.CoveringBars = .status
    if isTranslucent { bars.insert(.navigation) }
    if isToolbarTranslucent { bars.insert(.tool) }
    return bars
  }

  /// What the delegate gave, else what the device supports; the screens are not asked.
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
    /// With a prompt, in any orientation.
    static let prompt: UInt64 = 74
    /// What a large title adds.
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

  /// Whether there is a large title: never at compact height, and only if the bar prefers it.
  var isLarge: Bool { mayBeLarge && Self.isLarge(stack) }

  /// Whether the screens decide if there is a large title.
  var mayBeLarge: Bool { bar.prefersLargeTitles && !environment.isVerticallyCompact }

  /// Whether the top screen's title is large where titles may be.
  ///
  /// An automatic screen is as the one below it, and large at the root. O(screens above the nearest
  /// one that is not automatic).
  static func isLarge(_ stack: [Screen]) -> Bool {
    for screen in stack.reversed() {
      switch screen.hasDefaultDetails ? .automatic : screen.item.largeTitleDisplayMode {
      case .always: return true
      case .never: return false
      case .automatic: continue
      }
    }
    // Nothing but automatic screens down to the root.
    return !stack.isEmpty
  }
}
