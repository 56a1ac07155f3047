package import NavigationCore

/// The menu of the back button, from which a person goes back to any screen below the top.
///
/// Two limits keep the resolved bar small: the configuration can allow 65,536 screens on a stack, and
/// a title can have 64 KiB.
package struct BackMenu: Sendable {
  private let stack: [Screen]
  private let rules: BackButtonRules

  /// The most entries, those nearest to the top.
  ///
  /// A stack of the default depth has no more.
  package static let entryLimit = 64
  /// The most UTF-8 bytes of a text.
  package static let textLimit = 128

  /// Makes the menu of a stack; the last screen is the top.
  init(stack: [Screen], rules: BackButtonRules) {
    assert(stack.count >= 2, "a back button with nothing below the top")
    self.stack = stack
    self.rules = rules
  }

  /// One screen to which the menu leads.
  package struct Entry: Hashable, Sendable {
    package var screen: ScreenID
    /// The text of the back button directly above the screen, or the title of one with an image; nil
    /// if that has none.
    package var text: String?
    package var accessibility: Accessibility
  }

  /// The entries, nearest to the top first.
  package var entries: [Entry] {
    Self.indices(depth: stack.count).reversed().map { rules.menuEntry(of: stack[$0]) }
  }

  /// Calls `body` with the screens of the menu, nearest to the top first, and with the rules.
  func forEach(_ body: (Screen, BackButtonRules) -> Void) {
    for index in Self.indices(depth: stack.count).reversed() { body(stack[index], rules) }
  }

  /// The indexes of the menu's screens in a stack of `depth` screens.
  @inline(__always)
  static func indices(depth: Int) -> Range<Int> {
    assert(depth >= 2)
    return max(0, depth - 1 - entryLimit)..<depth - 1
  }
}

extension BackMenu: Hashable {
  package static func == (left: BackMenu, right: BackMenu) -> Bool { left.entries == right.entries }

  package func hash(into hasher: inout Hasher) { hasher.combine(entries) }
}

extension BackButtonRules {
  /// The menu's entry for this screen.
  ///
  /// It has the text of the back button directly above the screen. One that is longer than the menu's
  /// limit counts as too wide for the bar; a label that is longer is left out.
  func menuEntry(of screen: Screen) -> BackMenu.Entry {
    let slot = slot(of: screen)
    let text = slot.text ?? slot.title ?? ""
    let isLong = text.utf8.count > BackMenu.textLimit
    let accessibility = slot.accessibility.filter {
      [.label, .language].contains($0.key) && $0.value.string.utf8.count <= BackMenu.textLimit
    }
    let saysGeneric = (isLong || slot.isGeneric) && accessibility[.label] == nil
    return BackMenu.Entry(
      screen: screen.id, text: isLong ? (fits(generic) ? generic : nil) : text.isEmpty ? nil : text,
      accessibility: saysGeneric ? [:] : accessibility)
  }

  /// Whether a menu's text for this screen is the screen's whole title.
  @inline(__always)
  func showsWholeTitleInMenu(of screen: Screen) -> Bool {
    screen.titleByteCount <= BackMenu.textLimit && showsWholeTitle(of: screen)
  }
}
