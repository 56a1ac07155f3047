package import NavigationCore

extension Bar: TabledRecord {
  package static let table = MemberTable<Bar>(
    "a bar",
    [
      Member("class", \.className).readonly, Member("hidden", \.isHidden).readonly,
      Member("hiddenElsewhere", \.isHiddenElsewhere).readonly,
      Member("hid", \.automaticHiding).readonly,
      Member("barStyle", \.look.barStyle)
        .documented("The style of the bar: `default` or `black`."),
      Member("translucent", \.look.translucent)
        .documented("Whether the bar is translucent, so that the content behind it is visible."),
      Member("barTintColor", \.look.barTintColor, JSONTape.colour)
        .documented("The colour of the bar."),
      Member("tintColor", \.tintColor, JSONTape.colour)
        .documented("The colour of its buttons."),
      Member("backgroundColor", \.backgroundColor, JSONTape.colour)
        .documented("The colour behind the bar."),
      Member("shadowImage", \.look.shadowImage)
        .documented("The image below the bar, by its name."),
      Member("backIndicatorImage", \.look.backIndicatorImage)
        .documented("The image of the back button."),
      Member("backIndicatorMask", \.look.backIndicatorMask)
        .documented("The mask of the back button's image in transitions."),
      Member("titleTextAttributes", \.look.titleTextAttributes)
        .documented("The attributes of the title text."),
      Member(
        "titleOffsets", \.look.titleOffsets, isDefault: \.isEmpty, read: JSONTape.offsets
      ) { offsets, json in
        json.beginObject()
        for metrics in BarMetrics.allCases {
          guard let offset = offsets[metrics] else { continue }
          json.dynamicName(metrics.word)
          offset.write(&json)
        }
        json.endObject()
      }.documented("The vertical offset of the title in points, for each metrics."),
      Member(
        "backgroundImages", \.look.backgroundImages, isDefault: \.isEmpty,
        read: JSONTape.backgroundImages
      ) { images, json in
        json.beginObject()
        for slot in BackgroundSlot.allSlots {
          guard let image = images[slot] else { continue }
          json.dynamicName(slot.wireName)
          image.write(&json)
        }
        json.endObject()
      }.documented("The images behind the bar, for each position and metrics."),
      Member("prefersLargeTitles", \.prefersLargeTitles)
        .documented("Whether titles are large, as far as the items of the screens allow it."),
      Member("appearance", \.appearance),
    ])

  /// The members that an appearance proxy lacks.
  fileprivate static let barOnlyMembers: Set<Text> = [
    "class", "hidden", "hiddenElsewhere", "hid", "tintColor", "backgroundColor",
    "prefersLargeTitles", "appearance",
  ]

  package static let lookMembers = table.names.filter { !barOnlyMembers.contains(Text($0)) }
}

extension Toolbar: TabledRecord {
  package static let table = MemberTable<Toolbar>(
    "a toolbar",
    [
      Member("class", \.className).readonly, Member("hidden", \.isHidden).readonly,
      Member("hiddenElsewhere", \.isHiddenElsewhere).readonly,
      Member("barStyle", \.barStyle).documented("The style of the toolbar."),
      Member("tintColor", \.tintColor, JSONTape.colour)
        .documented("The colour of its buttons."),
      Member("barTintColor", \.barTintColor, JSONTape.colour)
        .documented("The colour of the toolbar."),
      Member("translucent", \.translucent).documented(
        "Whether the toolbar is translucent, so that the content behind it is visible."),
    ])
}

extension TitleTextAttributes: TabledRecord, WireValue {
  package static let table = MemberTable<TitleTextAttributes>(
    "titleTextAttributes",
    [
      Member("font", \.font), Member("color", \.color, JSONTape.colour),
      Member("shadowColor", \.shadowColor), Member("shadowOffset", \.shadowOffset),
    ])
  package static func read(_ tape: JSONTape) -> ReadValue<TitleTextAttributes> {
    tape.attributes
  }
  package func write(_ json: inout JSONWriter) { json.record(self) }
}

extension AppearanceSet: TabledRecord, WireValue {
  package static let table = MemberTable<AppearanceSet>(
    "appearance",
    [
      Member("standard", \.[.standard], JSONTape.appearanceObject),
      Member("compact", \.[.compact], JSONTape.appearanceObject),
      Member("scrollEdge", \.[.scrollEdge], JSONTape.appearanceObject),
      Member("compactScrollEdge", \.[.compactScrollEdge], JSONTape.appearanceObject),
    ])
  package static func read(_ tape: JSONTape) -> ReadValue<AppearanceSet> {
    { at, _ throws(ReadFailure) in
      try tape.needObject(at, "appearance is a record of slots")
      return AppearanceSet(try tape.edits(at))
    }
  }
  package func write(_ json: inout JSONWriter) { json.record(self) }
}

extension AutomaticHiding: WireValue {
  package static func read(_ tape: JSONTape) -> ReadValue<AutomaticHiding> {
    { at, _ throws(ReadFailure) in
      guard let cause = tape.member("cause", of: at), let toolbar = tape.member("toolbar", of: at)
      else { throw ReadFailure("hid is {cause, toolbar}") }
      return AutomaticHiding(
        cause: try tape.word(cause, "hid.cause"),
        includesToolbar: try tape.bool(toolbar, "hid.toolbar"))
    }
  }
  package func write(_ json: inout JSONWriter) {
    json.beginObject()
    json.member("cause", word: cause.word)
    json.member("toolbar", includesToolbar)
    json.endObject()
  }
}

