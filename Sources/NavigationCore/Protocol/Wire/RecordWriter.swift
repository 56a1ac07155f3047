// Writers of records, for messages and journal rows. Members have a fixed order and defaults are
// omitted, so equal records give equal bytes.

extension JSONWriter {
  /// Writes a screen record, with its version unless `hasVersion` is false.
  package mutating func screen(_ screen: Screen, hasVersion: Bool = true) {
    beginObject()
    member("id", word: screen.id.text)
    if hasVersion {
      member("ver", screen.version.number)
    }
    let details = screen.hasDefaultDetails ? nil : screen.details
    if let details, details.kind != .content {
      member("kind", plain: details.kind.wireName)
    }
    screen.withTitle { member("title", utf8: $0) }
    screen.withRoute { member("route", utf8: $0) }
    optional("args", screen.args)
    if let details { self.details(details) }
    endObject()
  }

  private mutating func details(_ details: ScreenDetails) {
    optional("restorationID", details.restorationID)
    if let hidden = details.prefersBarHidden {
      member("prefersBarHidden", hidden)
    }
    flag("wantsFullScreenLayout", details.wantsFullScreenLayout)
    flag("extendsUnderOpaqueBars", details.extendsUnderOpaqueBars)
    if !details.canPop {
      member("canPop", false)
    }
    flag("modalInPresentation", details.modalInPresentation)
    if details.edges != .all {
      name("edges")
      beginArray()
      for (edge, word) in Edges.named where details.edges.contains(edge) { plain(word) }
      endArray()
    }
    buttons("toolbarItems", details.toolbarItems)
    accessibility(details.accessibility)
    if details.item != NavigationItem() {
      name("item")
      item(details.item)
    }
  }

  private mutating func item(_ item: NavigationItem) {
    beginObject()
    optional("title", item.title)
    optional("prompt", item.prompt)
    if let view = item.titleView {
      name("titleView")
      titleView(view)
    }
    if let button = item.backBarButtonItem {
      name("backBarButtonItem")
      self.button(button)
    }
    flag("hidesBackButton", item.hidesBackButton)
    flag("leftItemsSupplementBackButton", item.leftItemsSupplementBackButton)
    buttons("leftItems", item.leftItems)
    buttons("rightItems", item.rightItems)
    if item.largeTitleDisplayMode != .automatic {
      member("largeTitleDisplayMode", plain: item.largeTitleDisplayMode.wireName)
    }
    accessibility(item.accessibility)
    if item.appearance != AppearanceSet() {
      name("appearance")
      appearance(item.appearance)
    }
    endObject()
  }

  mutating func titleView(_ view: TitleView) {
    beginObject()
    member("view", raw: view.view.bytes)
    optional("height", view.height)
    endObject()
  }

  mutating func appearance(_ set: AppearanceSet) {
    beginObject()
    optional("standard", set.standard)
    optional("compact", set.compact)
    optional("scrollEdge", set.scrollEdge)
    optional("compactScrollEdge", set.compactScrollEdge)
    endObject()
  }

  private mutating func buttons(_ name: StaticString, _ buttons: [Button]) {
    guard !buttons.isEmpty else { return }
    self.name(name)
    beginArray()
    for button in buttons { self.button(button) }
    endArray()
  }

  package mutating func button(_ button: Button) {
    let content = button.content
    beginObject()
    member("id", word: button.id.text)
    optional("title", content.title)
    image("image", content.image)
    image("landscapeImage", content.landscapeImage)
    if let item = content.systemItem {
      member("systemItem", item.name)
    }
    optional("customView", content.customView)
    if content.style != .plain {
      member("style", plain: content.style.wireName)
    }
    optional("action", content.action)
    forPeople(content)
    endObject()
  }

  /// Writes the members of a button's record that its slot has too, after `action`.
  mutating func forPeople(_ content: ButtonContent) {
    if !content.isEnabled { member("isEnabled", false) }
    flag("isSelected", content.isSelected)
    accessibility(content.accessibility)
  }

  mutating func accessibility(_ values: Accessibility) {
    guard !values.isEmpty else { return }
    for member in AccessibilityMember.allCases {
      optional(member.wireName, values[member]?.string)
    }
  }

  mutating func image(_ name: StaticString, _ image: ImageReference?) {
    guard let image else { return }
    self.name(name)
    self.image(image)
  }

  mutating func image(_ image: ImageReference) {
    beginObject()
    member("ref", image.ref)
    flag("hasAlpha", image.hasAlpha)
    flag("empty", image.isEmpty)
    endObject()
  }

