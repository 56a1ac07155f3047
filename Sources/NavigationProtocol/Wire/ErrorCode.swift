/// The error codes of the protocol, each with what a client may conclude from it.
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
  case noBackButton = "no-back-button"
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

  /// What happened to the state.
  package var effect: Effect {
    switch self {
    case .opTooOld, .internal: .unknown
    default: .nothing
    }
  }

  /// When the same wish may be sent again.
  package var retry: Retry {
    switch self {
    case .noSession, .moved, .delegateTimeout: .same
    case .leaseLost, .opTooOld, .internal, .desync, .notInStack: .resync
    case .busy, .frozen, .shuttingDown, .storage, .transitionInProgress, .queueFull: .later
    default: .no
    }
  }

  /// The exit status of a command that ends with this error.
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

/// Whether a refused message changed anything.
package enum Effect: String, Sendable {
  /// Nothing happened.
  case nothing = "none"
  /// Find out by resynchronising.
  case unknown
}

/// When a refused message may be sent again.
package enum Retry: String, Sendable {
  /// Never; the message itself is wrong.
  case no
  /// The same octets, once what the error says is mended.
  case same
  /// After resynchronising, as a new message.
  case resync
  /// The same octets, after a while.
  case later
}
