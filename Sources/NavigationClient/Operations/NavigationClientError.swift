import NavigationCore

/// An error of a request: the daemon refused it, or this library could not complete it.
public struct NavigationClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason of an error; later versions can add further reasons.
  public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The reason as text.
    public let rawValue: String

    /// Makes a reason from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }
  }

  /// Whether and when a program should repeat the request.
  public enum Retry: Hashable, Sendable {
    /// Never: the request itself is refused.
    case never
    /// Unchanged, when the cause is removed.
    case unchanged
    /// After reading the newest state and deciding anew.
    case afterResynchronising
    /// Unchanged, some time later.
    case later
  }

  /// The code.
  public var code: Code
  /// The reason of a code that has several, such as the failed guard of ``Code/desync``.
  public var reason: Reason?
  /// A sentence for logs and users.
  public var message: String
  /// Whether the daemon may have performed the operations.
  public var mayHaveHappened = false
  /// Whether and when a program should repeat the request.
  public var retry = Retry.never
  /// The minimum wait before a repetition; nil if the daemon sent none.
  public var retryAfter: Duration?
  /// The index of the operation that caused the error.
  public var index: Int?
  /// The revision of the nav at the error; nil if this client cannot read the nav.
  public var revision: UInt64?
  /// The id of the top screen at the error; nil also for an empty stack.
  public var top: String?
  /// The number of screens at the error.
  public var depth: Int?
  /// The last change of the top screen, for ``Code/desync``; nil if the daemon no longer has it.
  public var topChange: TopChange?
  /// The whole `err` message as JSON; empty if this library made the error.
  public var json = ""

  /// The error in one line.
  public var description: String {
    let closer = reason.map { " (\($0.rawValue))" } ?? ""
    return "\(code.rawValue)\(closer): \(message)"
  }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ refusal: ErrReply) {
    code = Code(rawValue: refusal.code)
    message = refusal.message
    reason = refusal.reason.map { Reason(rawValue: $0) }
    mayHaveHappened = refusal.effect != "none"
    retry =
      switch refusal.retryPolicy {
      case .no: .never
      case .sameAfterCorrection: .unchanged
      case .resync: .afterResynchronising
      case .later: .later
      }
    retryAfter = refusal.after.map { .milliseconds(Int64(clamping: $0)) }
    index = refusal.index.map { Int(clamping: $0) }
    revision = refusal.revision?.number
    top = refusal.top ?? nil
    depth = refusal.depth.map { Int(clamping: $0) }
    topChange = refusal.topChange.map { TopChange($0) }
    json = String(decoding: refusal.body.bytes, as: UTF8.self)
  }
}

// The codes of this library; `generated` has those of docs/protocol.md, §13.

extension NavigationClientError.Code {
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

extension NavigationClientError.Reason {
  /// Guard: the nav has another epoch: it was created again, or a crash or a restore may have set it back.
  public static let epoch = Self(rawValue: "epoch")
  /// Guard: the nav has another revision.
  public static let revision = Self(rawValue: "rev")
  /// Guard: the nav has another digest.
  public static let digest = Self(rawValue: "digest")
  /// Guard: another screen is on top.
  public static let top = Self(rawValue: "top")
  /// Guard or limit: the stack has another number of screens than the guard, or too many.
  public static let depth = Self(rawValue: "depth")
  /// Guard: other screens are on the stack.
  public static let stack = Self(rawValue: "stack")
  /// Guard: a screen is not on the stack.
  public static let has = Self(rawValue: "has")
  /// Guard: another screen is visible.
  public static let visible = Self(rawValue: "visible")
  /// Guard: the watch of the state is not in sync; from this library.
  public static let mirror = Self(rawValue: "mirror")
  /// Limit: a message or value is too large.
  public static let size = Self(rawValue: "size")
  /// Limit: the daemon has too many navs, or this client has too many sessions or watches.
  public static let quota = Self(rawValue: "quota")
  /// Busy: no daemon of the cluster has the nav at the moment.
  public static let noOwner = Self(rawValue: "no-owner")
  /// Gesture: another one, or a transition, is open.
  public static let gestureOrTransitionActive = Self(rawValue: "active")
  /// Gesture: a presented screen covers the stack.
  public static let covered = Self(rawValue: "covered")
  /// Gesture: the setting `interactivePop` forbids it; button: it is not enabled.
  public static let disabled = Self(rawValue: "disabled")
  /// Gesture: the root screen is on top.
  public static let root = Self(rawValue: "root")
  /// Gesture: no back button is visible.
  public static let backButton = Self(rawValue: "backButton")
  /// Gesture: `canPop` of the top screen is false.
  public static let blocked = Self(rawValue: "blocked")
  /// Gesture: it goes in the wrong direction.
  public static let direction = Self(rawValue: "direction")
  /// Dismissal: the screen is modal.
  public static let modalInPresentation = Self(rawValue: "modalInPresentation")
  /// Dismissal: presentations of this style cannot be swiped down.
  public static let presentationStyle = Self(rawValue: "style")
  /// Button: it is not among those of the top screen.
  public static let notDisplayed = Self(rawValue: "notDisplayed")
}

extension NavigationClientError {
  /// The last revision that changed the top screen of a nav, which explains a refused guard.
  public struct TopChange: Hashable, Sendable {
    /// The number of the revision that changed the top.
    public var revision: UInt64
    /// The time of the commit, in milliseconds since 1970 by the daemon's clock.
    public var millisecondsSince1970: UInt64
    /// The cause.
    public var cause: NavigationCause
    /// The client that made the change; nil if the daemon made it by itself.
    public var author: Author?
    /// The id of the former top screen, if the change removed it from the stack.
    public var popped: String?
    /// The id of the former top screen, if the change put others above it.
    public var covered: String?

    /// The age of the change; zero if the daemon's clock is ahead.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: the time since then.
    public func age(at now: UInt64) -> Duration {
      .milliseconds(Int64(clamping: now - min(now, millisecondsSince1970)))
    }
  }

  /// A client that changed a nav.
  public struct Author: Hashable, Sendable {
    /// The name that the client gave itself.
    public var name: String
    /// The authenticated identity: `uid:N` for a user, or the name of a key.
    public var principal: String
    /// The id of its process at that time; nil over a network.
    public var process: Int?
  }
}

extension NavigationClientError.TopChange {
  init(_ since: ErrReply.TopChange) {
    revision = since.revision.number
    millisecondsSince1970 = since.time
    cause = NavigationCause(rawValue: since.cause)
    author = since.author.map { author in
      NavigationClientError.Author(
        name: author.name, principal: author.principal,
        process: author.process.flatMap { Int(exactly: $0) })
    }
    popped = since.popped
    covered = since.covered
  }
}
