/// What the bar shows: a pure function of the nav's state, so equal states give equal values.
package struct ResolvedBar: Hashable, Sendable {
  /// The top screen.
  package var top: ScreenID?
  /// The screen below it, which supplies the back button.
  package var back: ScreenID?
  /// The screen the user sees.
  package var visible: ScreenID?
  /// The left positions, left-most first.
  package var left: [LeftSlot]
  /// The middle; nil for blank.
  package var middle: MiddleSlot?
  /// The right positions in logical order: index 0 is right-most.
  package var right: [ButtonSlot]

  /// One left position.
  package enum LeftSlot: Hashable, Sendable {
    /// The back button.
    case back(BackSlot)
    /// A button of the top item.
    case button(ButtonSlot)
  }

  /// The middle position.
  package enum MiddleSlot: Hashable, Sendable {
    /// A view of the client's.
    case view(TitleView)
    /// A text; an empty one is an explicit blank.
    case title(String)
  }

  /// A button as it is shown.
  package struct ButtonSlot: Hashable, Sendable {
    /// The button.
    package var button: Button
    /// The image that fits the environment, if the button shows one.
    package var image: ImageReference?
    /// Whether the bar's tint colours it; a custom view keeps its own colours.
    package var tintApplies: Bool
  }

  /// The back button as it is shown.
  package struct BackSlot: Hashable, Sendable {
    /// The text beside the indicator; nil for the indicator alone.
    package var text: String?
    /// The image in place of a text.
    package var image: ImageReference?
    /// Where text or image come from.
    package var source: BackSource
    /// Whether the text is the generic one.
    package var isGeneric = false
    /// Whether the wanted text did not fit.
    package var isTruncated = false
    /// The texts to try in this order, for a client that measures them itself; the last resort,
    /// no text, is not listed.
    package var candidates: [String] = []

    /// Makes a slot without candidates.
    package init(text: String? = nil, image: ImageReference? = nil, source: BackSource) {
      self.text = text
      self.image = image
      self.source = source
    }
  }

  /// Where the back button's content comes from.
  package enum BackSource: UInt8, Sendable {
    /// The `backBarButtonItem` of the screen below.
    case backItem
    /// The title of the screen below.
    case title
    /// Nothing better than the generic text.
    case generic
  }
}

extension NavigationController {
  /// Computes what the bar shows.
  ///
  /// O(buttons of the top item).
  package func resolvedBar() -> ResolvedBar {
    ResolvedBar(
      top: top?.id, back: backScreen?.id, visible: visible?.id, left: resolvedLeft(),
      middle: resolvedMiddle(), right: top?.item.rightItems.map(slot) ?? [])
  }

  /// Whether the user sees a back button.
  package var showsBackButton: Bool {
    resolvedLeft().contains { if case .back = $0 { true } else { false } }
  }

  private func resolvedLeft() -> [ResolvedBar.LeftSlot] {
    guard let top else { return [] }
    guard !top.hasDefaultDetails else { return backScreen.map { [.back(backSlot($0))] } ?? [] }
    let item = top.item
    var back: [ResolvedBar.LeftSlot] = []
    if let previous = backScreen, !item.hidesBackButton { back = [.back(backSlot(previous))] }
    if item.leftItems.isEmpty { return back }
    let buttons = item.leftItems.map { ResolvedBar.LeftSlot.button(slot($0)) }
    // Left items replace the back button unless they supplement it; then they stand to its right.
    return item.leftItemsSupplementBackButton ? back + buttons : buttons
  }

  private func resolvedMiddle() -> ResolvedBar.MiddleSlot? {
    guard let top else { return nil }
    if !top.hasDefaultDetails {
      if let view = top.item.titleView { return .view(view) }
      if let title = top.item.title { return .title(title) }
    }
    return top.title.map { .title($0) }
  }

  private func slot(_ button: Button) -> ResolvedBar.ButtonSlot {
    var image: ImageReference?
    if case .image(let portrait, let landscape) = button.face {
      image = usesLandscapeImages ? landscape ?? portrait : portrait
    }
    return ResolvedBar.ButtonSlot(
      button: button, image: image, tintApplies: button.content.customView == nil)
  }

  private var usesLandscapeImages: Bool {
    environment.content.isPhone && environment.content.isVerticallyCompact
  }

  /// The back button's content always comes from the screen below the top.
  private func backSlot(_ previous: Screen) -> ResolvedBar.BackSlot {
    if !previous.hasDefaultDetails, let button = previous.item.backBarButtonItem {
      let content = button.content
      if let image = (usesLandscapeImages ? content.landscapeImage : nil) ?? content.image {
        return ResolvedBar.BackSlot(image: image, source: .backItem)
      }
      // A custom view or system item is ignored, which leaves the indicator alone.
      guard let title = content.title, !title.isEmpty else {
        return ResolvedBar.BackSlot(source: .backItem)
      }
      return fit(title, source: .backItem)
    }
    let itemTitle = previous.hasDefaultDetails ? nil : previous.item.title
    // An empty title counts as unset here, though it is an explicit blank in the middle.
    for case let title? in [itemTitle, previous.title] where !title.isEmpty {
      return fit(title, source: .title)
    }
    // The last word already: no budget applies to it.
    var slot = ResolvedBar.BackSlot(text: genericBackTitle, source: .generic)
    slot.isGeneric = true
    slot.candidates = [genericBackTitle]
    return slot
  }

  private var genericBackTitle: String {
    environment.content.locale == "zh-Hans" ? "返回" : "Back"
  }

  private func fit(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    let generic = genericBackTitle
    var slot = ResolvedBar.BackSlot(source: source)
    slot.candidates = [title, generic]
    for candidate in slot.candidates {
      if let budget = environment.content.backTitleBudget,
        DisplayWidth.columns(of: candidate) > budget
      {
        continue
      }
      slot.text = candidate
      slot.isGeneric = candidate == generic && candidate != title
      slot.isTruncated = candidate != title
      return slot
    }
    slot.isTruncated = true
    return slot
  }
}
