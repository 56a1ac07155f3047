package import NavigationCore

/// How the parts of a nav affect the back button: language, width limit, indicator and images.
///
/// The screen below the top supplies the title or image, see `slot(of:)`.
struct BackButtonRules: Hashable, Sendable {
  var isStandalone: Bool
  var usesLandscapeImages: Bool
  /// The generic text in the environment's language, such as `Back`.
  var genericTitle: String
  /// The largest width of a text, in columns of `DisplayWidth`; nil for no limit.
  var columnLimit: Int?
  /// The arrow beside the text or image.
  var indicator: ResolvedBar.BackIndicator

  /// The button above this screen.
  func slot(of previous: Screen) -> ResolvedBar.BackSlot {
    guard !previous.hasDefaultDetails else { return slot(of: previous, item: nil) }
    let details = previous.details
    let button = details.item.backBarButtonItem
    var slot = button.map(slot(of:)) ?? slot(of: previous, item: details.item)
    guard slot.source != .generic else { return slot }
    let title = details.titleAccessibility
    slot.accessibility = button?.content.accessibility ?? title
    // The generic word is in the language of the display.
    let saysGeneric = slot.isGeneric && slot.accessibility[.label] == nil
    slot.accessibility[.language] = saysGeneric ? nil : title[.language]
    return slot
  }

  /// The button that a `backAction` makes with nothing below the top.
  func slot(made action: Button) -> ResolvedBar.BackSlot {
    var slot = slot(of: action)
    slot.source = .backAction
    slot.action = action.content.action ?? ""
    slot.accessibility = action.content.accessibility
    return slot
  }

  private func slot(of previous: Screen, item: NavigationItem?) -> ResolvedBar.BackSlot {
    let title = title(of: previous, item: item)
    switch item?.backButtonDisplayMode ?? .default {
    case .default:
      if let own = item?.extras.backButtonTitle, own.isEmpty {
        return ResolvedBar.BackSlot(hiddenTitle: title, source: .title, indicator: indicator)
      }
      if let title { return fitted(title, source: .title) }
      // The generic text is the last resort, so the width limit does not apply to it.
      return genericSlot(genericTitle)
    case .generic: return genericSlot(fits(genericTitle) ? genericTitle : nil)
    case .minimal:
      return ResolvedBar.BackSlot(
        hiddenTitle: title, source: title == nil ? .generic : .title, indicator: indicator)
    }
  }

  private func genericSlot(_ text: String?) -> ResolvedBar.BackSlot {
    ResolvedBar.BackSlot(
      text: text, source: .generic, indicator: indicator, isGeneric: text != nil,
      genericText: genericTitle)
  }

  /// The text that stands for a screen, without `backBarButtonItem`; nil if it has none.
  ///
  /// For back buttons, an empty title counts as unset. In the middle of the bar it is an explicit blank.
  private func title(of screen: Screen, item: NavigationItem?) -> String? {
    if let title = item?.extras.backButtonTitle, !title.isEmpty { return title }
    if let title = item?.title, !title.isEmpty { return title }
    guard !isStandalone, let title = screen.title, !title.isEmpty else { return nil }
    return title
  }

  private func slot(of button: Button) -> ResolvedBar.BackSlot {
    let content = button.content
    if let image = (usesLandscapeImages ? content.landscapeImage : nil) ?? content.image {
      return ResolvedBar.BackSlot(
        image: image, hiddenTitle: content.title, source: .backItem, indicator: indicator)
    }
    // A custom view or system item is ignored, which leaves the indicator alone.
    guard let title = content.title, !title.isEmpty else {
      return ResolvedBar.BackSlot(source: .backItem, indicator: indicator)
    }
    return fitted(title, source: .backItem)
  }

  /// Returns the button with the title if that fits, else with the generic text if that fits, else
  /// without a text.
  private func fitted(_ title: String, source: ResolvedBar.BackSource) -> ResolvedBar.BackSlot {
    assert(!title.isEmpty, "an empty title has its own rules")
    guard !fits(title) else { return wholeTitleSlot(title, source: source) }
    assert(columnLimit != nil, "\(title) is too long without a budget")
    let isGeneric = fits(genericTitle)
    return ResolvedBar.BackSlot(
      text: isGeneric ? genericTitle : nil, source: source, indicator: indicator,
      isGeneric: isGeneric, isTruncated: true, preferredText: title, genericText: genericTitle)
  }

  private func wholeTitleSlot(_ title: String, source: ResolvedBar.BackSource)
    -> ResolvedBar.BackSlot
  {
    assert(!title.isEmpty, "an empty title is not shown")
    return ResolvedBar.BackSlot(
      text: title, source: source, indicator: indicator, preferredText: title,
      genericText: genericTitle)
  }

  private func fits(_ text: String) -> Bool {
    guard let columnLimit else { return true }
    return DisplayWidth.columns(of: text) <= columnLimit
  }

