/// A delegate role that a session can have for a nav.
package enum DelegateRole: String, CaseIterable, Sendable {
  /// The daemon asks this delegate before it pushes or pops a screen; the answer false refuses the
  /// op.
  case veto
  /// The daemon asks this delegate for the animator of a transition.
  case animator
  /// The daemon asks this delegate for the driver of an interactive transition.
  case interaction
  /// The daemon asks nothing; the registration lists the supported orientations.
  case orientation
}

/// The delegate roles that a session asks for, for one nav.
package struct DelegateRegistration: Hashable, Sendable {
  /// The roles to have from now on; an empty set ends the registration.
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

/// The identity of a question, unique in the life of a client.
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

/// A question to a delegate, as received.
package struct Ask: Hashable, Sendable {
  /// The daemon's number of the question within the session.
  package var number: UInt64
  package var nav: String
  package var epoch: Epoch
  /// The revision of the state before the op that the question is about.
  package var revision: Revision
  /// Milliseconds from the question on; the daemon ignores later answers.
  package var withinMilliseconds: UInt64
  package var question: Question
}

/// The questions that the daemon asks delegates.
package enum Question: Hashable, Sendable {
  /// Whether this screen may be pushed; the answer is `true` or `false`.
  case shouldPush(screen: String)
  /// Whether this screen may be popped, and the cause of the pop; the answer is `true` or `false`.
  case shouldPop(screen: String, cause: String)
  /// Whether this screen may be dismissed, and the cause; the answer is `true` or `false`.
  case shouldDismiss(screen: String, cause: String)
  /// The animator for a transition; the answer is `{animator,duration}`, or null for none.
  case animatorFor(operation: String, from: String?, to: String?)
  /// The driver for this animator; the answer is `{driver}`, or null for none.
  case interactionFor(animator: String)
  /// A question that this version does not know, by its name; the client lets it time out.
  case unknown(String)

  /// Whether the question is one of a veto round, whose end the daemon reports with `settled`.
  package var isVeto: Bool {
    switch self {
    case .shouldPush, .shouldPop, .shouldDismiss: true
    case .animatorFor, .interactionFor, .unknown: false
    }
  }

  /// The name on the wire, and the members in the order of writing.
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

/// The end of a veto round, the message `settled`.
package struct VetoSettlement: Hashable, Sendable {
  /// The number of the delegate's question within the session.
  package var number: UInt64
  /// `allowed`, `denied` or `timeout`.
  package var outcome: String
  /// The name of the client whose answer denied the op; nil for other outcomes.
  package var deniedBy: String?
}

/// The loss of a nav's display lease or of a session's delegate roles, the message `lost`.
package struct LeaseOrRoleLoss: Hashable, Sendable {
  package var nav: String
  /// `lease` for the display lease, `delegate` for the delegate roles.
  package var lost: String
  /// The code of the reason: `lease-lost`, `forbidden` or `no-nav`.
  package var code: String
  package var message: String
}

/// How a client takes the display lease of a nav, takes it from another session, or gives it back.
package enum LeaseAction: Hashable, Sendable {
  /// Take the lease if no other session holds it.
  case take
  /// Take the lease even if another session holds it; needs the right `admin`.
  case force
  /// Give the lease back.
  case release
}
