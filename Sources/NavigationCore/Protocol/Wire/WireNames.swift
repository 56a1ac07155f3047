// The words on the wire for the cases of the model's enumerations.

/// An enumeration each of whose cases has a word on the wire.
package protocol WireNamed: CaseIterable {
  var wireName: StaticString { get }
}

extension WireNamed {
  /// Finds the case with this word; nil if there is none.
  package init?(wireName: String) {
    guard let match = Self.allCases.first(where: { $0.wireName.description == wireName }) else {
      return nil
    }
    self = match
  }

  /// All words with commas between them, for error messages.
  package static var choices: String {
    allCases.map(\.wireName.description).joined(separator: ", ")
  }
}

extension ScreenKind: WireNamed, CaseIterable {
  package static let allCases: [ScreenKind] = [.content, .tabBar, .navigation]
  package var wireName: StaticString {
    switch self {
    case .content: "content"
    case .tabBar: "tabBar"
    case .navigation: "navigation"
    }
  }
}

extension ButtonStyle: WireNamed, CaseIterable {
  package static let allCases: [ButtonStyle] = [.plain, .done]
  package var wireName: StaticString { self == .plain ? "plain" : "done" }
}

extension LargeTitleDisplayMode: WireNamed, CaseIterable {
  package static let allCases: [LargeTitleDisplayMode] = [.automatic, .always, .never]
  package var wireName: StaticString {
    switch self {
    case .automatic: "automatic"
    case .always: "always"
    case .never: "never"
    }
  }
}

extension GuardPolicy: WireNamed, CaseIterable {
  package static let allCases: [GuardPolicy] = [.none, .removal, .all]
  package var wireName: StaticString {
    switch self {
    case .none: "none"
    case .removal: "removal"
    case .all: "all"
    }
  }
}

extension VetoScope: WireNamed, CaseIterable {
  package static let allCases: [VetoScope] = [.pushpop, .dismiss, .all]
  package var wireName: StaticString {
    switch self {
    case .pushpop: "pushpop"
    case .dismiss: "dismiss"
    case .all: "all"
    }
  }
}

extension Relation: WireNamed, CaseIterable {
  package static let allCases: [Relation] = [.same, .back, .new, .empty]
  package var wireName: StaticString {
    switch self {
    case .same: "same"
    case .back: "back"
    case .new: "new"
    case .empty: "empty"
    }
  }
}

/// The cause of a revision.
package enum Cause: UInt8, CaseIterable, Sendable, WireNamed {
  /// The causes, by their words on the wire.
  case api, segue, backButton, gesture, complete, cancel, timeout, restore, revert, open, lease,
    recovery, appearance

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

extension Edges {
  /// Each edge with its word, in the order in which the writer writes them.
  static let named: [(Edges, StaticString)] = [
    (.top, "top"), (.left, "left"), (.bottom, "bottom"), (.right, "right"),
  ]
}

extension HidingCause: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .tap: "tap"
    case .swipe: "swipe"
    case .keyboard: "keyboard"
    case .vCompact: "vCompact"
    }
  }
}

extension AppearanceSlot: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .standard: "standard"
    case .compact: "compact"
    case .scrollEdge: "scrollEdge"
    case .compactScrollEdge: "compactScrollEdge"
    }
  }
}

extension BarStyle: WireNamed {
  package var wireName: StaticString { self == .default ? "default" : "black" }
}

extension BarMetrics: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .default: "default"
    case .compact: "compact"
    case .defaultPrompt: "defaultPrompt"
    case .compactPrompt: "compactPrompt"
    }
  }
}

extension BarPosition: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .any: "any"
    case .bottom: "bottom"
    case .top: "top"
    case .topAttached: "topAttached"
    }
  }
}

extension Orientation: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .portrait: "portrait"
    case .portraitUpsideDown: "portraitUpsideDown"
    case .landscapeLeft: "landscapeLeft"
    case .landscapeRight: "landscapeRight"
    }
  }
}

extension RunningTransition.Kind: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .push: "push"
    case .pop: "pop"
    case .present: "present"
    case .dismiss: "dismiss"
    }
  }
}

extension TransitionOutcome: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .completed: "completed"
    case .cancelled: "cancelled"
    case .timedOut: "timedOut"
    }
  }
}

extension Animations: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .on: "on"
    case .off: "off"
    case .reduced: "reduced"
    }
  }
}

extension ContentSizeCategory: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .extraSmall: "extraSmall"
    case .small: "small"
    case .medium: "medium"
    case .large: "large"
    case .extraLarge: "extraLarge"
    case .extraExtraLarge: "extraExtraLarge"
    case .extraExtraExtraLarge: "extraExtraExtraLarge"
    case .accessibilityMedium: "accessibilityMedium"
    case .accessibilityLarge: "accessibilityLarge"
    case .accessibilityExtraLarge: "accessibilityExtraLarge"
    case .accessibilityExtraExtraLarge: "accessibilityExtraExtraLarge"
    case .accessibilityExtraExtraExtraLarge: "accessibilityExtraExtraExtraLarge"
    }
  }
}

extension AccessibilityMember: WireNamed {
  package var wireName: StaticString {
    switch self {
    case .label: "accessibilityLabel"
    case .hint: "accessibilityHint"
    case .identifier: "accessibilityIdentifier"
    case .language: "language"
    }
  }
}
