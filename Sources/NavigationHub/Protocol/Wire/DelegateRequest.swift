package import NavigationCore

/// The message `delegate`, which replaces the session's delegate roles for a nav.
package struct DelegateRequest: Hashable, Sendable {
  package var id: UInt64
  package var nav: String
  /// The new roles, instead of the earlier ones; an empty set ends them all.
  package var roles: Set<DelegateRole>
  /// The orientations that the role `orientation` supports.
  package var orientations: DelegateOrientations?
}

/// The value of an `answer` from a delegate.
package enum DelegateAnswer: Hashable, Sendable {
  /// Whether a screen may be pushed or popped.
  case verdict(Bool)
  /// The name of the animator for a transition, and its duration in milliseconds.
  case animator(String, duration: UInt64?)
  /// The name of the driver of an interactive transition.
  case driver(String)
  /// A value of another form, which counts as a timeout of a veto, or as no animator or no driver.
  case malformed
}

/// The message `lease`, which takes or gives back the display lease of a nav.
package struct LeaseRequest: Hashable, Sendable {
  package var id: UInt64
  package var nav: String
  package var action: LeaseAction
}
