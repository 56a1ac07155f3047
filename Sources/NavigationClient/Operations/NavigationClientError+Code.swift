// The codes of docs/protocol.md, §13, then those of this library.

extension NavigationClientError.Code {
  /// The daemon cannot read the frames of a message.
  public static let badFrame = Self(rawValue: "bad-frame")
  /// A message is no valid JSON.
  public static let badJSON = Self(rawValue: "bad-json")
  /// The daemon does not know the verb of a message.
  public static let badVerb = Self(rawValue: "bad-verb")
  /// Client and daemon have no version of the protocol in common.
  public static let version = Self(rawValue: "version")
  /// A message needs a session, and there is none.
  public static let noSession = Self(rawValue: "no-session")
  /// Another connection uses the identity of this client.
  public static let fenced = Self(rawValue: "fenced")
  /// The daemon does not know the operation or the feature.
  public static let unsupported = Self(rawValue: "unsupported")
  /// This client has no right to do that.
  public static let forbidden = Self(rawValue: "forbidden")
  /// Another client holds the display.
  public static let leaseLost = Self(rawValue: "lease-lost")
  /// Too many requests are under way, or a shard of a cluster has no owner.
  public static let busy = Self(rawValue: "busy")
  /// A message, a stack or a quota is at its limit.
  public static let limit = Self(rawValue: "limit")
  /// The time limit of the request has passed.
  public static let expired = Self(rawValue: "expired")
  /// The id of an operation was used for another one.
  public static let opReused = Self(rawValue: "op-reused")
  /// The daemon no longer remembers whether it performed the operations.
  public static let opTooOld = Self(rawValue: "op-too-old")
  /// There is no such nav.
  public static let noNav = Self(rawValue: "no-nav")
  /// The nav exists already.
  public static let navExists = Self(rawValue: "nav-exists")
  /// The nav is on another daemon.
  public static let moved = Self(rawValue: "moved")
  /// The nav can only be read, after a fault of the daemon.
  public static let frozen = Self(rawValue: "frozen")
  /// The daemon is stopping.
  public static let shuttingDown = Self(rawValue: "shutting-down")
  /// The daemon cannot write its journal.
  public static let storage = Self(rawValue: "storage")
  /// A fault of the daemon, which changed nothing.
  public static let `internal` = Self(rawValue: "internal")
  /// A guard does not hold, or the watch of its state is not in sync.
  public static let desync = Self(rawValue: "desync")
  /// A removal by position has no guard.
  public static let guardRequired = Self(rawValue: "guard-required")
  /// A transition is open.
  public static let transitionInProgress = Self(rawValue: "transition-in-progress")
  /// Too many operations are queued behind a transition.
  public static let queueFull = Self(rawValue: "queue-full")
  /// A delegate refused the change.
  public static let vetoed = Self(rawValue: "vetoed")
  /// A delegate did not answer in time, and the nav's setting `veto.policy` is `deny`.
  public static let delegateTimeout = Self(rawValue: "delegate-timeout")
  /// A controller manages this bar, so its items cannot be set.
  public static let barManaged = Self(rawValue: "bar-managed")
  /// The delegate of this bar cannot be set.
  public static let barDelegateManaged = Self(rawValue: "bar-delegate-managed")
  /// The member or nav cannot be changed.
  public static let readonly = Self(rawValue: "readonly")
  /// A screen is missing.
  public static let nilScreen = Self(rawValue: "nil-screen")
  /// The daemon does not know the screen, or no longer.
  public static let unknownScreen = Self(rawValue: "unknown-screen")
  /// The daemon does not know the item of a standalone bar.
  public static let unknownItem = Self(rawValue: "unknown-item")
  /// The daemon does not know the button, or it is not visible or not enabled.
  public static let unknownButton = Self(rawValue: "unknown-button")
  /// A screen of this kind cannot be on a stack.
  public static let forbiddenKind = Self(rawValue: "forbidden-kind")
  /// The screen is presented.
  public static let ownedElsewhere = Self(rawValue: "owned-elsewhere")
  /// The screen is on the stack already, or known with other contents.
  public static let duplicateScreen = Self(rawValue: "duplicate-screen")
  /// A list names a screen twice.
  public static let duplicateInSet = Self(rawValue: "duplicate-in-set")
  /// A button is in the list twice, or in use; or an item is on the bar already.
  public static let duplicateItem = Self(rawValue: "duplicate-item")
  /// A button would be on both sides of the bar.
  public static let itemBothSides = Self(rawValue: "item-both-sides")
  /// The screen is not on the stack.
  public static let notInStack = Self(rawValue: "not-in-stack")
  /// A presented screen covers the stack, so a person cannot pop.
  public static let covered = Self(rawValue: "covered")
  /// A person cannot swipe the presented screen away.
  public static let dismissBlocked = Self(rawValue: "dismiss-blocked")
  /// A person cannot pop the top screen, because its `canPop` is false.
  public static let popBlocked = Self(rawValue: "pop-blocked")
  /// The stack would be empty.
  public static let noRoot = Self(rawValue: "no-root")
  /// No back button is visible.
  public static let noBackButton = Self(rawValue: "no-back-button")
  /// The screen presents another one already.
  public static let alreadyPresenting = Self(rawValue: "already-presenting")
  /// The screen is on the stack or presented already.
  public static let alreadyActive = Self(rawValue: "already-active")
  /// No class of bars has this name.
  public static let classUnknown = Self(rawValue: "class-unknown")
  /// The class is of the wrong kind of bar.
  public static let classInvalid = Self(rawValue: "class-invalid")
  /// The gesture cannot begin.
  public static let gestureRefused = Self(rawValue: "gesture-refused")
  /// The gesture belongs to another client.
  public static let gestureOwner = Self(rawValue: "gesture-owner")
  /// An argument of the request is wrong.
  public static let invalidArgument = Self(rawValue: "invalid-argument")
  /// No template matches the route.
  public static let noRoute = Self(rawValue: "no-route")
  /// The daemon cannot restore the stack.
  public static let restoreFailed = Self(rawValue: "restore-failed")
  /// The history does not have the revision.
  public static let compacted = Self(rawValue: "compacted")
  /// Other roles or another lease of this client replaced these; from this library.
  public static let replaced = Self(rawValue: "replaced")
  /// The task was cancelled; from this library.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The client is closed, or the daemon ended its session; from this library.
  public static let closed = Self(rawValue: "closed")
  /// No daemon answers, or a guard is from a state before the connection was lost; from this library.
  public static let unreachable = Self(rawValue: "unreachable")
  /// This process is a child of the one that made a client; from this library.
  public static let forked = Self(rawValue: "forked")
}

extension NavigationClientError {
  static let forked = NavigationClientError(
    .forked, "a parent of this process has made a client; connect after the fork, or after exec")
}
