/// The transition in flight; at most one.
package struct Transition: PartContent {
  /// The transition; nil when idle.
  package var running: RunningTransition?

  /// Makes the idle transition.
  package init() {}
}

/// An animation or gesture between two screens.
package struct RunningTransition: Hashable, Sendable {
  /// The revision that began it, which names it.
  package var id: Revision
  /// What it shows.
  package var kind: Kind
  /// The screen that goes; nil if there was none.
  package var from: ScreenID?
  /// The screen that comes; nil if there is none.
  package var to: ScreenID?
  /// Whether a gesture drives it.
  package var isInteractive = false
  /// The name of the client whose gesture it is.
  package var owner: String?
  /// The delegate's animator.
  package var animator: String?
  /// The delegate's interaction driver.
  package var driver: String?
  /// How long the animator takes, in milliseconds.
  package var duration: UInt64?
  /// Milliseconds from its beginning until it is ended; of a gesture, from its last sign of life.
  package var deadline: UInt64
  /// A change of the bar's visibility that belongs to it, and is taken back if it is cancelled.
  package var barChange: BarChange?
  /// What its completion tells beside its end; kept in the journal, not mirrored.
  package var completion: [NavigationEvent] = []

  /// UIKit's `UINavigationController.Operation`, and presentations.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// What the transition does.
    case push, pop, present, dismiss
  }

  /// Makes a transition.
  package init(id: Revision, kind: Kind, from: ScreenID?, to: ScreenID?, deadline: UInt64) {
    self.id = id
    self.kind = kind
    self.from = from
    self.to = to
    self.deadline = deadline
  }
}

/// What an animator delegate, and an interaction delegate behind it, said of a transition.
package struct Animation: Hashable, Sendable {
  /// The name of the animator.
  package var animator: String
  /// How long it takes, in milliseconds.
  package var duration: UInt64?
  /// The name of what drives it.
  package var driver: String?

  /// Makes a value from its members.
  package init(animator: String, duration: UInt64?, driver: String? = nil) {
    self.animator = animator
    self.duration = duration
    self.driver = driver
  }
}

/// A change of the bar's visibility during a transition.
package struct BarChange: Hashable, Sendable {
  /// Whether the bar was hidden before.
  package var wasHidden: Bool
  /// Whether it is hidden now.
  package var isHidden: Bool
  /// Whether the change is animated.
  package var isAnimated: Bool
  /// Whether it jumps: a change that is not animated inside an animated transition.
  package var isJump: Bool
  /// What had hidden the bar by itself before.
  package var hid: AutomaticHiding?

  /// Makes a value from its members.
  package init(
    wasHidden: Bool, isHidden: Bool, isAnimated: Bool, isJump: Bool, hid: AutomaticHiding? = nil
  ) {
    self.wasHidden = wasHidden
    self.isHidden = isHidden
    self.isAnimated = isAnimated
    self.isJump = isJump
    self.hid = hid
  }
}

/// How a transition ended.
package enum TransitionOutcome: UInt8, CaseIterable, Sendable {
  /// The outcomes, by their names on the wire.
  case completed, cancelled, timedOut
}
