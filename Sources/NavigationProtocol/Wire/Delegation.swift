package import Navigation

/// A role that a session can play for a nav.
package enum DelegateRole: String, CaseIterable, Sendable {
  /// Is asked before a screen is pushed or popped, and may say no.
  case veto
  /// Is asked what animates a transition.
  case animator
  /// Is asked what drives an interactive transition.
  case interaction
  /// Is asked nothing: says at its registration which orientations there may be.
  case orientation
}

/// What a session wants to be asked about a nav.
package struct DelegateRegistration: Hashable, Sendable {
  /// The roles to play; none ends the registration.
  package var roles: Set<DelegateRole>
  /// The orientations to allow, for the role `orientation`.
  package var supportedOrientations: [String]
  /// The orientation to begin with; one of those to allow.
  package var preferredOrientation: String?

  /// Makes a value from its members.
  package init(
    roles: Set<DelegateRole>, supportedOrientations: [String] = [],
    preferredOrientation: String? = nil
  ) {
    self.roles = roles
    self.supportedOrientations = supportedOrientations
    self.preferredOrientation = preferredOrientation
  }
}

/// Names one question for ever: numbers begin anew with every session, the sessions count on.
package struct AskID: Hashable, Sendable {
  /// Which session of this client it was, 1 for the first.
  package let session: UInt64
  /// The daemon's number within the session.
  package let number: UInt64

  /// Makes a value from its members.
  package init(session: UInt64, number: UInt64) {
    self.session = session
    self.number = number
  }
}

/// A question to a delegate, as it came.
package struct Ask: Hashable, Sendable {
  /// The daemon's number within the session.
  package var number: UInt64
  /// The name of the nav.
  package var nav: String
  /// The life of the nav that the revision belongs to.
  package var epoch: Epoch
  /// The revision that is asked about: the state before the op.
  package var revision: Revision
  /// Milliseconds after which an answer is not listened to.
  package var within: UInt64
  /// What is asked.
  package var question: Question

  /// Makes a value from its members.
  package init(
    number: UInt64, nav: String, epoch: Epoch, revision: Revision, within: UInt64,
    question: Question
  ) {
    self.number = number
    self.nav = nav
    self.epoch = epoch
    self.revision = revision
    self.within = within
    self.question = question
  }
}

/// What a delegate can be asked.
package enum Question: Hashable, Sendable {
  /// May this screen be pushed? Answered with a truth value.
  case shouldPush(screen: String)
  /// May this screen be popped, for this cause? Answered with a truth value.
  case shouldPop(screen: String, cause: String)
  /// What animates this transition? Answered with `{animator,duration}` or null.
  case animatorFor(operation: String, from: String?, to: String?)
  /// What drives this animator? Answered with `{driver}` or null.
  case interactionFor(animator: String)
  /// Something that this version does not know, by its name; only its time-out can answer it.
  case unknown(String)

  /// Whether the answer lets an op happen or not; the daemon then tells the end of the round.
  package var isVeto: Bool {
    switch self {
    case .shouldPush, .shouldPop: true
    case .animatorFor, .interactionFor, .unknown: false
    }
  }
}

/// The end of a round of questions.
package struct Settlement: Hashable, Sendable {
  /// The number of the question within the session.
  package var number: UInt64
  /// `allowed`, `denied` or `timeout`.
  package var outcome: String
  /// The name of the client that decided it.
  package var by: String?

  /// Makes a value from its members.
  package init(number: UInt64, outcome: String, by: String?) {
    self.number = number
    self.outcome = outcome
    self.by = by
  }
}
