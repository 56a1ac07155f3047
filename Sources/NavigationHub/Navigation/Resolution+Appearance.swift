import NavigationCore

// The choice of an appearance object, if any is set.

extension Resolution {
  /// Returns the appearance object to draw the bar with; nil if the bar's own properties apply.
  ///
  /// Height class and scroll edge decide in which order the slots are tried.
  func appearance(isLarge: Bool) -> ResolvedBar.AppearanceChoice? {
    switch (environment.isVerticallyCompact, isAtScrollEdge(isLarge: isLarge)) {
    case (false, false): choice(.standard)
    case (true, false): choice(.compact) ?? choice(.standard)
    case (false, true): choice(.scrollEdge) ?? choice(.standard, isTransparent: true)
    case (true, true):
      choice(.compactScrollEdge) ?? choice(.scrollEdge) ?? choice(.compact)
        ?? choice(.standard, isTransparent: true)
    }
  }

  /// Whether the bar is at the scroll edge.
  ///
  /// A standalone bar is never at the scroll edge, and before iOS 15 only a bar with a large title.
  private func isAtScrollEdge(isLarge: Bool) -> Bool {
    environment.isAtScrollEdge && !isStandalone && (profile.iOS >= 15 || isLarge)
  }

  /// Returns the object in a slot: the top item's, else the bar's; nil if neither is set.
  ///
  /// `isTransparent` marks an object that stands in for a scroll-edge one. The display then draws
  /// neither its background nor its shadow.
  private func choice(
    _ slot: AppearanceSlot, isTransparent: Bool = false
  ) -> ResolvedBar.AppearanceChoice? {
    let isOfItem = details?.item.appearance[slot] != nil
    guard isOfItem || bar.appearance[slot] != nil else { return nil }
    return ResolvedBar.AppearanceChoice(
      slot: slot, isOfItem: isOfItem, isTransparent: isTransparent)
  }
}

// Background, shadow, title and back indicator by the bar's own properties and its proxies.

extension BarMetrics {
  /// The metrics whose slot is tried next when this one's is empty; nil if none is left.
  var fallback: BarMetrics? {
    switch self {
    case .default: nil
    case .compact, .defaultPrompt: .default
    case .compactPrompt: .defaultPrompt
    }
  }
}

extension Resolution {
  /// Returns a value of a look: the bar's own, else that of the most specific class that sets it.
  @inline(__always)
  private func look<Value>(_ member: (BarLook) -> Value?) -> Value? {
    if hasDefaultLook { return nil }
    if let value = member(bar.look) { return value }
    for look in proxies {
      if let value = member(look) { return value }
    }
    return nil
  }

  /// The background image for the bar's metrics and position.
  ///
  /// For each metrics, the exact position comes before `any`, and both before the fallback metrics.
  var backgroundImage: ImageReference? {
    if hasDefaultLook { return nil }
    let position = environment.barPosition
    var wanted: BarMetrics? = metrics
    while let metrics = wanted {
      if let image = look({ $0.backgroundImages[BackgroundSlot(position, metrics)] }) {
        return image
      }
      if position != .any,
        let image = look({ $0.backgroundImages[BackgroundSlot(.any, metrics)] })
      {
        return image
      }
      wanted = metrics.fallback
    }
    return nil
  }

  /// The title's vertical offset, by the same fallback of metrics; nil for 0.
  private var titleOffset: OpaqueJSON? {
    if hasDefaultLook { return nil }
    var wanted: BarMetrics? = metrics
    while let metrics = wanted {
      if let offset = look({ $0.titleOffsets[metrics] }) { return offset }
      wanted = metrics.fallback
    }
    return nil
  }

  /// Whether the bar is translucent: as set, else true unless its background image is opaque.
  func isTranslucent(over image: ImageReference?) -> Bool {
    look(\.translucent) ?? image?.hasAlpha ?? true
  }

  /// The client's back indicator if both its image and its mask are set, else the system's.
  var backIndicator: ResolvedBar.BackIndicator {
    guard let image = look(\.backIndicatorImage), let mask = look(\.backIndicatorMask) else {
      return .default
    }
    return .custom(image: image, mask: mask)
  }

  /// Returns how the bar is drawn over a background image, by its own properties and the proxies.
  func surfaceProperties(over image: ImageReference?) -> ResolvedBar.SurfaceProperties {
    let isBlack = look(\.barStyle) == .black
    // The dictionary of attributes is one value: a bar that sets one attribute sets them all.
    let attributes =
      look { $0.titleTextAttributes == TitleTextAttributes() ? nil : $0.titleTextAttributes }
      ?? TitleTextAttributes()
    return ResolvedBar.SurfaceProperties(
      background: background(image, isBlack: isBlack),
      textColor: attributes.color ?? (isBlack ? "white" : "black"), attributes: attributes,
      titleOffset: titleOffset, shadow: shadow(hasBackgroundImage: image != nil))
  }

  private func background(_ image: ImageReference?, isBlack: Bool) -> ResolvedBar.Background {
    let color = look(\.barTintColor) ?? (isBlack ? "black" : "white")
    guard let image else { return .color(color) }
    // If `translucent` is set, true dims an opaque image, and false puts a backing behind an image
    // with alpha.
    let explicit = look(\.translucent)
    return .image(
      image, isDimmed: explicit == true && !image.hasAlpha,
      backing: explicit == false && image.hasAlpha ? color : nil)
  }

  private func shadow(hasBackgroundImage: Bool) -> ResolvedBar.Shadow {
    guard hasBackgroundImage || !profile.shadowNeedsBackground, let image = look(\.shadowImage)
    else {
      return .hairline(isThirdOfPoint: environment.scale?.number.map { $0 >= 3 } ?? false)
    }
    return image.isEmpty ? .none : .image(image)
  }
}
