/// What the display reports: device, rotation, scroll edge, keyboard, language.
package struct Environment: PartContent {
  /// The name of the client that holds the display lease.
  package var owner: String?
  /// Whether the device is a phone; else a pad.
  package var isPhone = true
  /// Whether the height is compact, as on a phone in landscape.
  package var isVerticallyCompact = false
  /// Whether the edge of the scrolled content meets the bar.
  package var isAtScrollEdge = false
  /// Whether the keyboard is shown.
  package var showsKeyboard = false
  /// Pixels per point; the value as the client wrote it.
  package var scale: OpaqueJSON?
  /// The status bar's height in points.
  package var statusBar: UInt64 = 20
  /// Columns that a back title may take; nil for no limit.
  package var backTitleBudget: Int?
  /// The language of the generic back title.
  package var locale = "en"
  /// The orientation of the interface.
  package var orientation = Orientation.portrait
  /// The position of the bar.
  package var barPosition = BarPosition.any
  /// What the orientation delegate gave.
  package var orientations: DelegateOrientations?

  /// Makes the default environment.
  package init() {}
}

/// UIInterfaceOrientation.
package enum Orientation: UInt8, CaseIterable, Sendable {
  /// The four orientations, in the order in which lists name them.
  case portrait, portraitUpsideDown, landscapeLeft, landscapeRight
}

/// The orientations that a delegate supports, and the one it prefers.
package struct DelegateOrientations: Hashable, Sendable {
  /// In the order of the delegate's list.
  package var supported: [Orientation]
  /// One of them.
  package var preferred: Orientation?

  /// Makes a value from its members.
  package init(supported: [Orientation], preferred: Orientation?) {
    self.supported = supported
    self.preferred = preferred
  }
}
