// Which appearance object is used, if any is set.

extension AppearanceSet {
  /// Whether an object is set in a slot.
  fileprivate func has(_ slot: AppearanceSlot) -> Bool {
    switch slot {
    case .standard: standard != nil
    case .compact: compact != nil
    case .scrollEdge: scrollEdge != nil
    case .compactScrollEdge: compactScrollEdge != nil
    }
  }
}

extension Resolution {
  /// The first object that is set, in the order in which height class and scroll edge look for one;
  /// nil if the bar's own properties apply.
  func appearance(isLarge: Bool) -> ResolvedBar.AppearanceChoice? {
    switch (environment.isVerticallyCompact, isAtScrollEdge(isLarge: isLarge)) {
    case (false, false): find(.standard)
    case (true, false): find(.compact) ?? find(.standard)
    case (false, true): find(.scrollEdge) ?? find(.standard, isTransparent: true)
    case (true, true):
      find(.compactScrollEdge) ?? find(.scrollEdge) ?? find(.compact)
        ?? find(.standard, isTransparent: true)
    }
  }

  /// A bar alone never is, and before iOS 15 only one with a large title.
  private func isAtScrollEdge(isLarge: Bool) -> Bool {
    environment.isAtScrollEdge && !isStandalone && (profile.os >= 15 || isLarge)
  }

  /// The top item's object beats the bar's.
  private func find(
    _ slot: AppearanceSlot, isTransparent: Bool = false
  ) -> ResolvedBar.AppearanceChoice? {
    let isOfItem = details?.item.appearance.has(slot) ?? false
    guard isOfItem || bar.appearance.has(slot) else { return nil }
    return ResolvedBar.AppearanceChoice(
      slot: slot, isOfItem: isOfItem, isTransparent: isTransparent)
  }
}

// Background, shadow, title and back indicator as the bar's own properties and its proxies have them.

extension BarMetrics {
  /// The metrics whose slot is tried next when this one's is empty; nil behind the last.
  var fallback: BarMetrics? {
    switch self {
    case .default: nil
    case .compact, .defaultPrompt: .default
    case .compactPrompt: .defaultPrompt
    }
  }
}

extension Resolution {
  /// The value of a member or slot: the bar's own, else that of the most specific class that has one.
  @inline(__always)
  private func first<Value>(_ member: (BarLook) -> Value?) -> Value? {
    if hasDefaultLook { return nil }
    if let value = member(bar.look) { return value }
    for look in proxies {
      if let value = member(look) { return value }
    }
    return nil
  }

  /// The background image for metrics and position: each metrics at the exact position and then at
  /// any, before its fallback.
  var backgroundImage: ImageReference? {
    if hasDefaultLook { return nil }
    let position = environment.barPosition
    var wanted: BarMetrics? = metrics
    while let metrics = wanted {
      if let image = first({ $0.backgroundImages[BackgroundSlot(position, metrics)] }) {
        return image
      }
      if position != .any,
        let image = first({ $0.backgroundImages[BackgroundSlot(.any, metrics)] })
      {
        return image
      }
      wanted = metrics.fallback
    }
    return nil
  }

  /// How far the title is moved down, by the same fallback of metrics; nil for 0.
  private var titleOffset: OpaqueJSON? {
    if hasDefaultLook { return nil }
    var wanted: BarMetrics? = metrics
    while let metrics = wanted {
      if let offset = first({ $0.titleOffsets[metrics] }) { return offset }
      wanted = metrics.fallback
    }
    return nil
  }

  /// The explicit value; unset, a bar is translucent unless an opaque image is behind its content.
  func isTranslucent(over image: ImageReference?) -> Bool {
    first(\.translucent) ?? image?.hasAlpha ?? true
  }

  /// Both images or none.
  var backIndicator: ResolvedBar.BackIndicator {
    guard let image = first(\.backIndicatorImage), let mask = first(\.backIndicatorMask) else {
      return .default
    }
    return .custom(image: image, mask: mask)
  }

  /// What the properties come to over this background image.
  func properties(over image: ImageReference?) -> ResolvedBar.SurfaceProperties {
    let isBlack = first(\.barStyle) == .black
    // The dictionary of attributes is one value: a bar that sets one attribute sets them all.
    let attributes =
      first { $0.titleTextAttributes == TitleTextAttributes() ? nil : $0.titleTextAttributes }
      ?? TitleTextAttributes()
    return ResolvedBar.SurfaceProperties(
      background: background(image, isBlack: isBlack),
      textColor: attributes.color ?? (isBlack ? "white" : "black"), attributes: attributes,
      titleOffset: titleOffset, shadow: shadow(hasBackground: image != nil))
  }

  private func background(_ image: ImageReference?, isBlack: Bool) -> ResolvedBar.Background {
    let color = first(\.barTintColor) ?? (isBlack ? "black" : "white")
    guard let image else { return .color(color) }
    // An opaque image in a bar said to be translucent is dimmed, and one with alpha in a bar said
    // to be opaque gets a backing.
    let explicit = first(\.translucent)
    return .image(
      image, isDimmed: explicit == true && !image.hasAlpha,
      backing: explicit == false && image.hasAlpha ? color : nil)
  }

  private func shadow(hasBackground: Bool) -> ResolvedBar.Shadow {
    guard hasBackground || !profile.shadowNeedsBackground, let image = first(\.shadowImage) else {
      return .hairline(isThird: environment.scale?.number.map { $0 >= 3 } ?? false)
    }
    return image.isEmpty ? .none : .image(image)
  }
}
