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
