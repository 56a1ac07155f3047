// The words on the wire for the cases of the model's enumerations.

/// An enumeration with a word on the wire for each case; its raw values count from 0.
package protocol WireNamed: CaseIterable, RawRepresentable<UInt8>, WireValue {
  /// The words, in the order of the cases.
  static var words: [String] { get }
}

extension WireNamed {
  /// The names of the cases, for `words`.
  static var names: [String] { allCases.map { "\($0)" } }

  package var word: String { Self.words[Int(rawValue)] }

  /// Finds the case with this word; nil if there is none.
  package init?(word: String) {
    guard let index = Self.words.firstIndex(where: { $0 == word }) else { return nil }
    self.init(rawValue: UInt8(index))
  }

  /// All words with commas between them, for error messages.
  package static var choices: String { words.joined(separator: ", ") }
}

extension ScreenKind: WireNamed { package static let words = names }
extension ButtonStyle: WireNamed { package static let words = names }
extension LargeTitleDisplayMode: WireNamed { package static let words = names }
extension GuardPolicy: WireNamed { package static let words = names }
extension VetoScope: WireNamed { package static let words = names }
extension HidingCause: WireNamed { package static let words = names }
extension AppearanceSlot: WireNamed { package static let words = names }
extension BarStyle: WireNamed { package static let words = names }
extension BarMetrics: WireNamed { package static let words = names }
extension BarPosition: WireNamed { package static let words = names }
extension Orientation: WireNamed { package static let words = names }
extension Relation: WireNamed { package static let words = names }
extension RunningTransition.Kind: WireNamed { package static let words = names }
extension ResolvedBar.BackSource: WireNamed { package static let words = names }
extension TransitionOutcome: WireNamed { package static let words = names }
extension Animations: WireNamed { package static let words = names }
extension ContentSizeCategory: WireNamed { package static let words = names }

extension PartName: WireNamed {
  package static let words = names
  package var text: String { word }
}

extension AccessibilityMember: WireNamed {
  package static let words = [
    "accessibilityLabel", "accessibilityHint", "accessibilityIdentifier", "language",
  ]
}

/// The cause of a revision.
package enum Cause: UInt8, CaseIterable, Sendable, WireNamed {
  /// The causes, by their words on the wire.
  case api, segue, backButton, gesture, complete, cancel, timeout, restore, revert, open, lease,
    recovery, appearance

  package static let words = names
}
