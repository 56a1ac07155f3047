import NavigationSync

/// Whether a role is played, or a display held, at the moment.
public enum NavigationDutyStatus: Hashable, Sendable {
  /// It is.
  case active
  /// It is not while the connection is lost; it will be as soon as the daemon is back.
  case interrupted
  /// It is not and will not be; without an error, because that was wished.
  case ended(NavigationClientError?)
}

/// Roles that this client plays for a nav; see ``NavigationClient/delegate(_:roles:within:)``.
///
/// They end with ``end()``, or with the last reference to this.
public final class NavigationDelegation: Sendable {
  /// The name of the nav.
  public let nav: String
  /// Whether the roles are played, with every change; for one reader.
  ///
  /// After a loss of the connection they are registered again by themselves. They end with an
  /// error when the daemon refuses that, or when this client chooses other roles for the nav.
  public let statuses: AsyncStream<NavigationDutyStatus>
  private let engine: ClientEngine
  private let ticket: UInt64

  init(_ nav: String, _ engine: ClientEngine, _ duty: ClientEngine.Assumed) {
    self.nav = nav
    self.engine = engine
    statuses = duty.statuses
    ticket = duty.ticket
  }

  deinit { end() }

  /// Plays the roles no longer; questions that are open get no answer.
  public func end() { engine.resign(ticket) }
}

/// The display of a nav, held by this client; see
/// ``NavigationClient/takeDisplay(of:force:keeping:within:)``.
///
/// It is given back by ``release()``, or with the last reference to this.
public final class NavigationDisplayLease: Sendable {
  /// The name of the nav.
  public let nav: String
  /// Whether the display is held, with every change; for one reader.
  public let statuses: AsyncStream<NavigationDutyStatus>
  private let engine: ClientEngine
  private let ticket: UInt64

  init(_ nav: String, _ engine: ClientEngine, _ duty: ClientEngine.Assumed) {
    self.nav = nav
    self.engine = engine
    statuses = duty.statuses
    ticket = duty.ticket
  }

  deinit { release() }

  /// Gives the display back.
  public func release() { engine.resign(ticket) }
}

extension NavigationClient {
  /// Plays roles as a delegate of a nav, from when this returns.
  ///
  /// Other roles that this client plays for the nav are replaced.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - roles: what to decide.
  ///   - limit: how long to wait for the daemon.
  /// - Returns: keep it as long as the roles are to be played.
  /// - Throws: `no-nav`, `forbidden`, `invalid-argument`; `expired` when time is up.
  public func delegate(
    _ nav: String, roles: NavigationRoles, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationDelegation {
    guard !roles.registration.roles.isEmpty else {
      throw NavigationClientError(.invalidArgument, "no role is chosen")
    }
    let duty = try await engine.assume(.delegate(roles), of: nav, within: limit).get()
    return NavigationDelegation(nav, engine, duty)
  }

  /// Takes the display of a nav: while it is held, nobody else may change its environment, drive
  /// gestures or complete transitions.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - force: whether to take it from who holds it; takes the right `admin`.
  ///   - keeping: whether to take it again after a loss of the connection, if it is free then.
  ///     Otherwise the loss ends it, and the lease's statuses say so.
  ///   - limit: how long to wait for the daemon.
  /// - Returns: keep it as long as the display is to be held.
  /// - Throws: `lease-lost` when another client holds it, `no-nav`, `forbidden`; `expired` when
  ///   time is up.
  public func takeDisplay(
    of nav: String, force: Bool = false, keeping: Bool = false, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationDisplayLease {
    let duty = try await engine.assume(
      .display(force: force, isKept: keeping), of: nav, within: limit
    ).get()
    return NavigationDisplayLease(nav, engine, duty)
  }
}
