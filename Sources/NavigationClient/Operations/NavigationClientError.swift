import NavigationCore

/// An error of a request: the daemon refused it, or this library could not complete it.
public struct NavigationClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code of an error; later versions can add further codes.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as text.
    public let rawValue: String

    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }
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
  /// A more precise word, such as the name of the failed guard.
  public var reason: String?
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
  /// The last change of the top screen, for ``Code/desync``; nil if it is no longer in memory.
  public var topChange: TopChange?
  /// The whole `err` message as JSON; empty if this library made the error.
  public var json = ""

  /// The error in one line.
  public var description: String {
    let closer = reason.map { " (\($0))" } ?? ""
    return "\(code.rawValue)\(closer): \(message)"
  }

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  init(_ refusal: ErrReply) {
    code = Code(rawValue: refusal.code)
    message = refusal.message
    reason = refusal.reason
    mayHaveHappened = refusal.effect != "none"
    retry =
      switch refusal.retryPolicy {
      case .no: .never
      case .same: .unchanged
      case .resync: .afterResynchronising
      case .later: .later
      }
    retryAfter = refusal.after.map { .milliseconds(Int64(clamping: $0)) }
    index = refusal.index.map { Int(clamping: $0) }
    revision = refusal.revision?.number
    top = refusal.top ?? nil
    depth = refusal.depth.map { Int(clamping: $0) }
    topChange = refusal.since.map { TopChange($0) }
    json = String(decoding: refusal.body.bytes, as: UTF8.self)
  }
}

extension NavigationClientError.Code {
  /// A guard does not hold, or the mirror of its state is out of sync.
  public static let desync = Self(rawValue: "desync")
  /// There is no such nav.
  public static let noNav = Self(rawValue: "no-nav")
  /// The nav exists already.
  public static let navExists = Self(rawValue: "nav-exists")
  /// A removal by position has no guard.
  public static let guardRequired = Self(rawValue: "guard-required")
  /// The screen is on the stack already, or known with other contents.
  public static let duplicateScreen = Self(rawValue: "duplicate-screen")
  /// The screen is not on the stack.
  public static let notInStack = Self(rawValue: "not-in-stack")
  /// This client has no right to do that.
  public static let forbidden = Self(rawValue: "forbidden")
  /// An argument of the request is wrong.
  public static let invalidArgument = Self(rawValue: "invalid-argument")
  /// A transition is open.
  public static let transitionInProgress = Self(rawValue: "transition-in-progress")
  /// The time limit of the request has passed.
  public static let expired = Self(rawValue: "expired")
  /// The nav is on another daemon.
  public static let moved = Self(rawValue: "moved")
  /// Another client holds the display.
  public static let leaseLost = Self(rawValue: "lease-lost")
  /// A delegate refused the change.
  public static let vetoed = Self(rawValue: "vetoed")
  /// A delegate did not answer in time, and the nav's setting `veto.policy` is `deny`.
  public static let delegateTimeout = Self(rawValue: "delegate-timeout")
  /// Too many operations are queued behind a transition.
  public static let queueFull = Self(rawValue: "queue-full")
  /// Other roles or another lease of this client replaced these; from this library.
  public static let replaced = Self(rawValue: "replaced")
  /// The task was cancelled; from this library.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The client is closed, or the daemon ended its session; from this library.
  public static let closed = Self(rawValue: "closed")
  /// No daemon answers; from this library.
  public static let unreachable = Self(rawValue: "unreachable")
}
