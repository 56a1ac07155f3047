// Writers of bar, toolbar and environment, for messages and journal rows; members with default
// values are omitted.

extension JSONWriter {
  mutating func bar(_ bar: Bar) {
    if bar.className != "NavigationBar" { optional("class", bar.className) }
    flag("hidden", bar.isHidden)
    if let hid = bar.hid { hiding(hid) }
    colours(bar.look)
    optional("tintColor", bar.tintColor)
    optional("backgroundColor", bar.backgroundColor)
    images(bar.look)
    flag("prefersLargeTitles", bar.prefersLargeTitles)
    if bar.appearance != AppearanceSet() {
      name("appearance")
      appearance(bar.appearance)
    }
  }

  mutating func hiding(_ hid: AutomaticHiding) {
    name("hid")
    beginObject()
    member("cause", plain: hid.cause.wireName)
    member("toolbar", hid.toolbar)
    endObject()
  }

  mutating func toolbar(_ toolbar: Toolbar) {
    if toolbar.className != "Toolbar" { optional("class", toolbar.className) }
    if !toolbar.isHidden {
      member("hidden", false)
    }
    choice("barStyle", toolbar.barStyle)
    optional("tintColor", toolbar.tintColor)
    optional("barTintColor", toolbar.barTintColor)
    optional("translucent", toolbar.translucent)
  }

  /// Writes the appearance proxies of the bar classes, sorted by class name.
  mutating func proxy(_ looks: [Text: BarLook]) {
    guard !looks.isEmpty else { return }
    name("proxy")
    beginObject()
    for (className, look) in looks.sorted(by: { $0.key < $1.key }) {
      dynamicName(className.string)
      beginObject()
      colours(look)
      images(look)
      endObject()
    }
    endObject()
  }

  private mutating func colours(_ look: BarLook) {
    choice("barStyle", look.barStyle)
    optional("translucent", look.translucent)
    optional("barTintColor", look.barTintColor)
  }

  private mutating func images(_ look: BarLook) {
    image("shadowImage", look.shadowImage)
    image("backIndicatorImage", look.backIndicatorImage)
    image("backIndicatorMask", look.backIndicatorMask)
    if look.titleTextAttributes != TitleTextAttributes() { attributes(look.titleTextAttributes) }
    if !look.titleOffsets.isEmpty {
      name("titleOffsets")
      beginObject()
      for metrics in BarMetrics.allCases { optional(metrics.wireName, look.titleOffsets[metrics]) }
      endObject()
    }
    guard !look.backgroundImages.isEmpty else { return }
    name("backgroundImages")
    beginObject()
    for slot in BackgroundSlot.allSlots {
      guard let image = look.backgroundImages[slot] else { continue }
      dynamicName(slot.text)
      self.image(image)
    }
    endObject()
  }

  private mutating func attributes(_ attributes: TitleTextAttributes) {
    name("titleTextAttributes")
    beginObject()
    optional("font", attributes.font)
    optional("color", attributes.color)
    optional("shadowColor", attributes.shadowColor)
    optional("shadowOffset", attributes.shadowOffset)
    endObject()
  }

  mutating func environment(_ environment: Environment) {
    let standard = Environment()
    optional("owner", environment.owner)
    if !environment.isPhone {
      member("idiom", plain: "pad")
    }
    flag("vCompact", environment.isVerticallyCompact)
    flag("scrollEdge", environment.isAtScrollEdge)
    flag("keyboard", environment.showsKeyboard)
    optional("scale", environment.scale)
    number("statusBar", environment.statusBar, unless: standard.statusBar)
    if let budget = environment.backTitleBudget {
      member("backTitleBudget", UInt64(clamping: budget))
    }
    if environment.locale != standard.locale { optional("locale", environment.locale) }
    if environment.orientation != standard.orientation {
      choice("orientation", environment.orientation)
    }
    if environment.barPosition != standard.barPosition {
      choice("barPosition", environment.barPosition)
    }
    if environment.animations != standard.animations {
      choice("animations", environment.animations)
    }
    flag("screenReader", environment.hasScreenReader)
    if environment.contentSizeCategory != standard.contentSizeCategory {
      choice("contentSizeCategory", environment.contentSizeCategory)
    }
    if environment.hasHighContrast { member("accessibilityContrast", plain: "high") }
    guard let orientations = environment.orientations else { return }
    name("orientations")
    beginObject()
    name("supported")
    beginArray()
    for orientation in orientations.supported { plain(orientation.wireName) }
    endArray()
    choice("preferred", orientations.preferred)
    endObject()
  }

  private mutating func choice(_ name: StaticString, _ value: (some WireNamed)?) {
    guard let value else { return }
    self.name(name)
    plain(value.wireName)
  }

  private mutating func optional(_ name: StaticString, _ value: Bool?) {
    guard let value else { return }
    self.name(name)
    bool(value)
  }
}

extension BackgroundSlot {
  /// All slots, in the order in which the writer writes them.
  static let allSlots = BarPosition.allCases.flatMap { position in
    BarMetrics.allCases.map { BackgroundSlot(position, $0) }
  }

  /// The slot's name on the wire, `position/metrics`.
  var text: String { "\(position.wireName)/\(metrics.wireName)" }

  /// Finds a slot by its name; a name without a position means the position `any`.
  init?(text: String) {
    let names = text.pieces
    guard let last = names.last, names.count <= 2, let metrics = BarMetrics(wireName: last) else {
      return nil
    }
    guard names.count == 2 else {
      self.init(.any, metrics)
      return
    }
    guard let position = BarPosition(wireName: names[0]) else { return nil }
    self.init(position, metrics)
  }
}
