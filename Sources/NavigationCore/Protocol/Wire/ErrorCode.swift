/// The error codes of the protocol, each with its effect, retry rule and exit status.
package enum ErrorCode: String, CaseIterable, Sendable {
  // In the order of the protocol's table; the names say what they mean.
  // swift-format-ignore: BeginDocumentationCommentWithOneLineSummary
  /// The codes, as they stand on the wire.
  case badFrame = "bad-frame"
  case badJSON = "bad-json"
  case badVerb = "bad-verb"
  case version
  case noSession = "no-session"
  case fenced
  case unsupported
  case forbidden
  case leaseLost = "lease-lost"
  case busy
  case limit
  case expired
  case opReused = "op-reused"
  case opTooOld = "op-too-old"
  case noNav = "no-nav"
  case navExists = "nav-exists"
  case moved
  case frozen
  case shuttingDown = "shutting-down"
  case storage
  case `internal`
  case desync
  case guardRequired = "guard-required"
  case transitionInProgress = "transition-in-progress"
  case queueFull = "queue-full"
  case vetoed
  case delegateTimeout = "delegate-timeout"
  case barManaged = "bar-managed"
  case barDelegateManaged = "bar-delegate-managed"
  case readonly
  case nilScreen = "nil-screen"
  case unknownScreen = "unknown-screen"
  case unknownItem = "unknown-item"
  case unknownButton = "unknown-button"
  case forbiddenKind = "forbidden-kind"
  case ownedElsewhere = "owned-elsewhere"
  case duplicateScreen = "duplicate-screen"
  case duplicateInSet = "duplicate-in-set"
  case duplicateItem = "duplicate-item"
  case itemBothSides = "item-both-sides"
  case notInStack = "not-in-stack"
  case noRoot = "no-root"
  case covered
  case noBackButton = "no-back-button"
  case popBlocked = "pop-blocked"
  case dismissBlocked = "dismiss-blocked"
  case alreadyPresenting = "already-presenting"
  case alreadyActive = "already-active"
  case classUnknown = "class-unknown"
  case classInvalid = "class-invalid"
  case gestureRefused = "gesture-refused"
  case gestureOwner = "gesture-owner"
  case invalidArgument = "invalid-argument"
  case noRoute = "no-route"
  case restoreFailed = "restore-failed"
  case compacted

  /// What the refused message did to the state.
  package var effect: Effect { self == .opTooOld ? .unknown : .nothing }

  /// Whether and when the client may send the request again.
  package var retry: Retry {
    switch self {
    case .noSession, .moved, .delegateTimeout: .same
    case .leaseLost, .opTooOld, .internal, .desync, .notInStack, .covered: .resync
    case .busy, .frozen, .shuttingDown, .storage, .transitionInProgress, .queueFull: .later
    default: .no
    }
  }

  /// The exit status of navctl when it ends with this error.
  package var exitStatus: Int32 {
    switch self {
    case .unsupported, .opReused, .guardRequired, .nilScreen, .classUnknown, .classInvalid,
      .invalidArgument:
      2
    case .desync, .opTooOld: 3
    case .busy, .expired, .shuttingDown, .transitionInProgress, .queueFull, .delegateTimeout: 4
    case .fenced, .forbidden, .leaseLost, .gestureOwner: 5
    case .noNav, .unknownScreen, .unknownItem, .unknownButton, .notInStack, .noRoute, .compacted: 6
    case .badFrame, .badJSON, .badVerb, .version, .noSession, .moved: 7
    case .frozen, .storage, .internal: 8
    default: 1
    }
  }
}

/// What a refused message did to the state of the nav.
package enum Effect: String, Sendable {
  /// It changed nothing.
  case nothing = "none"
  /// The daemon does not know; the client must resynchronise to find out.
  case unknown
}

/// Whether and when a client may send a refused message again.
package enum Retry: String, Sendable {
  /// Never: the message itself is wrong.
  case no
  /// Send the same bytes again after correcting what the error names.
  case same
  /// Send a new message after resynchronising.
  case resync
  /// Send the same bytes again later.
  case later
}
