package import NavigationCore

// Writers of the resolved bar, which exists on the wire only.

extension JSONWriter {
  /// Writes the resolved bar; equal values give equal bytes.
  ///
  /// The members, in this order; those without a condition are always there:
  ///
  /// - `top`, `back`, `visible`: ids; each if there is such a screen.
  /// - `height`, `layoutHeight`, `metrics`; `style` unless `navigator`.
  /// - `left`: the back button, if shown, as `{"back":{…}}`, then buttons, left-most first. A back
  ///   button has `text` or `image` (the `ref`), perhaps with `title`, neither for the indicator
  ///   alone; what is set of `accessibilityLabel`, `accessibilityHint`, `accessibilityIdentifier` and
  ///   `language`; `source`; `indicator`, `default` or `custom`; if custom, `indicatorImage` and `indicatorMask`;
  ///   `generic` and `key` if the text is the generic one; `truncated` if the wanted text does not
  ///   fit; `action` if a tap sends one in place of a pop, perhaps empty;
  ///   `candidates`, ending in null, if it has a text at all; `menu`, nearest first, each entry
  ///   with `screen`, `text`, `truncated` if it is cut, label and language if set. A
  ///   button has `button`; its face, one of `customView`, `image` (the `ref`; perhaps with `title`),
  ///   `title`, `systemItem`; `style` unless plain; `action` if it has one; `isEnabled` if false;
  ///   `isSelected` if true; the texts for screen readers that are set; `tintApplies`; `badge` and
  ///   `menu`, each if set, as in its record. A hidden button is omitted.
  /// - `middle`: omitted if the bar shows neither view nor title there. It has `customView`,
  ///   `height` if declared and `overflow` if true; or `title`, and unless that is empty
  ///   `placement`, `inline` or `large`, and `attributes` if any except the colour apply; and
  ///   `accessibilityLabel` and `language`, each if set. Then `alignment`, `leading`, unless the title
  ///   stands in the center; `subtitle` or `subtitleView`; `large`, if the title is large and other
  ///   than in the middle: its `title`, and `subtitle` or `subtitleView`; `menu`; each if there is one.
  /// - `right`: buttons, right-most first. `search`: `placement`, and `active` if true.
  /// - `appearance`, if an appearance object is set: `slot`, `from` (`item` or `bar`) and
  ///   `transparent`. The object then decides the look, so the members below that are marked * are
  ///   omitted.
  /// - `background`*: a colour, or the `ref` of an image; `backing`* if a colour is behind the
  ///   image; `imageOpacity`*, `full` or `system`, if and only if the background is an image.
  /// - `translucent`, `textColor`*, `titleOffset`* if a slot has one, `tintColor`, `shadow`*:
  ///   `{"hairline":"1/2"}`, `{"hairline":"1/3"}`, `{"image":ref}` or `{"none":true}`.
  /// - `content`: `top`, and `extendsUnder`, of `status`, `nav` and `tool`, if the top screen wants
  ///   full-screen layout.
  /// - `toolbar`: `visible`; `background` unless white; `translucent` if false; `items`, buttons in
  ///   display order.
  /// - `orientations`, `swipeBack`.
  package mutating func resolved(_ bar: ResolvedBar) {
    beginObject()
    optional("top", bar.top?.text)
    optional("back", bar.back?.text)
    optional("visible", bar.visible?.text)
    member("height", bar.height)
    member("layoutHeight", bar.layoutHeight)
    member("metrics", word: bar.metrics.word)
    if let style = bar.titleParts?.style, style != .navigator { member("style", word: style.word) }
    name("left")
    beginArray()
    if let back = bar.backButton {
      beginObject()
      object("back") { json in
        json.backSlot(back)
        json.name("menu")
        json.beginArray()
        bar.backMenu?.forEach { json.menuEntry($0, $1) }
        json.endArray()
      }
      endObject()
    }
    for button in bar.leftItems { slotButton(bar.shown(button)) }
    endArray()
    middle(bar)
    array("right", bar.rightItems) { $0.slotButton(bar.shown($1)) }
    if let search = bar.search {
      object("search") { json in
        json.member("placement", word: search.placement.word)
        json.memberIfTrue("active", search.isActive)
      }
    }
    surface(bar)
    layout(bar)
    member("swipeBack", bar.allowsSwipeBack)
    endObject()
  }

  private mutating func middle(_ bar: ResolvedBar) {
    guard let middle = bar.middle else { return }
    name("middle")
    beginObject()
    switch middle {
    case .view(let view):
      member("customView", raw: view.view.bytes)
      optional("height", view.height)
      memberIfTrue("overflow", bar.titleViewOverflows)
    case .title(let title):
      member("title", title)
      if !title.isEmpty || bar.titleParts?.large != nil {
        member("placement", word: bar.isLarge ? "large" : "inline")
        if case .properties(let properties) = bar.surface { attributes(properties.attributes) }
      }
      accessibility(bar.titleAccessibility)
      if let parts = bar.titleParts { titleParts(parts) }
    }
    endObject()
  }

  private mutating func titleParts(_ parts: ResolvedBar.TitleParts) {
    if parts.isLeading { member("alignment", word: "leading") }
    subtitle(parts.subtitle)
    if let large = parts.large {
      object("large") { json in
        json.member("title", large.title)
        json.subtitle(large.subtitle)
      }
    }
    if !parts.menu.isEmpty {
      name("menu")
      parts.menu.write(&self)
    }
  }