  /// Writes a member with a string; writes nothing for nil.
  @inline(__always)
  package mutating func optional(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    self.name(name)
    string(text)
  }

  /// Writes a member with a value that navd does not interpret; writes nothing for nil.
  @inline(__always)
  package mutating func optional(_ name: StaticString, _ value: OpaqueJSON?) {
    guard let value else { return }
    self.name(name)
    raw(value.bytes)
  }

  /// Writes a member with `true`; writes nothing for false.
  @inline(__always)
  package mutating func flag(_ name: StaticString, _ value: Bool) {
    guard value else { return }
    self.name(name)
    bool(true)
  }
}

extension JSONWriter {
  /// Writes one part of a controller, with its version.
  package mutating func part(_ part: PartName, of controller: NavigationController) {
    beginObject()
    member("ver", controller.version(of: part).number)
    switch part {
    case .bar: if !controller.bar.isDefault { bar(controller.bar.content) }
    case .toolbar: if !controller.toolbar.isDefault { toolbar(controller.toolbar.content) }
    case .presented:
      if !controller.presented.isDefault { presentation(controller.presented.content) }
    case .transition:
      if let running = controller.transition.content.running { transition(running) }
    case .environment:
      if !controller.environment.isDefault { environment(controller.environment.content) }
    case .settings:
      flag("attached", controller.isAttached)
      if !controller.settings.isDefault { settings(controller.settings.content) }
    }
    endObject()
  }

  mutating func settings(_ settings: Settings) {
    let standard = Settings()
    optional("container", settings.container)
    optional("restorationID", settings.restorationID)
    if settings.interactivePop != standard.interactivePop {
      interactivePop(settings.interactivePop)
    }
    flag("interactivePopWithoutBackButton", settings.interactivePopWithoutBackButton)
    optional("simultaneous", settings.simultaneous)
    flag("hidesBarsOnTap", settings.hidesBarsOnTap)
    flag("hidesBarsOnSwipe", settings.hidesBarsOnSwipe)
    flag("hidesBarsWhenVerticallyCompact", settings.hidesBarsWhenVerticallyCompact)
    flag("hidesBarsWhenKeyboardAppears", settings.hidesBarsWhenKeyboardAppears)
    if settings.guardPolicy != standard.guardPolicy {
      member("guard", plain: settings.guardPolicy.wireName)
    }
    if settings.vetoScope != standard.vetoScope {
      member("vetoScope", plain: settings.vetoScope.wireName)
    }
    if settings.veto != standard.veto { veto(settings.veto) }
    number("questionDeadline", settings.questionDeadline, unless: standard.questionDeadline)
    number("transitionDeadline", settings.transitionDeadline, unless: standard.transitionDeadline)
    number("gestureDeadline", settings.gestureDeadline, unless: standard.gestureDeadline)
    number("queue", settings.queue, unless: standard.queue)
    if settings.profile != standard.profile { profile(settings.profile) }
    backTitles(settings.backTitles)
    proxy(settings.proxy)
    optional("routes", settings.routes)
  }

  private mutating func backTitles(_ titles: [Text: Text]) {
    guard !titles.isEmpty else { return }
    name("backTitles")
    beginObject()
    for (tag, title) in titles.sorted(by: { $0.key < $1.key }) {
      dynamicName(tag.string)
      string(title.string)
    }
    endObject()
  }

  mutating func number(_ name: StaticString, _ value: UInt64, unless standard: UInt64) {
    guard value != standard else { return }
    self.name(name)
    integer(value)
  }

  private mutating func interactivePop(_ value: InteractivePop) {
    name("interactivePop")
    beginObject()
    member("enabled", value.isEnabled)
    name("mode")
    if value.isFullScreen { plain("fullScreen") } else { plain("edge") }
    endObject()
  }

  private mutating func veto(_ value: Veto) {
    name("veto")
    beginObject()
    member("deadline", value.deadline)
    name("policy")
    if value.allowsOnTimeout { plain("allow") } else { plain("deny") }
    member("required", value.isRequired)
    endObject()
  }

  private mutating func profile(_ value: Profile) {
    name("profile")
    beginObject()
    member("os", value.os)
    member("compactHeight", value.compactHeight)
    member("shadowNeedsBackground", value.shadowNeedsBackground)
    member("extraSystemItems", value.extraSystemItems)
    endObject()
  }
}
