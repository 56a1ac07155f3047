package import NavigationCore

/// Encodes the resolved bar of a nav, and finds out whether a commit changed it.
///
/// Nothing is encoded while nobody asks, and a nav keeps no bytes of its bar. The bytes that depend
/// on the parts only are in the template, which navs with equal parts share.
///
/// Law: `write` and `bytes` give the output of `JSONWriter.resolved` for the state.
package struct ResolvedBarEncoder: Sendable {
  private var template = BarTemplate.ofDefaults
  /// The newest revision for whose parts the template is known to be right.
  private var templateRevision = Revision(0)
  /// The hash of the bar that was written last.
  ///
  /// The factor of the hash is random in each process, so no client can choose a title that hides a
  /// change.
  package private(set) var writtenHash = KeyHash(0)
  /// The revision of that bar; 0 if none was written.
  private var writtenRevision = Revision(0)

  package init() {}

  /// Writes the resolved bar of a state as one JSON value; returns whether its bytes differ from
  /// those that were written last.
  ///
  /// Makes a template for the parts of the state if there is none.
  @discardableResult
  package mutating func write(
    _ controller: borrowing NavigationController, _ json: inout JSONWriter
  ) -> Bool {
    let fromTemplate = Self.fitsTemplate(controller)
    if fromTemplate, !hasTemplate(for: controller) {
      template = controller.hasDefaultBarParts ? .ofDefaults : BarTemplate(controller)
      templateRevision = controller.revision
    }
    let start = json.position
    write(controller, fromTemplate: fromTemplate, to: &json)
    let former = writtenHash
    (writtenHash, writtenRevision) = (json.hash(from: start), controller.revision)
    return writtenHash != former
  }

  /// Notes the bar of the present state as the one that was written last.
  package mutating func follow(_ controller: borrowing NavigationController) {
    guard writtenRevision != controller.revision else { return }
    var json = JSONWriter(reserving: 768)
    write(controller, &json)
  }

  /// Whether the bytes for a state are right, and the hash of what was written last too, if
  /// `follows`: if the bar was written at each change since.
  package func isCorrect(
    for controller: borrowing NavigationController, follows: Bool
  ) -> Bool {
    let scratch = Self.encodeResolved(controller)
    return bytes(of: controller) == scratch && (!follows || writtenHash == KeyHash(scratch.span))
  }

  /// Encodes the resolved bar from scratch.
  package static func encodeResolved(_ controller: borrowing NavigationController) -> [UInt8] {
    var json = JSONWriter(reserving: 768)
    json.resolved(controller.resolvedBar())
    return json.bytes
  }

  /// Encodes the resolved bar of a state.
  package func bytes(of controller: borrowing NavigationController) -> [UInt8] {
    var json = JSONWriter(reserving: 768)
    write(controller, to: &json)
    return json.bytes
  }

  /// Whether the template is the one for parts that have their defaults.
  package var hasDefaultTemplate: Bool { template === BarTemplate.ofDefaults }

  /// Replaces the template with an equal one of another nav, if there is one.
  package mutating func share(_ known: inout BarTemplates) { template = known.shared(template) }

  /// Whether the bytes can be made of a template: the stack has a top, without details of its own.
  private static func fitsTemplate(_ controller: borrowing NavigationController) -> Bool {
    let depth = controller.stack.count
    return depth > 0 && controller.stack[depth - 1].hasDefaultDetails
  }

  private func hasTemplate(for controller: borrowing NavigationController) -> Bool {
    templateRevision >= controller.newestBarPartVersion
      && template.rules.areValid(for: controller.stack)
  }

  fileprivate func write(
    _ controller: borrowing NavigationController, to json: inout JSONWriter
  ) {
    let fromTemplate = Self.fitsTemplate(controller) && hasTemplate(for: controller)
    write(controller, fromTemplate: fromTemplate, to: &json)
  }

  private func write(
    _ controller: borrowing NavigationController, fromTemplate: Bool, to json: inout JSONWriter
  ) {
    guard fromTemplate else { return json.resolved(controller.resolvedBar()) }
    let rules = template.rules
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
      json.raw(withComma: template.bytes, in: template.sizeMembers)
      if rules.backButton.showsWholeTitle(of: stack[depth - 2]) {
        json.literal(#"{"back":{"text":"#)
        stack[depth - 2].withTitle { title in
          json.string(utf8: title)
          json.raw(withComma: template.bytes, in: template.backSourceMembers)
          json.string(utf8: title)
        }
        json.raw(withComma: template.bytes, in: template.lastTitleCandidates)
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
      json.raw(withComma: template.bytes, in: template.sizeMembers)
      json.literal("],")
    }
    rules.withTitle(of: stack[depth - 1]) { title in
      json.name("middle")
      json.beginObject()
      json.member("title", utf8: title)
      if !title.isEmpty { json.raw(withComma: template.bytes, in: template.membersAfterTitle) }
      json.endObject()
    }
    json.raw(withComma: template.bytes, in: template.membersAfterMiddle)
    json.bool(rules.allowsSwipeBack(depth: depth) && !controller.isCovered)
    json.endObject()
  }
}

extension JSONWriter {
  mutating func bar(_ encoder: ResolvedBarEncoder, of controller: borrowing NavigationController) {
    encoder.write(controller, to: &self)
  }
}

/// The bytes of a resolved bar that depend on the parts only.
///
/// A template is right as long as the top screen has no details of its own.
final class BarTemplate: Sendable {
  /// The bytes of all pieces, one after the other.
  let bytes: [UInt8]
  /// The members from `height` to the beginning of the list `left`.
  let sizeMembers: Range<Int>
  /// The bytes between the back button's text and the same title as a candidate, then the bytes
  /// between that candidate and the menu.
  let backSourceMembers: Range<Int>
  let lastTitleCandidates: Range<Int>
  /// The members that follow a title that is not empty.
  let membersAfterTitle: Range<Int>
  /// The members after the middle.
  let membersAfterMiddle: Range<Int>
  /// The rules by which the parts decide the content that depends on screens.
  let rules: BarRules

  /// Makes the template of a state whose top screen has no details of its own.
  init(_ controller: borrowing NavigationController) {
    let bar = controller.resolvedBar()
    rules = controller.barRules()
    var json = JSONWriter(reserving: 768)
    json.sizeMembers(bar)
    sizeMembers = 0..<json.position
    let start = json.backSlotWithoutTitle(rules.backButton.wholeTitleSlot("T", source: .title))
    backSourceMembers = sizeMembers.upperBound..<start
    lastTitleCandidates = start..<json.position
    json.membersAfterTitle(bar)
    membersAfterTitle = lastTitleCandidates.upperBound..<json.position
    json.membersAfterMiddle(bar)
    membersAfterMiddle = membersAfterTitle.upperBound..<json.position
    bytes = json.bytesWithComma
  }

  /// The template for parts that have their defaults.
  static let ofDefaults = BarTemplate(NavigationController(revision: Revision(0)))
}

extension BarTemplate: Equatable {
  static func == (left: BarTemplate, right: BarTemplate) -> Bool {
    left === right
      || left.bytes == right.bytes && left.sizeMembers == right.sizeMembers
        && left.membersAfterTitle == right.membersAfterTitle && left.rules == right.rules
  }
}

/// The 16 newest templates, by which navs with equal templates share one.
package struct BarTemplates: Sendable {
  private var recent: [BarTemplate] = [.ofDefaults]
  private static let limit = 16

  /// Returns a known template that is equal to this one, or remembers and returns this one.
  mutating func shared(_ template: BarTemplate) -> BarTemplate {
    // Most navs use a known template already. Only for the others are contents compared.
    if recent.contains(where: { $0 === template }) { return template }
    if let known = recent.first(where: { $0 == template }) { return known }
    if recent.count == Self.limit { recent.removeFirst() }
    recent.append(template)
    return template
  }
}

extension JSONWriter {
  /// The hash of the bytes written since the writer had this `position`, without a comma at the end.
  func hash(from position: Int) -> KeyHash { KeyHash(written.extracting(position..<count)) }
}
