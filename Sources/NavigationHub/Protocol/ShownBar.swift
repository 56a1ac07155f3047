package import NavigationCore

/// Encodes the resolved bar of a nav, and finds out whether a commit changed it.
///
/// The type keeps only a hash of the bytes, because the bytes would take about 500 bytes a nav. The
/// bytes that depend on the parts only are in the frame, which navs with equal parts share. Law:
/// `writeNext` and `bytes` write the output of `JSONWriter.resolved` for the state.
package struct ShownBar: Sendable {
  private var frame: BarFrame
  /// The newest revision for whose parts the frame is known to be right.
  private var frameRevision: Revision
  /// The hash of the bytes that `writeNext` wrote last.
  ///
  /// The factor of the hash is random in each process, so no client can choose a title that hides a
  /// change.
  private var hash: KeyHash

  /// Begins with the resolved bar of a state.
  package init(_ controller: borrowing NavigationController) {
    frame = .standard
    frameRevision = Revision(0)
    hash = KeyHash(0)
    var json = JSONWriter(reserving: 768)
    writeNext(controller, &json)
  }

  /// Writes the resolved bar of the next state as one JSON value; returns whether its bytes differ
  /// from those of the state before.
  @discardableResult
  package mutating func writeNext(
    _ controller: borrowing NavigationController, _ json: inout JSONWriter
  ) -> Bool {
    let isFramed = Self.takesFrame(controller)
    if isFramed, !hasFrame(for: controller) {
      frame = controller.hasStandardBarParts ? .standard : BarFrame(controller)
      frameRevision = controller.revision
    }
    let start = json.position
    write(controller, isFramed: isFramed, to: &json)
    let former = hash
    hash = json.hash(from: start)
    return hash != former
  }

  /// Encodes the resolved bar from scratch.
  package static func encodeResolved(_ controller: borrowing NavigationController) -> [UInt8] {
    var json = JSONWriter(reserving: 768)
    json.resolved(controller.resolvedBar())
    return json.bytes
  }

  /// Encodes the resolved bar of the state that `writeNext` got last.
  package func bytes(of controller: borrowing NavigationController) -> [UInt8] {
    var json = JSONWriter(reserving: 768)
    write(controller, to: &json)
    return json.bytes
  }

  /// Whether both the hash and the bytes are those of the state, computed from scratch.
  package func isCorrect(for controller: borrowing NavigationController) -> Bool {
    let scratch = Self.encodeResolved(controller)
    return hash == KeyHash(scratch.span) && bytes(of: controller) == scratch
  }

  /// Whether the frame is the one for parts that have their defaults.
  package var hasStandardFrame: Bool { frame === BarFrame.standard }

  /// Replaces the frame with an equal one of another nav, if there is one.
  package mutating func share(_ frames: inout BarFrames) { frame = frames.shared(frame) }

  /// Whether the bytes can be made of a frame: the stack has a top, without details of its own.
  private static func takesFrame(_ controller: borrowing NavigationController) -> Bool {
    let depth = controller.stack.count
    return depth > 0 && controller.stack[depth - 1].hasDefaultDetails
  }

  private func hasFrame(for controller: borrowing NavigationController) -> Bool {
    frameRevision >= controller.barPartsVersion && frame.rules.areValid(for: controller.stack)
  }

  fileprivate func write(
    _ controller: borrowing NavigationController, to json: inout JSONWriter
  ) {
    let isFramed = Self.takesFrame(controller) && hasFrame(for: controller)
    write(controller, isFramed: isFramed, to: &json)
  }

  private func write(
    _ controller: borrowing NavigationController, isFramed: Bool, to json: inout JSONWriter
  ) {
    guard isFramed else { return json.resolved(controller.resolvedBar()) }
    let rules = frame.rules
    // A span lends the screens; a subscript of the array would copy them.
    let stack = controller.stack.span
    let depth = stack.count
    let top = stack[depth - 1].id.text
    json.beginObject()
    json.member("top", word: top)
    if depth > 1 { json.member("back", word: stack[depth - 2].id.text) }
    if controller.presented.isDefault {
      json.member("visible", word: top)
    } else {
      json.optional("visible", controller.visible?.id.text)
    }
    if depth > 1 {
      json.raw(withComma: frame.bytes, in: frame.sizes)
      if rules.backButton.showsWholeTitle(of: stack[depth - 2]) {
        json.literal(#"{"back":{"text":"#)
        stack[depth - 2].withTitle { title in
          json.string(utf8: title)
          json.raw(withComma: frame.bytes, in: frame.backOrigin)
          json.string(utf8: title)
        }
        json.raw(withComma: frame.bytes, in: frame.lastCandidates)
      } else {
        json.beginBackSlot(rules.backButton.slot(of: stack[depth - 2]))
      }
      json.beginBackMenu()
      for index in BackMenu.indices(depth: depth).reversed() {
        json.menuEntry(stack[index], rules.backButton)
      }
      json.endBackSlot()
      json.endArray()
    } else {
      json.raw(withComma: frame.bytes, in: frame.sizes)
      json.literal("],")
    }
    rules.withTitle(of: stack[depth - 1]) { title in
      json.name("middle")
      json.beginObject()
      json.member("title", utf8: title)
      if !title.isEmpty { json.raw(withComma: frame.bytes, in: frame.placement) }
      json.endObject()
    }
    json.raw(withComma: frame.bytes, in: frame.behindMiddle)
    json.bool(rules.allowsSwipeBack(depth: depth) && !controller.isCovered)
    json.endObject()
  }
}

extension JSONWriter {
  mutating func shown(_ bar: ShownBar, of controller: borrowing NavigationController) {
    bar.write(controller, to: &self)
  }
}

/// The bytes of a resolved bar that depend on the parts only.
///
/// A frame is right as long as the top screen has no details of its own.
final class BarFrame: Sendable {
  /// The bytes of all pieces, one after the other.
  let bytes: [UInt8]
  /// The members before the left positions.
  let sizes: Range<Int>
  /// The bytes between the back button's text and the same title as a candidate, then the bytes
  /// between that candidate and the menu.
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
    let start = json.backSlotBesideTitle(rules.backButton.wholeTitle("T", source: .title))
    backOrigin = sizes.upperBound..<start
    lastCandidates = start..<json.position
    json.placement(bar)
    placement = lastCandidates.upperBound..<json.position
    json.behindMiddle(bar)
    behindMiddle = placement.upperBound..<json.position
    bytes = json.bytesWithComma
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

extension JSONWriter {
  /// The hash of what was written since the writer had this `position`, without a comma at the end.
  func hash(from position: Int) -> KeyHash { KeyHash(written.extracting(position..<count)) }
}
