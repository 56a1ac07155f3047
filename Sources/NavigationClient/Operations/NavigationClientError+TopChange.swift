import NavigationCore

extension NavigationClientError {
  /// The last revision that changed the top screen of a nav, which explains a refused guard.
  public struct TopChange: Hashable, Sendable {
    /// The revision.
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
  init(_ since: ErrReply.Since) {
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