  /// The menu's entry for this screen.
  ///
  /// Nothing that shortens the bar's text shortens the entry's. An accessibility label longer than
  /// `textByteLimit` is omitted.
  func menuEntry(of screen: Screen) -> BackMenu.Entry {
    let details = screen.hasDefaultDetails ? nil : screen.details
    let button = details?.item.backBarButtonItem?.content
    let own =
      button?.title.flatMap { $0.isEmpty ? nil : $0 } ?? title(of: screen, item: details?.item)
    let text = own ?? genericTitle
    let entryText = BackMenu.entryText(text)
    var accessibility = button?.accessibility ?? details?.titleAccessibility ?? [:]
    accessibility[.language] = details?.titleAccessibility[.language]
    accessibility = accessibility.filter {
      [.label, .language].contains($0.key) && $0.value.string.utf8.count <= BackMenu.textByteLimit
    }
    // The generic word is in the language of the display.
    if own == nil, accessibility[.label] == nil { accessibility = [:] }
    return BackMenu.Entry(
      screen: screen.id, text: entryText, isTruncated: entryText.utf8.count < text.utf8.count,
      accessibility: accessibility)
  }

  /// Whether a menu's text for this screen is the screen's whole title.
  ///
  /// The result is false for a screen with details of its own, which only `menuEntry` considers.
  func showsWholeTitleInMenu(of screen: Screen) -> Bool {
    screen.hasDefaultDetails && !isStandalone
      && (1...BackMenu.textByteLimit).contains(screen.titleByteCount)
  }
}

/// The menu of the back button, from which a person goes back to the screens below the top.
///
/// The menu ends at the nearest screen that a person cannot pop.
///
/// Two limits keep the resolved bar small: the configuration can allow 65,536 screens on a stack, and
/// a title can have 64 KiB.
package struct BackMenu: Sendable {
  private let stack: [Screen]
  private let rules: BackButtonRules

  /// The most entries, those nearest to the top: the default limit of a stack's depth.
  package static let entryLimit = 64
  /// The most UTF-8 bytes of a text.
  package static let textByteLimit = 128

  /// Makes the menu of a stack; the last screen is the top.
  init(stack: [Screen], rules: BackButtonRules) {
    assert(stack.count >= 2, "a back button with nothing below the top")
    self.stack = stack
    self.rules = rules
  }

  /// One screen to which the menu leads.
  package struct Entry: Hashable, Sendable {
    package var screen: ScreenID
    /// The title of the back button that leads to the screen, else that of the item or of the screen,
    /// else the generic text.
    package var text: String
    /// Whether the text is the beginning of a longer one.
    package var isTruncated: Bool
    package var accessibility: Accessibility
  }

  /// The text, or its beginning up to `textByteLimit`: whole characters, unless the first is longer.
  static func entryText(_ text: String) -> String {
    if text.utf8.count <= textByteLimit { return text }
    var (kept, count) = ("", 0)
    for character in text {
      count += character.utf8.count
      if count > textByteLimit { break }
      kept.append(character)
    }
    guard kept.isEmpty else { return kept }
    for scalar in text.unicodeScalars {
      if kept.utf8.count + UTF8.width(scalar) > textByteLimit { break }
      kept.unicodeScalars.append(scalar)
    }
    return kept
  }

  private var screens: some Collection<Screen> {
    let near = stack.suffix(Self.entryLimit + 1)
    return near[(near.lastIndex(where: \.blocksPop) ?? near.startIndex)...].dropLast().reversed()
  }

  /// The entries, nearest to the top first.
  package var entries: [Entry] {
    screens.map { rules.menuEntry(of: $0) }
  }

  /// Calls `body` with the screens of the menu, nearest to the top first, and with the rules.
  func forEach(_ body: (Screen, BackButtonRules) -> Void) {
    for screen in screens { body(screen, rules) }
  }
}

extension BackMenu: Hashable {
  package static func == (left: BackMenu, right: BackMenu) -> Bool { left.entries == right.entries }

  package func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

/// The general titles for a back button without a title of its own, by language tag.
///
/// navd looks titles up as BCP 47 does (RFC 4647, 3.4): without regard to case, from the whole tag to
/// its first subtag. A Chinese tag without a script stands for the script of its region.
enum BackTitles {
  /// UIKit's titles that navd has; every other language gets the English one.
  private static let known: [Text: Text] = ["zh": "返回"]

  /// The title for a locale; `own` has titles by canonical tag, which precede UIKit's.
  static func title(for locale: String, among own: [Text: Text]) -> String {
    if own.isEmpty, locale == Environment().locale { return "Back" }
    let tags = candidateTags(for: locale)
    let word = tags.lazy.compactMap { own[$0] }.first ?? tags.lazy.compactMap { known[$0] }.first
    return word?.string ?? "Back"
  }

  /// A tag in the form in which tags are compared: `zh-cn` for `zh_CN`, and for `zh_CN.UTF-8`.
  static func canonical(_ tag: String) -> String {
    let octets = tag.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
    let hyphened = octets.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    return String(decoding: hyphened, as: UTF8.self).lowercased()
  }

  /// The tags under which the title for a locale can stand, the most specific first.
  private static func candidateTags(for locale: String) -> [Text] {
    let subtags = canonical(locale).utf8.split(separator: UInt8(ascii: "-")).map {
      Text(String(decoding: $0, as: UTF8.self))
    }
    var tags = subtags.indices.reversed().map { last in
      Text(subtags[...last].map(\.string).joined(separator: "-"))
    }
    if subtags.first == "zh", subtags.dropFirst().first?.string.utf8.count != 4 {
      let isTraditional = subtags.dropFirst().contains { ["tw", "hk", "mo"].contains($0) }
      tags.insert(isTraditional ? "zh-hant" : "zh-hans", at: max(1, tags.count - 1))
    }
    return tags
  }
}
