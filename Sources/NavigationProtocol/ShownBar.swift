package import Navigation

/// The encoded content of a nav's bar.
///
/// Navs share the frame, which depends on the parts only; `own` has the bytes that depend on the
/// screens. Law: `bytes` are what `JSONWriter.resolved` makes of the state, byte for byte.
package struct ShownBar: Sendable {
  private var frame: BarFrame
  /// The newest revision whose parts the frame is known to show.
  private var framedAt: Revision
  /// What follows from the screens, in order; all of it if the frame does not serve.
  private var own: [UInt8]
  /// Where the frame's pieces belong into `own`; 0 if the frame does not serve.
  private var openingEnd: UInt32 = 0
  private var titleEnd: UInt32 = 0

  /// Encodes what the bar of a controller shows.
  package init(_ controller: borrowing NavigationController) {
    frame = .standard
    framedAt = Revision(0)
    own = []
    var json = JSONWriter(reserving: 384)
    follow(controller, &json)
  }

  /// Follows a change of the state, in the memory of `json`; tells whether the bytes changed.
  ///
  /// Never inlined, so that its instructions can be counted by its name.
  @inline(never)
  @discardableResult
  package mutating func follow(
    _ controller: borrowing NavigationController, _ json: inout JSONWriter
  ) -> Bool {
    let depth = controller.stack.count
    guard depth > 0, controller.stack[depth - 1].hasDefaultDetails else {
      var next = self
      next.own = ShownBar.encodeResolved(controller)
      (next.openingEnd, next.titleEnd) = (0, 0)
      return replace(by: next)
    }
    guard framedAt >= controller.barPartsVersion, frame.rules.hold(for: controller.stack) else {
      var next = self
      next.frame = controller.hasStandardBarParts ? .standard : BarFrame(controller)
      next.framedAt = controller.revision
      next.write(controller, &json)
      return replace(by: next)
    }
    guard isFramed else {
      var next = self
      next.write(controller, &json)
      return replace(by: next)
    }
    // Only what is beside the frame can differ.
    return write(controller, &json)
  }

  /// What the bar shows, computed from scratch.
  package static func encodeResolved(_ controller: borrowing NavigationController) -> [UInt8] {
    var json = JSONWriter(reserving: 768)
    json.resolved(controller.resolvedBar())
    return json.bytes
  }

  private mutating func replace(by next: ShownBar) -> Bool {
    let isNew = next.bytes != bytes
    self = next
    return isNew
  }

  /// Writes what follows from the screens; tells whether it or its place changed.
  @discardableResult
  private mutating func write(
    _ controller: borrowing NavigationController, _ json: inout JSONWriter
  ) -> Bool {
    let ends = (openingEnd, titleEnd)
    let frame = frame
    let rules = frame.rules
    let depth = controller.stack.count
    let top = controller.stack[depth - 1]
    json.removeAll()
    json.beginObject()
    json.member("top", word: top.id.text)
    if depth > 1 {
      let previous = controller.stack[depth - 2]
      json.member("back", word: previous.id.text)
      json.optional("visible", controller.visible?.id.text)
      openingEnd = UInt32(json.position)
      if let title = rules.wholeBackTitle(of: previous) {
        json.literal(#"{"back":{"text":"#)
        json.string(title)
        json.piece(frame.bytes, frame.backOrigin)
        json.string(title)
        json.piece(frame.bytes, frame.lastCandidates)
      } else {
        json.backSlot(rules.backSlot(of: previous))
      }
      json.endArray()
    } else {
      json.optional("visible", controller.visible?.id.text)
      openingEnd = UInt32(json.position)
      json.literal("],")
    }
    if let title = rules.title(of: top) {
      json.name("middle")
      json.beginObject()
      json.member("title", title)
      if !title.isEmpty { json.piece(frame.bytes, frame.placement) }
      json.endObject()
    }
    titleEnd = UInt32(json.position)
    json.bool(rules.allowsSwipeBack(depth: depth))
    json.endObject()
    let isNew = json.copy(to: &own)
    return isNew || (openingEnd, titleEnd) != ends
  }

  private var isFramed: Bool { openingEnd > 0 }

  /// Takes the frame of other navs that comes to the same.
  package mutating func share(_ frames: inout BarFrames) { frame = frames.shared(frame) }

  /// How many bytes there are.
  var byteCount: Int {
    isFramed ? own.count + frame.sizes.count + frame.behindMiddle.count : own.count
  }

  /// The bytes.
  package var bytes: [UInt8] {
    guard isFramed else { return own }
    var json = JSONWriter(reserving: byteCount + 1)
    json.shown(self)
    return json.bytes
  }

  /// Writes the bytes as a value.
  fileprivate func write(to json: inout JSONWriter) {
    guard isFramed else { return json.raw(own) }
    let ends = (Int(openingEnd), Int(titleEnd))
    json.piece(own, 0..<ends.0)
    json.piece(frame.bytes, frame.sizes)
    json.piece(own, ends.0..<ends.1)
    json.piece(frame.bytes, frame.behindMiddle)
    json.raw(own.span.extracting(droppingFirst: ends.1))
  }
}

extension JSONWriter {
  /// Writes what the bar shows.
  mutating func shown(_ bar: ShownBar) { bar.write(to: &self) }
}

/// What the bar shows by the parts alone, while the top screen leaves its details at their defaults.
final class BarFrame: Sendable {
  /// All pieces, one behind the other.
  let bytes: [UInt8]
  /// What precedes the left positions.
  let sizes: Range<Int>
  /// What stands between the text of a back button and the title as a candidate, if the text is the
  /// title, and what follows.
  let backOrigin: Range<Int>
  let lastCandidates: Range<Int>
  /// What stands beside a title.
  let placement: Range<Int>
  /// What follows the middle.
  let behindMiddle: Range<Int>
  /// What the parts say of the rest.
  let rules: BarRules

  /// The frame of a state whose top screen leaves its details at their defaults.
  init(_ controller: borrowing NavigationController) {
    let bar = controller.resolvedBar()
    rules = controller.barRules()
    var json = JSONWriter(reserving: 768)
    json.sizes(bar)
    sizes = 0..<json.position
    let start = json.backSlotBesideTitle(rules.backSlot(wholeTitle: "T"))
    backOrigin = sizes.upperBound..<start
    lastCandidates = start..<json.position
    json.placement(bar)
    placement = lastCandidates.upperBound..<json.position
    json.behindMiddle(bar)
    behindMiddle = placement.upperBound..<json.position
    bytes = json.pieces
  }

  /// The frame of parts at their defaults.
  static let standard = BarFrame(NavigationController(revision: Revision(0)))
}

extension BarFrame: Equatable {
  static func == (left: BarFrame, right: BarFrame) -> Bool {
    left === right
      || left.bytes == right.bytes && left.sizes == right.sizes
        && left.placement == right.placement && left.rules == right.rules
  }
}

/// The frames that were made last, so that navs whose parts come to the same keep one.
package struct BarFrames: Sendable {
  private var recent: [BarFrame] = [.standard]
  private static let limit = 16

  /// Begins with the frame of a nav that nobody has configured.
  package init() {}

  /// A frame equal to this one: an older one if there is any.
  mutating func shared(_ frame: BarFrame) -> BarFrame {
    // Most navs have one of these already; whole frames are compared for the others only.
    if recent.contains(where: { $0 === frame }) { return frame }
    if let known = recent.first(where: { $0 == frame }) { return known }
    if recent.count == Self.limit { recent.removeFirst() }
    recent.append(frame)
    return frame
  }
}
