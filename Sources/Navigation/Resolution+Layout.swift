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
