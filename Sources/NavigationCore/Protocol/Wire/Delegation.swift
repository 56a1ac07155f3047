/// A delegate role that a session can have for a nav.
package enum DelegateRole: String, CaseIterable, Sendable {
  /// The daemon asks this delegate before it pushes or pops a screen; the answer false refuses the
  /// op.
  case veto
  /// The daemon asks this delegate for the animator of a transition.
  case animator
  /// The daemon asks this delegate for the driver of an interactive transition.
  case interaction
  /// The daemon asks no questions; the registration lists the supported orientations.
  case orientation
}

/// The delegate roles that a session asks for, for one nav.
package struct DelegateRegistration: Hashable, Sendable {
  /// The session's roles for the nav from now on; an empty set ends the registration.
  package var roles: Set<DelegateRole>
  /// The supported orientations, for the role `orientation`.
  package var supportedOrientations: [String]
  /// The orientation to begin with, one of the supported ones; nil for none.
  package var preferredOrientation: String?

  package init(
    roles: Set<DelegateRole>, supportedOrientations: [String] = [],
    preferredOrientation: String? = nil
  ) {
    self.roles = roles
    self.supportedOrientations = supportedOrientations
    self.preferredOrientation = preferredOrientation
  }
}

/// The identity of a question, unique during the run of a client.
///
/// The daemon's numbers restart in each session, so the number of the session is part of the
/// identity.
package struct AskID: Hashable, Sendable {
  /// The number of the client's session, 1 for the first.
  package let session: UInt64
  /// The daemon's number of the question within the session.
  package let number: UInt64

  package init(session: UInt64, number: UInt64) {
    self.session = session
    self.number = number
  }
}

/// A question that the daemon sent to a delegate, the message `ask`.
package struct Ask: Hashable, Sendable {
  /// The daemon's number of the question within the session.
  package var number: UInt64
  package var nav: String
  package var epoch: Epoch
  /// The revision of the nav before the op that the question concerns.
  package var revision: Revision
  /// The time limit for the answer in milliseconds; the daemon ignores later answers.
  package var withinMilliseconds: UInt64
  package var question: Question
}

/// The questions that the daemon asks delegates.
package enum Question: Hashable, Sendable {
  /// Asks whether the daemon may push the screen; the answer is `true` or `false`.
  case shouldPush(screen: String)
  /// Asks whether the daemon may pop the screen; the answer is `true` or `false`.
  case shouldPop(screen: String, cause: String)
  /// Asks whether the daemon may dismiss the screen; the answer is `true` or `false`.
  case shouldDismiss(screen: String, cause: String)
  /// Asks for the animator of a transition; the answer is `{animator,duration}`, or null for none.
  case animatorFor(operation: String, from: String?, to: String?)
  /// Asks for the driver of an interactive transition; the answer is `{driver}`, or null for none.
  case interactionFor(animator: String)
  /// A question with a name that this client does not know; the client lets it time out.
  case unknown(String)

  /// Whether the daemon asks the question as a vote of several delegates, and then sends `settled`.
  package var isVeto: Bool {
    switch self {
    case .shouldPush, .shouldPop, .shouldDismiss: true
    case .animatorFor, .interactionFor, .unknown: false
    }
  }

  /// The question's name on the wire and its members, in the order in which they are written.
  package var wireForm: (name: String, members: [(name: String, text: String?)]) {
    switch self {
    case .shouldPush(let screen): ("shouldPush", [("screen", screen)])
    case .shouldPop(let screen, let cause): ("shouldPop", [("screen", screen), ("cause", cause)])
    case .shouldDismiss(let screen, let cause):
      ("shouldDismiss", [("screen", screen), ("cause", cause)])
    case .animatorFor(let operation, let from, let to):
      ("animatorFor", [("op", operation), ("from", from), ("to", to)])
    case .interactionFor(let animator): ("interactionFor", [("animator", animator)])
    case .unknown(let name): (name, [])
    }
  }
}

/// The result of a question to all veto delegates of a nav, the message `settled`.
package struct VetoSettlement: Hashable, Sendable {
  /// The number of the delegate's question within the session.
  package var number: UInt64
  /// The result: `allowed`, `denied` or `timeout`.
  package var outcome: String
  /// The name of the client whose answer denied the op; nil for other outcomes.
  package var deniedBy: String?
}

/// The loss of a nav's display lease or of a session's delegate roles, the message `lost`.
package struct LeaseOrRoleLoss: Hashable, Sendable {
  package var nav: String
  /// The lost right: `lease` for the display lease, `delegate` for the delegate roles.
  package var lost: String
  /// The code of the reason: `lease-lost`, `forbidden` or `no-nav`.
  package var code: String
  package var message: String
}

/// The action of a message `lease`, which concerns the display lease of a nav.
package enum LeaseAction: Hashable, Sendable {
  /// Take the lease if no other session holds it.
  case take
  /// Take the lease even if another session holds it; needs the right `admin`.
  case force
  /// Release the lease.
  case release
}
