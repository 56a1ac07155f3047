import Navigation

// What is under way between a nav and the sessions: none of it is state of the nav, all of it ends
// with the sessions or the daemon.

/// A session that something belongs to, as long as it lasts.
struct SessionRef: Hashable, Sendable {
  var slot: Int
  var client: ClientID
}

/// The sessions' part in one nav.
struct Coordination: Sendable {
  /// The delegates, in the order of their registration.
  var delegates: [RegisteredDelegate] = []
  /// The op that is put to delegates; stack and presentation are locked meanwhile.
  var question: DelegateQuestion?
  /// The ops that wait for a transition or question to end.
  var queue: [OpContext] = []
  /// Who holds the display.
  var holder: SessionRef?
  /// Who holds the display, for the log; kept until the journal has taken its end.
  var owner: Author?
  /// Whose gesture is open; nil for one that was begun without a session.
  var gesture: SessionRef?
  /// When the transition in flight is ended by the daemon.
  var due: UInt64?
  /// The name and number by which registrations are told apart.
  var lastOrder = 0

  var isEmpty: Bool {
    delegates.isEmpty && question == nil && queue.isEmpty && holder == nil && owner == nil
      && gesture == nil && due == nil
  }
}

/// What a delegate is asked for.
package struct DelegateRoles: OptionSet, Hashable, Sendable {
  /// The bits.
  package let rawValue: UInt8

  /// Makes a value from its members.
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Whether screens may come and go.
  package static let veto = DelegateRoles(rawValue: 1)
  /// How a transition is animated.
  package static let animator = DelegateRoles(rawValue: 2)
  /// What drives an animated transition.
  package static let interaction = DelegateRoles(rawValue: 4)
  /// Which orientations are supported; a value, not a question.
  package static let orientation = DelegateRoles(rawValue: 8)

  /// The roles by their names on the wire.
  package static let named: [(name: String, role: DelegateRoles)] = [
    ("veto", .veto), ("animator", .animator), ("interaction", .interaction),
    ("orientation", .orientation),
  ]
}

/// One session's roles for one nav.
struct RegisteredDelegate: Sendable {
  var session: SessionRef
  /// Who it is, for the log.
  var author: Author
  var roles: DelegateRoles
  var orientations: DelegateOrientations?
  /// Registrations have increasing numbers.
  var order: Int
}

/// An op on its way past the delegates.
struct DelegateQuestion: Sendable {
  /// What the delegates are asked, one after the other.
  enum Phase: Sendable { case veto, animator, interaction }

  /// A screen that comes or goes.
  struct Subject: Sendable {
    var screen: ScreenID
    var isPop: Bool
  }

  /// An ask that is not answered yet.
  struct Pending: Sendable {
    var session: SessionRef
    var ask: UInt64
  }

  var op: OpContext
  var subjects: [Subject]
  /// What would lead to the revision.
  var cause: Cause
  var phase = Phase.veto
  /// The subject at hand, and the last delegate asked about it.
  var subject = 0
  var lastOrder = -1
  var pending: Pending?
  /// Everybody asked in this phase, to be told its end.
  var asked: [Pending] = []
  /// When silence is an answer.
  var deadline: UInt64
  var animation: Animation?
  /// Whether a silence that allows was taken for an answer.
  var isVetoSkipped = false
}
