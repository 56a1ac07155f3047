import Navigation
import NavigationSync

/// Why the daemon, or this library on its behalf, did not do what was asked.
public struct NavigationClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What went wrong, as a word that programs understand; new ones may appear.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The word.
    public let rawValue: String

    /// Makes a code from its word.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// When the same wish may be uttered again.
  public enum Retry: Hashable, Sendable {
    /// Never: the wish itself is refused.
    case never
    /// At once, unchanged.
    case unchanged
    /// After looking at the newest state and deciding anew.
    case afterResynchronising
    /// Unchanged, after a while.
    case later
  }

  /// What went wrong.
  public var code: Code
  /// A closer word, such as which guard failed.
  public var reason: String?
  /// A sentence for people.
  public var message: String
  /// Whether it is not known if the operations were performed.
  public var mayHaveHappened = false
  /// When the same wish may be uttered again.
  public var retry = Retry.never
  /// The least wait before it, if the daemon says so.
  public var retryAfter: Duration?
  /// Which of the operations is to blame.
  public var index: Int?
  /// The nav's revision when it refused, if the nav exists and may be read.
  public var revision: UInt64?
  /// The id of the nav's top screen then; nil also for an empty stack.
  public var top: String?
  /// The number of screens then.
  public var depth: Int?
  /// Who changed the top last, of ``Code/desync``; nil if the daemon does not know it any more.
  public var topChange: TopChange?
  /// All that the daemon said, as JSON; empty if this library refused by itself.
  public var json = ""

  /// One line for people.
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
  /// A guard does not hold, or the mirror it is taken from is not known to be right.
  public static let desync = Self(rawValue: "desync")
  /// There is no such nav.
  public static let noNav = Self(rawValue: "no-nav")
  /// The nav exists already.
  public static let navExists = Self(rawValue: "nav-exists")
  /// A removal by position has no guard.
  public static let guardRequired = Self(rawValue: "guard-required")
  /// The screen is on the stack already.
  public static let duplicateScreen = Self(rawValue: "duplicate-screen")
  /// The screen is not on the stack.
  public static let notInStack = Self(rawValue: "not-in-stack")
  /// This process may not do that.
  public static let forbidden = Self(rawValue: "forbidden")
  /// Something in the request is not as it must be.
  public static let invalidArgument = Self(rawValue: "invalid-argument")
  /// A transition is under way.
  public static let transitionInProgress = Self(rawValue: "transition-in-progress")
  /// The time given for it has passed.
  public static let expired = Self(rawValue: "expired")
  /// The nav lives elsewhere now.
  public static let moved = Self(rawValue: "moved")
  /// The display lease is somebody else's.
  public static let leaseLost = Self(rawValue: "lease-lost")
  /// A delegate said no.
  public static let vetoed = Self(rawValue: "vetoed")
  /// A delegate did not answer in time, and the nav's policy is to deny.
  public static let delegateTimeout = Self(rawValue: "delegate-timeout")
  /// Too many operations wait for a transition already.
  public static let queueFull = Self(rawValue: "queue-full")
  /// Other roles or another lease of this client came instead; said by this library.
  public static let replaced = Self(rawValue: "replaced")
  /// The task was cancelled; said by this library.
  public static let cancelled = Self(rawValue: "cancelled")
  /// The client is closed, or the daemon wants none of it; said by this library.
  public static let closed = Self(rawValue: "closed")
  /// No daemon answers; said by this library.
  public static let unreachable = Self(rawValue: "unreachable")
}
