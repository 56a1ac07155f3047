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
extension TransitionOutcome: WireNamed { package static let words = names }
extension Animations: WireNamed { package static let words = names }
extension ContentSizeCategory: WireNamed { package static let words = names }

extension AccessibilityMember: WireNamed {
  package static let words = [
    "accessibilityLabel", "accessibilityHint", "accessibilityIdentifier", "language",
  ]
}

/// The cause of a revision.
package enum Cause: UInt8, CaseIterable, Sendable, WireNamed {
  /// An operation of a program.
  case api
  /// A segue.
  case segue
  /// A person used the back button, its menu, or a button that pops.
  case backButton
  /// A person swiped.
  case gesture
  /// The display reported the end of a transition.
  case complete
  /// A transition was cancelled.
  case cancel
  /// The daemon ended a transition or gesture at its deadline.
  case timeout
  /// ``NavigationOperation/restore(_:root:)``.
  case restore
  /// ``NavigationOperation/revert(to:)``.
  case revert
  /// ``NavigationOperation/open(_:)``.
  case open
  /// A client took or released the display, or the orientations of a delegate changed.
  case lease
  /// The daemon ended, at its start, the transition that was open before.
  case recovery
  /// The nav took over the look of all bars of a class.
  case appearance

  package static let words = names

  /// The word as a literal, which every diff contains: it is written without a copy.
  package var wireName: StaticString {
    switch self {
    case .api: "api"
    case .segue: "segue"
    case .backButton: "backButton"
    case .gesture: "gesture"
    case .complete: "complete"
    case .cancel: "cancel"
    case .timeout: "timeout"
    case .restore: "restore"
    case .revert: "revert"
    case .open: "open"
    case .lease: "lease"
    case .recovery: "recovery"
    case .appearance: "appearance"
    }
  }
}
