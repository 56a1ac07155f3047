// Written from the table of error codes in NavigationCore; see GeneratedTests.

extension NavigationClientError {
  /// The code of an error.
  ///
  /// A newer daemon can send others than those that have a name here.
  public struct Code: RawRepresentable, Hashable, Sendable,
    CustomStringConvertible
  {
    /// The word of the protocol.
    public let rawValue: String

    /// Makes a value from its word in the protocol.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }

    /// navd could not read the frames of a message.
    public static let badFrame = Self(rawValue: "bad-frame")
    /// navd could not read the JSON of a message.
    public static let badJSON = Self(rawValue: "bad-json")
    /// navd does not know the verb of a message.
    public static let badVerb = Self(rawValue: "bad-verb")
    /// The client and navd have no version of the protocol in common.
    public static let version = Self(rawValue: "version")
    /// The message needs a session, and the connection has none.
    public static let noSession = Self(rawValue: "no-session")
    /// Another process has taken over this client's identity.
    public static let fenced = Self(rawValue: "fenced")
    /// This navd does not know the operation.
    public static let unsupported = Self(rawValue: "unsupported")
    /// The user or the key may not do this.
    public static let forbidden = Self(rawValue: "forbidden")
    /// Another session holds the display of the nav.
    public static let leaseLost = Self(rawValue: "lease-lost")
    /// navd has too many requests of this kind at once.
    public static let busy = Self(rawValue: "busy")
    /// The request exceeds a limit of navd.
    public static let limit = Self(rawValue: "limit")
    /// navd did not begin the change within the time that the client gave it.
    public static let expired = Self(rawValue: "expired")
    /// The client used the id of an earlier operation for a different one.
    public static let opReused = Self(rawValue: "op-reused")
    /// navd may have performed the operation, and no longer has its result.
    public static let opTooOld = Self(rawValue: "op-too-old")
    /// There is no nav of this name.
    public static let noNav = Self(rawValue: "no-nav")
    /// There is a nav of this name already.
    public static let navExists = Self(rawValue: "nav-exists")
    /// Another daemon of the cluster has the nav.
    public static let moved = Self(rawValue: "moved")
    /// The nav can be read and closed, but not changed.
    public static let frozen = Self(rawValue: "frozen")
    /// navd is stopping.
    public static let shuttingDown = Self(rawValue: "shutting-down")
    /// navd cannot write or read its journal.
    public static let storage = Self(rawValue: "storage")
    /// navd found a fault of its own, and did not make the change.
    public static let `internal` = Self(rawValue: "internal")
    /// The nav is not in the state that the command expects.
    public static let desync = Self(rawValue: "desync")
    /// The command removes something, and has no condition about the state.
    public static let guardRequired = Self(rawValue: "guard-required")
    /// A transition, a gesture or a question to a delegate is open.
    public static let transitionInProgress = Self(rawValue: "transition-in-progress")
    /// Too many operations are queued behind a transition.
    public static let queueFull = Self(rawValue: "queue-full")
    /// A delegate of the nav refused the change.
    public static let vetoed = Self(rawValue: "vetoed")
    /// No delegate answered in time, and the settings then refuse the change.
    public static let delegateTimeout = Self(rawValue: "delegate-timeout")
    /// The items of this bar follow from the screens of the stack.
    public static let barManaged = Self(rawValue: "bar-managed")
    /// The delegate of this bar cannot be set.
    public static let barDelegateManaged = Self(rawValue: "bar-delegate-managed")
    /// The value cannot be set.
    public static let readonly = Self(rawValue: "readonly")
    /// The operation needs a screen and has none.
    public static let nilScreen = Self(rawValue: "nil-screen")
    /// The nav knows no screen with this id.
    public static let unknownScreen = Self(rawValue: "unknown-screen")
    /// The standalone bar knows no item with this id.
    public static let unknownItem = Self(rawValue: "unknown-item")
    /// The nav knows no button with this id, or does not show it.
    public static let unknownButton = Self(rawValue: "unknown-button")
    /// A screen of this kind cannot stand on a stack.
    public static let forbiddenKind = Self(rawValue: "forbidden-kind")
    /// The screen is presented, so it cannot stand on the stack too.
    public static let ownedElsewhere = Self(rawValue: "owned-elsewhere")
    /// The screen is on the stack already, or known with other contents.
    public static let duplicateScreen = Self(rawValue: "duplicate-screen")
    /// A screen is named twice in a new stack or a removal.
    public static let duplicateInSet = Self(rawValue: "duplicate-in-set")
    /// A button or an item is named twice, or is in use already.
    public static let duplicateItem = Self(rawValue: "duplicate-item")
    /// A button would stand on both sides of the bar.
    public static let itemBothSides = Self(rawValue: "item-both-sides")
    /// The screen is not on the stack.
    public static let notInStack = Self(rawValue: "not-in-stack")
    /// No screen would be left on the stack.
    public static let noRoot = Self(rawValue: "no-root")
    /// A presented screen covers the stack.
    public static let covered = Self(rawValue: "covered")
    /// The bar shows no back button.
    public static let noBackButton = Self(rawValue: "no-back-button")
    /// A screen does not let a person pop it.
    public static let popBlocked = Self(rawValue: "pop-blocked")
    /// A person cannot swipe the presented screen away.
    public static let dismissBlocked = Self(rawValue: "dismiss-blocked")
    /// The screen presents another one already.
    public static let alreadyPresenting = Self(rawValue: "already-presenting")
    /// The screen is on the stack or presented already.
    public static let alreadyActive = Self(rawValue: "already-active")
    /// The configuration declares no bar class of this name.
    public static let classUnknown = Self(rawValue: "class-unknown")
    /// The class has the wrong base for this use.
    public static let classInvalid = Self(rawValue: "class-invalid")
    /// A swipe back cannot begin now.
    public static let gestureRefused = Self(rawValue: "gesture-refused")
    /// Another session began the gesture.
    public static let gestureOwner = Self(rawValue: "gesture-owner")
    /// An argument of the operation is wrong.
    public static let invalidArgument = Self(rawValue: "invalid-argument")
    /// No template of the nav matches the route.
    public static let noRoute = Self(rawValue: "no-route")
    /// The saved or earlier stack cannot be restored.
    public static let restoreFailed = Self(rawValue: "restore-failed")
    /// The revision cannot be read.
    public static let compacted = Self(rawValue: "compacted")
  }
}