extension JSONTape {
  /// Reads the properties of an appearance proxy; ignores the member `skipping`, an argument of the
  /// operation.
  func lookEdits(_ at: Int, skipping: String?) throws(ReadFailure) -> [Edit<Bar>] {
    try forEachMember(of: at) { name, _ throws(ReadFailure) in
      guard name == skipping || !Self.readonly.contains(Text(name)) else {
        throw unknownMember(name, of: "a bar")
      }
    }
    return try members(of: at) { name, value throws(ReadFailure) in
      if name == skipping { return [] }
      guard !Bar.barOnlyMembers.contains(Text(name)),
        let edits = try Bar.table.edits(self, name, value, name)
      else { throw ReadFailure("\(name) is not a member of an appearance proxy") }
      return edits
    }
  }

  /// Reads a colour, a text of 1 to 256 bytes that the daemon does not interpret.
  func colour(_ at: Int, _ name: String) throws(ReadFailure) -> String? {
    let colour = try string(at, name)
    try need(
      !colour.isEmpty && colour.utf8.count <= 256, "\(name) is a colour of 1 to 256 bytes, or null")
    return colour
  }

  func attributes(_ at: Int, _: String) throws(ReadFailure) -> TitleTextAttributes {
    try needObject(at, "titleTextAttributes is {font, color, shadowColor, shadowOffset}")
    var attributes = TitleTextAttributes()
    var seen: Set<Text> = []
    try forEachMember(of: at) { alias, value throws(ReadFailure) in
      let name = Self.legacyAttributes[Text(alias)] ?? alias
      try need(seen.insert(Text(name)).inserted, "titleTextAttributes names \(name) twice")
      guard
        let edits = try TitleTextAttributes.table.edits(
          self, name, value, "titleTextAttributes.\(name)")
      else {
        throw ReadFailure(
          "titleTextAttributes has no key \(alias), but font, color, shadowColor, shadowOffset")
      }
      attributes.apply(edits)
    }
    return attributes
  }

  /// The iOS 6 names of the attributes, and the present names under which they are stored.
  private static let legacyAttributes: [Text: String] = [
    "UITextAttributeFont": "font", "UITextAttributeTextColor": "color",
    "UITextAttributeTextShadowColor": "shadowColor",
    "UITextAttributeTextShadowOffset": "shadowOffset",
  ]

  fileprivate func offsets(_ at: Int, _: String) throws(ReadFailure) -> [BarMetrics: OpaqueJSON] {
    try needObject(at, "titleOffsets is an object with numbers by metrics")
    var offsets: [BarMetrics: OpaqueJSON] = [:]
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      let metrics = try need(
        BarMetrics(word: name), "titleOffsets has no metrics \(name), but \(BarMetrics.choices)")
      if kind(value) == .null { return }
      try need(number(value) != nil, "titleOffsets.\(name) is a number of points")
      offsets[metrics] = try opaque(value, name)
    }
    return offsets
  }

  fileprivate func backgroundImages(
    _ at: Int, _: String
  ) throws(ReadFailure) -> [BackgroundSlot: ImageReference] {
    try needObject(at, "backgroundImages is an object with images by position/metrics")
    var images: [BackgroundSlot: ImageReference] = [:]
    var seen: Set<BackgroundSlot> = []
    try forEachMember(of: at) { name, value throws(ReadFailure) in
      let slot = try need(
        BackgroundSlot(wireName: name),
        "backgroundImages has no slot \(name), but position/metrics with positions "
          + "\(BarPosition.choices) and metrics \(BarMetrics.choices)")
      try need(seen.insert(slot).inserted, "backgroundImages names \(slot.wireName) twice")
      if kind(value) == .null { return }
      images[slot] = try image(value, "backgroundImages.\(name)")
    }
    return images
  }

  /// Reads an appearance object as it is; only the class that draws the bar interprets its members.
  func appearanceObject(_ at: Int, _ name: String) throws(ReadFailure) -> OpaqueJSON? {
    try needObject(at, "\(name) is an appearance object or null")
    return try opaque(at, name)
  }
}

extension BackgroundSlot {
  /// All slots, in the order in which the writer writes them.
  static let allSlots = BarPosition.allCases.flatMap { position in
    BarMetrics.allCases.map { BackgroundSlot(position, $0) }
  }

  /// The slot's name on the wire, `position/metrics`.
  var wireName: String { "\(position.word)/\(metrics.word)" }

  /// Finds a slot by its name; a name without a position means the position `any`.
  init?(wireName: String) {
    let names = wireName.slashSeparatedParts
    guard let last = names.last, names.count <= 2, let metrics = BarMetrics(word: last) else {
      return nil
    }
    guard names.count == 2 else {
      self.init(.any, metrics)
      return
    }
    guard let position = BarPosition(word: names[0]) else { return nil }
    self.init(position, metrics)
  }
}
