package import NavigationCore

/// The chain of presented screens.
///
/// Each screen was presented by the one before it, the first by a screen of the stack.
package struct Presentation: PartContent {
  /// The chain, outermost last.
  package var chain: [Presented] = []

  package init() {}

  package func index(of id: ScreenID) -> Int? { chain.firstIndex { $0.screen.hasID(id) } }
}

/// A presented screen.
package struct Presented: Equatable, Sendable {
  package var screen: Screen
  /// The screen that presents it; nil if no screen was visible.
  package var from: ScreenID?
  /// UIKit's modal presentation style, as the client named it.
  package var style: String?

  /// Whether the screen covers the bar and the stack, so that nobody can touch them.
  ///
  /// UIKit's popovers leave bar and stack visible. Any other style, an unknown one or none counts as
  /// covering.
  package var coversStack: Bool { style != "popover" }

  /// Why a person may not dismiss the screen; nil if the person may.
  ///
  /// UIKit's two full-screen styles have no swipe down.
  var dismissRefusal: DismissRefusal? {
    if !screen.hasDefaultDetails, screen.details.modalInPresentation {
      return .modalInPresentation
    }
    return style == "fullScreen" || style == "overFullScreen" ? .fullScreenStyle : nil
  }

  /// Whether the screen covers the whole navigation interface, whichever screen presents it.
  ///
  /// True for UIKit's two current-context styles, because the controller defines the presentation
  /// context.
  package var coversNavigationInterface: Bool {
    style == "currentContext" || style == "overCurrentContext"
  }
}

// Presenting and dismissing. The chain belongs to the controller: it survives pops of its first
// presenter, and it never branches.

extension NavigationController {
  mutating func present(
    _ argument: ScreenArgument, from presenter: ScreenID?, style: String?, _ draft: inout Draft,
    _ context: NavigationContext
  ) throws(NavigationError) -> OperationOutput {
    let found = try locate(argument)
    let presenter = try checkPresenter(presenter)
    if let id = found.id, found.isOnStack || found.isPresented { throw .onStackOrPresented(id) }
    try checkIDNotAssignedForm(argument)
    let arrival = try incomingScreen(argument, &draft)
    guard presented.content.chain.count < context.limits.stackDepth else {
      throw .depthLimit(context.limits.stackDepth)
    }
    let byteCount = arrival.screen.byteCount
    try checkByteLimit(adding: arrival.isNew ? byteCount : 0, besideStack: byteCount, context)
    try checkPresentedSize(adding: arrival.screen.escapedByteCount, context)
    let former = visible?.id
    let screen = takeRecord(of: arrival, &draft)
    assert(!isKnown(.screen(screen.id)), "\(screen.id.text) stands somewhere else")
    presented.content.chain.append(Presented(screen: screen, from: presenter, style: style))
    notePresentedChange(&draft)
    assert(visible?.id == screen.id)
    draft.notePresentation(.present, from: former, to: screen.id)
    return .screen(screen.id)
  }

  /// Returns the presenter, by default the visible screen; throws if it may not present.
  private func checkPresenter(_ id: ScreenID?) throws(NavigationError) -> ScreenID? {
    guard let id else { return visible?.id }
    if presented.content.chain.last?.screen.id == id { return id }
    guard screen(id) != nil else { throw .unknownScreen(id) }
    guard detached.screen(id) == nil else { throw .notInStack(id) }
    // A controller has one chain, so its stack cannot present while the chain has screens.
    guard presented.content.chain.isEmpty else { throw .alreadyPresenting(id) }
    return id
  }

  mutating func dismiss(
    from presenter: ScreenID?, _ draft: inout Draft
  ) throws(NavigationError) -> [ScreenID] {
    dismiss(from: try firstDismissedIndex(by: presenter), &draft)
  }

  /// Dismisses the outermost presented screen, as UIKit does after a swipe down.
  mutating func swipeDown(_ draft: inout Draft) throws(NavigationError) -> [ScreenID] {
    guard isAttached else {
      throw .invalidArgument("a controller that is not attached has no gestures")
    }
    guard let outermost = presented.content.chain.last else { return [] }
    if let reason = outermost.dismissRefusal {
      throw .dismissBlocked(outermost.screen.id, reason)
    }
    return dismiss(from: presented.content.chain.count - 1, &draft)
  }

  /// Dismisses the popovers over a page that is the top no more, if the settings want it.
  mutating func dismissPopovers(_ draft: inout Draft) {
    guard settings.content.dismissesPopoversWithPage, let lowest = presented.content.chain.first,
      lowest.style == "popover"
    else { return }
    // What the message itself presents belongs to the new page.
    let isOld =
      !draft.parts.contains(.presented)
      || draft.rare?.oldPresented.contains(lowest.screen.id) ?? false
    if isOld { _ = dismiss(from: 0, &draft) }
  }

  private mutating func dismiss(from first: Int, _ draft: inout Draft) -> [ScreenID] {
    let chain = presented.content.chain
    guard first < chain.count else { return [] }
    let former = visible?.id
    let removed = chain[first...]
    presented.content.chain.removeSubrange(first...)
    for element in removed { detached.makeYoungest(.screen(element.screen)) }
    notePresentedChange(&draft)
    assert(visible?.id != former, "what was dismissed is visible")
    draft.notePresentation(.dismiss, from: former, to: visible?.id)
    return removed.map(\.screen.id)
  }

  private func firstDismissedIndex(by presenter: ScreenID?) throws(NavigationError) -> Int {
    assert(!isStandalone, "a standalone bar presents")
    guard let presenter else { return 0 }
    if let index = presented.content.index(of: presenter) {
      // As in UIKit, a screen that presents nothing passes the dismissal on to its presenter.
      return min(index + 1, presented.content.chain.count - 1)
    }
    guard screen(presenter) != nil else { throw .unknownScreen(presenter) }
    // The controller presents for each screen of its stack.
    guard index(of: presenter) != nil else { throw .notInStack(presenter) }
    return 0
  }

  /// Replaces the presented screen at a place of the chain.
  mutating func replacePresented(at index: Int, by screen: Screen, _ draft: inout Draft) {
    precondition(index < presented.content.chain.count, "index=\(index)")
    assert(presented.content.chain[index].screen.id == screen.id, "a content for another screen")
    presented.content.chain[index].screen = screen
    notePresentedChange(&draft)
  }

  private mutating func notePresentedChange(_ draft: inout Draft) {
    assert(!isStandalone, "a standalone bar presents")
    presented.version = draft.revision
    draft.parts.insert(.presented)
  }

  /// Whether a presented screen covers the stack, which a person then cannot pop.
  package var isCovered: Bool {
    !presented.isDefault && presented.content.chain.contains(where: \.coversStack)
  }

  package var presentedScreens: [Screen] {
    presented.isDefault ? [] : presented.content.chain.map(\.screen)
  }

  /// The estimated size in bytes of the stack and the presented screens, which are never released.
  var stackAndPresentedBytes: Int {
    let bytes = (stack + presentedScreens).reduce(0) { $0 + $1.byteCount }
    assert(bytes <= recordBytes, "\(bytes) of \(recordBytes) bytes are attached")
    return bytes
  }

  /// Throws `sizeLimit` if the chain would exceed `presentedBytes` with `growth` more bytes.
  ///
  /// The limit exists because a part is sent in one message.
  func checkPresentedSize(
    adding growth: Int, _ context: NavigationContext
  ) throws(NavigationError) {
    let limit = context.limits.presentedBytes
    guard presentedScreens.reduce(growth, { $0 + $1.escapedByteCount }) <= limit else {
      throw .sizeLimit(limit)
    }
  }
}
