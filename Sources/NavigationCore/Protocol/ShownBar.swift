/// The encoded resolved bar of a nav.
///
/// Its bytes are the frame, which depends on the parts only, with `own` between its pieces, which
/// depends on the screens. Navs with equal frames share one. Law: `bytes` equal the output of
/// `JSONWriter.resolved` for the state.
package struct ShownBar: Sendable {
  private var frame: BarFrame
  /// The newest revision for whose parts the frame is known to be right.
  private var framedAt: Revision
  /// The bytes that depend on the screens, such as titles, in order; `frame` has the others.
  ///
  /// It has all bytes if the stack is empty, or if the top screen has details of its own.
  private var own: [UInt8]
  /// Where in `own` the pieces of the frame belong; 0 if the frame cannot be used.
  private var openingEnd: UInt32 = 0
  private var titleEnd: UInt32 = 0

  /// Encodes the resolved bar of a controller.
  package init(_ controller: borrowing NavigationController) {
    frame = .standard
    framedAt = Revision(0)
    own = []
    var json = JSONWriter(reserving: 384)
    follow(controller, &json)
  }

  /// Updates the encoding after a change of the state; returns whether the bytes changed.
  ///
  /// `json` lends its memory and loses its contents. The function is never inlined, so that its
  /// instructions can be counted by its name.
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
    // The frame is still right, so only `own` can differ.
    return write(controller, &json)
  }

  /// Encodes the resolved bar from scratch.
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

  /// Writes `own`; returns whether its bytes or the places of the frame's pieces changed.
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

  /// Replaces the frame with an equal one of another nav, if there is one.
  package mutating func share(_ frames: inout BarFrames) { frame = frames.shared(frame) }

  /// The number of the bytes.
  var byteCount: Int {
    isFramed ? own.count + frame.sizes.count + frame.behindMiddle.count : own.count
  }

  /// The encoded resolved bar.
  package var bytes: [UInt8] {
    guard isFramed else { return own }
    var json = JSONWriter(reserving: byteCount + 1)
    json.shown(self)
    return json.bytes
  }

  /// Writes the bytes as one JSON value.
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
  /// Writes a resolved bar as one JSON value.
  mutating func shown(_ bar: ShownBar) { bar.write(to: &self) }
}

/// The bytes of a resolved bar that depend on the parts only.
///
/// It is right as long as the top screen has no details of its own.
final class BarFrame: Sendable {
  /// The bytes of all pieces, one after the other.
  let bytes: [UInt8]
  /// The members before the left positions.
  let sizes: Range<Int>
  /// The bytes between the back button's text and the same title as a candidate, then the bytes
  /// after it.
  let backOrigin: Range<Int>
  let lastCandidates: Range<Int>
  /// The members that follow a title that is not empty.
  let placement: Range<Int>
  /// The members after the middle.
  let behindMiddle: Range<Int>
  /// The rules by which the parts decide the content that depends on screens.
  let rules: BarRules

  /// Makes the frame of a state whose top screen has no details of its own.
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

  /// The frame for parts that have their defaults.
  static let standard = BarFrame(NavigationController(revision: Revision(0)))
}

extension BarFrame: Equatable {
  static func == (left: BarFrame, right: BarFrame) -> Bool {
    left === right
      || left.bytes == right.bytes && left.sizes == right.sizes
        && left.placement == right.placement && left.rules == right.rules
  }
}

/// The 16 newest frames, by which navs with equal frames share one.
package struct BarFrames: Sendable {
  private var recent: [BarFrame] = [.standard]
  private static let limit = 16

  /// Returns a known frame that is equal to this one, or remembers and returns this one.
  mutating func shared(_ frame: BarFrame) -> BarFrame {
    // Most navs use a known frame already. Only for the others are contents compared.
    if recent.contains(where: { $0 === frame }) { return frame }
    if let known = recent.first(where: { $0 == frame }) { return known }
    if recent.count == Self.limit { recent.removeFirst() }
    recent.append(frame)
    return frame
  }
}
