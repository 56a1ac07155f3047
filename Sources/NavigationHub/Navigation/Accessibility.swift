package import NavigationCore

/// How a screen reader reads a screen, a title or a button; it has only the members that are set.
package typealias Accessibility = [AccessibilityMember: Text]

/// A text for screen readers, by UIKit's names.
package enum AccessibilityMember: UInt8, CaseIterable, Sendable {
  /// What is said for what is drawn; what a button does, said after that; a name for tests, never
  /// said; the language as a tag of BCP 47.
  case label, hint, identifier, language

  /// The members of a screen and of a navigation item.
  static let ofTitle: [AccessibilityMember] = [.label, .language]
  static let ofButton: [AccessibilityMember] = [.label, .hint, .identifier]
}

extension Accessibility {
  var byteCount: Int { reduce(0) { $0 + 24 + $1.value.string.jsonOctets } }
}

extension ScreenDetails {
  /// How the title of the bar is read: in the language of the item, else in that of the screen.
  var titleAccessibility: Accessibility {
    guard let language = accessibility[.language] else { return item.accessibility }
    return item.accessibility.merging([.language: language]) { own, _ in own }
  }
}
