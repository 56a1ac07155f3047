import NavigationCore

/// A condition on the state of a nav, which the daemon checks when it performs the operations.
///
/// A guard from a ``NavigationState`` means: perform this only if the state that I saw still holds.
/// Otherwise the operations fail with `desync` and change nothing. Operations that remove screens
/// by position need a guard. Calls have no default guard, so each caller must choose one.
public struct NavigationGuard: Hashable, Sendable {
  var guards = Guards()
  /// Whether the client fails the operations at once while its mirror of the nav is out of sync.
  var requiresSyncedMirror = false

  /// No condition, for operations that name what they change.
  ///
  /// The daemon refuses operations that need a guard with ``NavigationClientError/Code/guardRequired``.
  public static let unguarded = NavigationGuard()

  /// No condition, also for operations that need a guard; the daemon logs this.
  public static let override = NavigationGuard().with { $0.any = true }

  private static func from(_ state: NavigationState, _ basis: GuardBasis) -> NavigationGuard {
    NavigationGuard(guards: state.mirror.guards(for: basis), requiresSyncedMirror: true)
  }

  private func with(_ change: (inout Guards) -> Void) -> NavigationGuard {
    var result = self
    change(&result.guards)
    return result
  }

  /// The nav still has the epoch of the state, so it was not created anew.
  public static func life(of state: NavigationState) -> NavigationGuard { from(state, .epoch) }

  /// The same screen is on top.
  public static func top(of state: NavigationState) -> NavigationGuard { from(state, .top) }

  /// The same screens are on the stack, in the same order; their titles may differ.
  public static func stack(of state: NavigationState) -> NavigationGuard { from(state, .stack) }

  /// The nav is still at the revision of the state.
  public static func revision(of state: NavigationState) -> NavigationGuard {
    from(state, .revision)
  }

  /// The same screen is visible: the outermost presented one, or else the top.
  ///
  /// It suffices for ``NavigationOperation/swipeDown(result:)``, but not to remove screens of the stack.
  public static func visible(of state: NavigationState) -> NavigationGuard {
    life(of: state).and(visible: state.mirror.outermostPresented ?? state.mirror.top)
  }

  /// This screen is on top; nil stands for an empty stack.
  public static func top(_ screen: String?) -> NavigationGuard {
    NavigationGuard().with { $0.top = .some(screen) }
  }

  /// The stack consists of exactly these screens, bottom first.
  public static func stack(_ screens: [String]) -> NavigationGuard {
    NavigationGuard().with { $0.stack = screens }
  }

  /// The nav is at this revision.
  public static func revision(_ revision: UInt64) -> NavigationGuard {
    NavigationGuard().with { $0.revision = Revision(revision) }
  }

  /// This screen is visible; nil stands for an empty stack without presentations.
  public static func visible(_ screen: String?) -> NavigationGuard {
    NavigationGuard().and(visible: screen)
  }

  /// These screens are on the stack, at any position.
  public func and(has screens: [String]) -> NavigationGuard { with { $0.has = screens } }

  /// This screen is visible: the outermost presented one, or else the top.
  ///
  /// It does not suffice for operations that remove screens of the stack.
  public func and(visible screen: String?) -> NavigationGuard {
    with { $0.visible = .some(screen) }
  }

  /// The stack has this many screens.
  public func and(depth: Int) -> NavigationGuard { with { $0.depth = UInt64(clamping: depth) } }
}
