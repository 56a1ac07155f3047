// Readers of the properties that bars share with their appearance proxies.

extension RecordReader {
  /// Reads the properties of an appearance proxy; ignores the member `skipping`, an argument of the
  /// operation.
  func lookEdits(
    _ tape: borrowing JSONTape, _ at: Int, skipping: String?
  ) throws(ReadFailure) -> [BarLookEdit] {
    try refuseReadonly([], tape, at, unless: skipping)
    var edits: [BarLookEdit] = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      guard name != skipping else { return }
      guard let edit = try lookEdit(name, tape, value) else {
        throw ReadFailure(.invalidArgument, "\(name) is not a member of an appearance proxy")
      }
      edits.append(edit)
    }
    return edits
  }

  /// Reads the appearance proxies of all bar classes, by class name.
  func proxy(_ tape: borrowing JSONTape, _ at: Int) throws(ReadFailure) -> [Text: BarLook] {
    if tape.kind(at) == .null { return [:] }
    try needObject(tape, at, "proxy is an object with the looks of bar classes by name")
    var looks: [Text: BarLook] = [:]
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      if tape.kind(value) == .null { return }
      try needObject(tape, value, "proxy.\(name) is an object with members of bars")
      var look = BarLook()
      for edit in try lookEdits(tape, value, skipping: nil) { look.apply(edit) }
      looks[Text(name)] = look == BarLook() ? nil : look
    }
    return looks
  }

  /// Reads one shared property; nil if none has this name.
  func lookEdit(
    _ name: String, _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> BarLookEdit? {
    let isNull = tape.kind(at) == .null
    switch name {
    case "barStyle": return .barStyle(try choice(tape, at, name))
    case "translucent":
      return .translucent(isNull ? nil : try flag(tape, at, name, default: false))
    case "barTintColor": return .barTintColor(try colour(tape, at, name))
    case "titleTextAttributes":
      return .titleTextAttributes(isNull ? TitleTextAttributes() : try attributes(tape, at))
    case "titleOffsets": return .titleOffsets(isNull ? [:] : try offsets(tape, at))
    case "backgroundImages": return .backgroundImages(isNull ? [:] : try images(tape, at))
    case "shadowImage": return .shadowImage(isNull ? nil : try image(tape, at, name))
    case "backIndicatorImage":
      return .backIndicatorImage(isNull ? nil : try image(tape, at, name))
    case "backIndicatorMask":
      return .backIndicatorMask(isNull ? nil : try image(tape, at, name))
    default: return nil
    }
  }

  /// Reads a colour, a text of 1 to 256 bytes that the daemon does not interpret; nil for null.
  func colour(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> String? {
    let colour = try text(tape, at, name)
    guard colour.map({ !$0.isEmpty && $0.utf8.count <= 256 }) ?? true else {
      throw ReadFailure(.invalidArgument, "\(name) is a colour of 1 to 256 bytes, or null")
    }
    return colour
  }

  private func attributes(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> TitleTextAttributes {
    try needObject(
      tape, at, "titleTextAttributes is {font, color, shadowColor, shadowOffset}")
    var attributes = TitleTextAttributes()
    var seen: Set<Text> = []
    try tape.forEachMember(of: at) { alias, value throws(ReadFailure) in
      let name = Self.legacyAttributes[Text(alias)] ?? alias
      guard seen.insert(Text(name)).inserted else {
        throw ReadFailure(.invalidArgument, "titleTextAttributes names \(name) twice")
      }
      let opaque =
        tape.kind(value) == .null
        ? nil : try self.opaque(tape, value, "titleTextAttributes.\(name)")
      switch name {
      case "font": attributes.font = opaque
      case "color":
        attributes.color = try colour(tape, value, "titleTextAttributes.color")
      case "shadowColor": attributes.shadowColor = opaque
      case "shadowOffset": attributes.shadowOffset = opaque
      default:
        throw ReadFailure(
          .invalidArgument,
          "titleTextAttributes has no key \(alias), but font, color, shadowColor, shadowOffset")
      }
    }
    return attributes
  }

  /// The iOS 6 names of the attributes, and the present names under which they are stored.
  private static let legacyAttributes: [Text: String] = [
    "UITextAttributeFont": "font", "UITextAttributeTextColor": "color",
    "UITextAttributeTextShadowColor": "shadowColor",
    "UITextAttributeTextShadowOffset": "shadowOffset",
  ]

  private func offsets(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [BarMetrics: OpaqueJSON] {
    try needObject(tape, at, "titleOffsets is an object with numbers by metrics")
    var offsets: [BarMetrics: OpaqueJSON] = [:]
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      guard let metrics = BarMetrics(wireName: name) else {
        throw ReadFailure(
          .invalidArgument, "titleOffsets has no metrics \(name), but \(BarMetrics.choices)")
      }
      if tape.kind(value) == .null { return }
      guard tape.number(value) != nil else {
        throw ReadFailure(.invalidArgument, "titleOffsets.\(name) is a number of points")
      }
      offsets[metrics] = try opaque(tape, value, name)
    }
    return offsets
  }

  private func images(
    _ tape: borrowing JSONTape, _ at: Int
  ) throws(ReadFailure) -> [BackgroundSlot: ImageReference] {
    try needObject(tape, at, "backgroundImages is an object with images by position/metrics")
    var images: [BackgroundSlot: ImageReference] = [:]
    var seen: Set<BackgroundSlot> = []
    try tape.forEachMember(of: at) { name, value throws(ReadFailure) in
      guard let slot = BackgroundSlot(text: name) else {
        throw ReadFailure(
          .invalidArgument,
          "backgroundImages has no slot \(name), but position/metrics with positions "
            + "\(BarPosition.choices) and metrics \(BarMetrics.choices)")
      }
      guard seen.insert(slot).inserted else {
        throw ReadFailure(.invalidArgument, "backgroundImages names \(slot.text) twice")
      }
      if tape.kind(value) == .null { return }
      images[slot] = try image(tape, value, "backgroundImages.\(name)")
    }
    return images
  }

  /// Reads an appearance object, whose contents the daemon does not interpret; nil for null.
  func appearanceObject(
    _ tape: borrowing JSONTape, _ at: Int, _ name: String
  ) throws(ReadFailure) -> OpaqueJSON? {
    if tape.kind(at) == .null { return nil }
    try needObject(tape, at, "\(name) is an appearance object or null")
    return try opaque(tape, at, name)
  }

  func needObject(
    _ tape: borrowing JSONTape, _ at: Int, _ otherwise: @autoclosure () -> String
  ) throws(ReadFailure) {
    guard tape.kind(at) == .object else { throw ReadFailure(.invalidArgument, otherwise()) }
  }
}
