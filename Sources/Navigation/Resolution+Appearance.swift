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
