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
