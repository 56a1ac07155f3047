import Navigation
import NavigationSync

extension NavigationClientError {
  /// The last revision that changed the top screen of a nav, which explains a refused guard.
  public struct TopChange: Hashable, Sendable {
    /// The revision.
    public var revision: UInt64
    /// When it was committed, in milliseconds since 1970 by the daemon's clock.
    public var millisecondsSince1970: UInt64
    /// What led to it, as a word of the protocol: `api`, `backButton`, `gesture`, and others.
    public var cause: String
    /// Who made it; nil if the daemon did by itself.
    public var author: Author?
    /// The id of the screen that was on top before, if it left the stack.
    public var popped: String?
    /// The id of the screen that was on top before, if it is below others now.
    public var covered: String?

    /// How long ago it was; zero if the daemon's clock is ahead.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Returns: the time since then.
    public func age(at now: UInt64) -> Duration {
      .milliseconds(Int64(clamping: now - min(now, millisecondsSince1970)))
    }
  }

  /// A client that changed a nav.
  public struct Author: Hashable, Sendable {
    /// What it calls itself.
    public var name: String
    /// What the daemon proved of it: `uid:N` for a user, or the name of a key.
    public var principal: String
    /// Its process at that time; nil over a network.
    public var process: Int?
  }
}

extension NavigationClientError.TopChange {
  init(_ since: ErrReply.Since) {
    revision = since.revision.number
    millisecondsSince1970 = since.time
    cause = since.cause
    author = since.author.map { author in
      NavigationClientError.Author(
        name: author.name, principal: author.principal,
        process: author.process.flatMap { Int(exactly: $0) })
    }
    popped = since.popped
    covered = since.covered
  }
}
