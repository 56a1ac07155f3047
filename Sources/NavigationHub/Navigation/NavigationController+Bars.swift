package import NavigationCore

// The operations on bars, appearance and environment.

extension NavigationController {
  mutating func setBar(
    _ edits: [Edit<Bar>], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) {
    var content = bar.content
    content.apply(edits)
    try checkPartByteLimit(content, settings.content, context)
    assert(content.className == bar.content.className, "the class is fixed at creation")
    bar.change(.bar, &draft) { $0 = content }
  }

  mutating func setBarHidden(_ isHidden: Bool, _ draft: inout Draft) {
    setBarHidden(isHidden, animated: draft.isAnimated ?? false, cause: .api, &draft)
    draft.rareNotes().topAtBarSet = top?.id
  }

  mutating func setToolbarHidden(_ isHidden: Bool, _ draft: inout Draft) {
    setToolbarHidden(isHidden, cause: .api, &draft)
    draft.rareNotes().topAtToolbarSet = top?.id
  }

  /// Throws `invalidArgument` unless the controller is on display.
  func checkAttached() throws(NavigationError) {
    guard isAttached else {
      throw .invalidArgument("a detached controller is not on display, nobody can touch it")
    }
  }

  mutating func setAppearance(
    _ slot: AppearanceSlot, _ object: OpaqueJSON?, of id: ScreenID?, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) {
    guard let id else {
      var appearance = bar.content.appearance
      appearance[slot] = object
      return try setBar([.set(\.appearance, appearance)], &draft, context)
    }
    guard let screen = screen(id) else { throw .unknownScreen(id) }
    var appearance = screen.item.appearance
    appearance[slot] = object
    try editScreen(id, [], [.set(\.appearance, appearance)], &draft, context)
  }

  mutating func setProxy(
    _ name: String, _ edits: [Edit<Bar>], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) {
    let isToolbar = try !context.isBarClass(name)
    var content = settings.content
    var bar = Bar()
    bar.look = content.appearanceProxies[Text(name)] ?? BarLook()
    bar.apply(edits)
    let look = bar.look
    if isToolbar, !look.suitsToolbars {
      throw .invalidArgument("the look of a toolbar is barStyle, translucent and barTintColor")
    }
    content.appearanceProxies[Text(name)] = look == BarLook() ? nil : look
    let (count, limit) = (content.proxyByteCount, context.limits.lookBytes)
    guard count <= limit || count < settings.content.proxyByteCount else { throw .sizeLimit(limit) }
    settings.change(.settings, &draft) { $0 = content }
  }

  /// Whether the looks for this nav's bar classes differ from those that the nav has.
  package func needsLooks(_ looks: [Text: BarLook]) -> Bool {
    settings.isDefault && looks.isEmpty
      ? false : looksOfOwnClasses(among: looks) != settings.content.appearanceProxies
  }

  /// Takes over the looks that `$appearance` has for this nav's bar classes, as a part of revision 1.
  package mutating func adoptLooksAtCreation(_ looks: [Text: BarLook]) {
    settings.content.appearanceProxies = looksOfOwnClasses(among: looks)
  }

  mutating func adoptLooks(_ looks: [Text: BarLook], _ draft: inout Draft) {
    let own = looksOfOwnClasses(among: looks)
    assert(own.values.allSatisfy { $0 != BarLook() }, "a look in which nothing is set")
    settings.change(.settings, &draft) { $0.appearanceProxies = own }
  }

  /// The looks that are for this nav's bar classes; `looks` itself, without a copy, if all are.
  private func looksOfOwnClasses(among looks: [Text: BarLook]) -> [Text: BarLook] {
    let names = ["NavigationBar", "Toolbar", bar.content.className, toolbar.content.className]
    let own = looks.filter { names.contains($0.key.string) }
    return own.count == looks.count ? looks : own
  }

  mutating func configure(
    _ edits: [Edit<Settings>], _ draft: inout Draft, _ context: NavigationContext
  ) throws(NavigationError) {
    var content = settings.content
    content.apply(edits)
    try checkPartByteLimit(bar.content, content, context)
    let wasHiding = settings.content.hidesBarsWhenVerticallyCompact
    settings.change(.settings, &draft) { $0 = content }
    if content.hidesBarsWhenVerticallyCompact, !wasHiding { hideBarsIfCompact(&draft) }
  }

  /// Throws `sizeLimit` if bar and settings exceed `barAndSettingsBytes` together, unless the edit
  /// makes them smaller.
  private func checkPartByteLimit(
    _ bar: Bar, _ settings: Settings, _ context: NavigationContext
  ) throws(NavigationError) {
    let limit = context.limits.barAndSettingsBytes
    let count = bar.byteCount + settings.byteCount
    guard count > limit else { return }
    guard count < self.bar.content.byteCount + self.settings.content.byteCount else {
      throw .sizeLimit(limit)
    }
  }

  mutating func setEnvironment(_ edits: [Edit<Environment>], _ draft: inout Draft) {
    let old = environment.content
    environment.change(.environment, &draft) { $0.apply(edits) }
    if environment.content != old { applyHidingRules(afterChangeFrom: old, &draft) }
  }
}