  private mutating func subtitle(_ subtitle: ResolvedBar.TitleParts.Subtitle?) {
    switch subtitle {
    case .text(let text): member("subtitle", text)
    case .view(let view): member("subtitleView", raw: view.bytes)
    case nil: break
    }
  }

  /// Writes the title's attributes except the colour, which is the member `textColor` of the bar.
  private mutating func attributes(_ value: TitleTextAttributes) {
    guard value.font != nil || value.shadowColor != nil || value.shadowOffset != nil else { return }
    object("attributes") { json in
      json.optional("font", value.font)
      json.optional("shadowColor", value.shadowColor)
      json.optional("shadowOffset", value.shadowOffset)
    }
  }

  private mutating func slotButton(_ slot: ResolvedBar.ButtonSlot) {
    let content = slot.button.content
    beginObject()
    member("button", word: slot.button.id.text)
    switch slot.button.face {
    case .customView(let view):
      member("customView", raw: view.bytes)
    case .image:
      optional("image", slot.image?.ref)
      optional("title", content.title)
    case .title(let title): optional("title", title)
    case .systemItem(let item): member("systemItem", word: item.word)
    }
    if content.style != .plain {
      member("style", word: content.style.word)
    }
    optional("action", content.action)
    stateAndAccessibility(content)
    member("tintApplies", slot.tintApplies)
    if !content.hasDefaultExtras { buttonExtras(content.extras) }
    endObject()
  }

  private mutating func buttonExtras(_ extras: ButtonExtras) {
    if let badge = extras.badge {
      name("badge")
      badge.write(&self)
    }
    guard !extras.menu.isEmpty else { return }
    name("menu")
    extras.menu.write(&self)
  }

  /// Writes the members of the back button before `menu`.
  private mutating func backSlot(_ slot: borrowing ResolvedBar.BackSlot) {
    optional("text", slot.text)
    optional("image", slot.image?.ref)
    optional("title", slot.hiddenTitle)
    accessibility(slot.accessibility)
    member("source", word: slot.source.word)
    name("indicator")
    switch slot.indicator {
    case .default: word("default")
    case .custom(let image, let mask):
      word("custom")
      optional("indicatorImage", image.ref)
      optional("indicatorMask", mask.ref)
    }
    if slot.isGeneric {
      member("generic", true)
      member("key", word: "back.generic")
    }
    memberIfTrue("truncated", slot.isTruncated)
    optional("action", slot.action)
    guard let generic = slot.genericText else { return }
    name("candidates")
    beginArray()
    if let preferred = slot.preferredText { string(preferred) }
    string(generic)
    null()
    endArray()
  }

  /// Writes one entry of `menu`.
  private mutating func menuEntry(_ screen: borrowing Screen, _ rules: BackButtonRules) {
    literal(#"{"screen":"#)
    word(screen.id)
    if rules.showsWholeTitleInMenu(of: screen) {
      screen.withTitle { member("text", utf8: $0) }
    } else {
      let entry = rules.menuEntry(of: screen)
      member("text", entry.text)
      memberIfTrue("truncated", entry.isTruncated)
      accessibility(entry.accessibility)
    }
    endObject()
  }

  private mutating func surface(_ bar: ResolvedBar) {
    switch bar.surface {
    case .appearance(let choice):
      object("appearance") { json in
        json.member("slot", word: choice.slot.word)
        json.member("from", word: choice.isOfItem ? "item" : "bar")
        json.member("transparent", choice.isTransparent)
      }
      member("translucent", bar.isTranslucent)
      optional("tintColor", bar.tintColor)
    case .properties(let properties):
      background(properties.background)
      member("translucent", bar.isTranslucent)
      optional("textColor", properties.textColor)
      optional("titleOffset", properties.titleOffset)
      optional("tintColor", bar.tintColor)
      shadow(properties.shadow)
    }
  }

  private mutating func background(_ background: ResolvedBar.Background) {
    switch background {
    case .color(let color): optional("background", color)
    case .image(let image, let isDimmed, let backing):
      optional("background", image.ref)
      optional("backing", backing)
      member("imageOpacity", word: isDimmed ? "system" : "full")
    }
  }

  private mutating func shadow(_ shadow: ResolvedBar.Shadow) {
    object("shadow") { json in
      switch shadow {
      case .hairline(let isThird): json.member("hairline", word: isThird ? "1/3" : "1/2")
      case .image(let image): json.member("image", image.ref)
      case .none: json.member("none", true)
      }
    }
  }

  private mutating func layout(_ bar: ResolvedBar) {
    object("content") { json in
      json.member("top", bar.contentTop)
      guard let bars = bar.extendsUnder else { return }
      let words = [
        (ResolvedBar.CoveringBars.status, "status"), (.navigation, "nav"), (.tool, "tool"),
      ]
      json.array("extendsUnder", words.filter { bars.contains($0.0) }) { $0.word($1.1) }
    }
    object("toolbar") { json in
      json.member("visible", bar.showsToolbar)
      if bar.toolbarBackground != "white" { json.member("background", bar.toolbarBackground) }
      if !bar.isToolbarTranslucent { json.member("translucent", false) }
      json.array("items", bar.toolbarItems) { $0.slotButton(bar.shown($1)) }
    }
    array("orientations", bar.orientations) { $0.word($1.word) }
  }
}
