import NavigationCore

/// An error of a request: the daemon refused it, or this library could not complete it.
public struct NavigationClientError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The code of an error; later versions can add further codes.
  public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The code as text.
    public let rawValue: String

    /// Makes a code from its text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of ``rawValue``.
    public var description: String { rawValue }
  }

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
  /// The last change of the top screen, for ``Code/desync``; nil if it is no longer in memory.
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
