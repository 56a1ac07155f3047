import NavigationCore

/// The status of delegate roles or of a display lease.
public enum NavigationDutyStatus: Hashable, Sendable {
  /// The daemon has registered the roles, or granted the lease.
  case active
  /// The connection is lost; the client requests roles or lease again when it is back.
  case interrupted
  /// The roles or the lease have ended; the error is nil if the application ended them.
  case ended(NavigationClientError?)
}

/// Roles or a lease that the daemon has granted; they end when this object is released.
final class GrantedDuty: Sendable {
  let statuses: AsyncStream<NavigationDutyStatus>
  private let engine: ClientEngine
  private let ticket: UInt64

  init(_ engine: ClientEngine, _ ticket: UInt64, _ statuses: AsyncStream<NavigationDutyStatus>) {
    (self.engine, self.ticket, self.statuses) = (engine, ticket, statuses)
  }

  deinit { end() }

  func end() { engine.change { $0.endDuty(ticket) } }
}

/// The delegate roles of this client for a nav; see ``NavigationClient/delegate(_:roles:within:)``.
///
/// They end with ``end()``, or when the last reference to this object is released.
public final class NavigationDelegation: Sendable {
  /// The name of the nav.
  public let nav: String
  /// The status of the roles and every change of it; only one task may iterate the stream.
  ///
  /// After a loss of the connection, the client registers them again. They end with an error if the
  /// daemon refuses that, or if this client registers other roles for the nav.
  public var statuses: AsyncStream<NavigationDutyStatus> { duty.statuses }
  private let duty: GrantedDuty

  init(_ nav: String, _ duty: GrantedDuty) { (self.nav, self.duty) = (nav, duty) }

  /// Ends the roles; open questions get no answer.
  public func end() { duty.end() }
}

/// The display lease of a nav; see ``NavigationClient/takeDisplay(of:force:keeping:within:)``.
///
/// It ends with ``release()``, or when the last reference to this object is released.
public final class NavigationDisplayLease: Sendable {
  /// The name of the nav.
  public let nav: String
  /// The status of the lease and every change of it; only one task may iterate the stream.
  public var statuses: AsyncStream<NavigationDutyStatus> { duty.statuses }
  private let duty: GrantedDuty

  init(_ nav: String, _ duty: GrantedDuty) { (self.nav, self.duty) = (nav, duty) }

  /// Releases the display.
  public func release() { duty.end() }
}

extension NavigationClient {
  /// Registers this client as delegate of a nav; the roles are active when this returns.
  ///
  /// They replace earlier roles of this client for the nav.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - roles: the closures that answer questions.
  ///   - limit: how long to wait for the daemon.
  /// - Returns: an object that holds the roles; keep it as long as they are needed.
  /// - Throws: `no-nav`, `forbidden` or `invalid-argument`; `expired` after the time limit.
  public func delegate(
    _ nav: String, roles: NavigationRoles, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationDelegation {
    guard !roles.registration.roles.isEmpty else {
      throw NavigationClientError(.invalidArgument, "there is no role to register")
    }
    let duty = try await engine.requestDuty(Duties.keys(of: nav).roles, roles, within: limit) {
      $0.delegate(nav, roles.registration)
    }.get()
    return NavigationDelegation(nav, duty)
  }

  /// Takes the display of a nav.
  ///
  /// While this client holds it, no other can change the environment, begin gestures or complete
  /// transitions.
  ///
  /// - Parameters:
  ///   - nav: the name of the nav.
  ///   - force: whether to take it from its present holder, which needs the right `admin`.
  ///   - keeping: whether to take it again after a loss of the connection, if it is free then.
  ///     Otherwise the loss ends the lease.
  ///   - limit: how long to wait for the daemon.
  /// - Returns: an object that holds the lease; keep it as long as the display is needed.
  /// - Throws: `lease-lost` if another client holds the display, `no-nav` or `forbidden`; `expired`
  ///   after the time limit.
  public func takeDisplay(
    of nav: String, force: Bool = false, keeping: Bool = false, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationDisplayLease {
    let duty = try await engine.requestDuty(Duties.keys(of: nav).lease, within: limit) {
      $0.lease(nav, force ? .force : .take, isKept: keeping)
    }.get()
    return NavigationDisplayLease(nav, duty)
  }
}
