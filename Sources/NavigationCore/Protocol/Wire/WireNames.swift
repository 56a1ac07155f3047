/// An enumeration with a word on the wire for each case; its raw values count from 0.
package protocol WireNamed: CaseIterable, RawRepresentable<UInt8>, Sendable, SendableMetatype {
  /// The words, in the order of the cases.
  static var words: [String] { get }
}

extension WireNamed {
  /// The names of the cases, for `words`.
  package static var names: [String] { allCases.map { "\($0)" } }

  package var word: String { Self.words[Int(rawValue)] }

  /// Finds the case with this word; nil if there is none.
  package init?(word: String) {
    guard let index = Self.words.firstIndex(where: { $0 == word }) else { return nil }
    self.init(rawValue: UInt8(index))
  }

  /// All words with commas between them, for error messages.
  package static var choices: String { words.joined(separator: ", ") }
}

/// The cause of a revision.
package enum Cause: UInt8, CaseIterable, Sendable, WireNamed {
  /// The causes, by their words on the wire.
  case api, segue, backButton, gesture, complete, cancel, timeout, restore, revert, open, lease,
    recovery, appearance

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
