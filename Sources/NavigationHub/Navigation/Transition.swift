package import NavigationCore

/// The transition in flight; at most one.
package struct Transition: PartContent {
  /// The transition; nil when idle.
  package var running: RunningTransition?

  package init() {}
}

/// An animation or gesture between two screens.
package struct RunningTransition: Hashable, Sendable {
  /// The revision that began the transition, which also identifies it.
  package var id: Revision
  package var kind: Kind
  /// The screen that the transition hides; nil if there was none.
  package var from: ScreenID?
  /// The screen that the transition shows; nil if there is none.
  package var to: ScreenID?
  package var isInteractive = false
  /// The name of the client that began the gesture.
  package var owner: String?
  /// The name of the animator, from the animator delegate.
  package var animator: String?
  /// The name of the interaction driver, from the interaction delegate.
  package var driver: String?
  /// How long the animation takes, in milliseconds; nil if nobody gave a time.
  package var duration: UInt64?
  /// Whether the display asked for reduced animations: a fade, in `reducedDuration`.
  package var isReduced = false
  /// Milliseconds until navd ends the transition: from its beginning, or a gesture's last update.
  package var deadline: UInt64
  /// The change of the bar's visibility during the transition, undone if it is cancelled.
  package var barChange: BarChange?
  /// The events that a completion reports before the end; the journal has them, mirrors do not.
  package var completion: [NavigationEvent] = []

  /// UIKit's `UINavigationController.Operation`, and presentations.
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// Push and pop change the stack; present and dismiss change the chain.
    case push, pop, present, dismiss
  }

  /// The duration of a reduced animation, in milliseconds.
  package static let reducedDuration: UInt64 = 100
}

/// The answers of an animator delegate and of an interaction delegate for a transition.
package struct Animation: Hashable, Sendable {
  package var animator: String
  /// How long the animator takes, in milliseconds; nil if the delegate gave no time.
  package var duration: UInt64?
  /// The name of the interaction driver; nil without one.
  package var driver: String?
}

/// A change of the bar's visibility during a transition.
package struct BarChange: Hashable, Sendable {
  package var wasHidden: Bool
  package var isHidden: Bool
  package var isAnimated: Bool
  /// Whether it jumps: a change that is not animated inside an animated transition.
  package var isJump: Bool
  /// The automatic hiding that was in force before.
  package var hid: AutomaticHiding?
}

/// How a transition ended.
package enum TransitionOutcome: UInt8, CaseIterable, Sendable {
  /// The outcomes, by their names on the wire.
  case completed, cancelled, timedOut
}
