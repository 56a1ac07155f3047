import NavigationCore

/// A condition on the state of a nav, which the daemon checks when it performs the operations.
///
/// A guard from a ``NavigationState`` means: perform this only if the state that I saw still holds.
/// Otherwise the operations fail with `desync` and change nothing. Operations that remove screens
/// by position need a guard. No call has a guard by default, so that nobody forgets one.
public struct NavigationGuard: Hashable, Sendable {
  var guards = Guards()
  /// Whether the operations fail without being sent while the mirror of the nav is out of sync.
  var isFromMirror = false

  /// No condition, for operations that name what they change.
  ///
  /// The daemon refuses operations that need a guard with ``NavigationClientError/Code/guardRequired``.
  public static let unguarded = NavigationGuard()

  /// No condition, also for operations that need a guard; the daemon logs this.
  public static let override: NavigationGuard = {
    var result = NavigationGuard()
    result.guards.any = true
    return result
  }()

  private static func from(_ state: NavigationState) -> NavigationGuard {
    var result = NavigationGuard()
    result.isFromMirror = true
    result.guards.epoch = state.mirror.epoch
    return result
  }

  /// The nav still has the epoch of the state, so it was not created anew.
  public static func life(of state: NavigationState) -> NavigationGuard { from(state) }

  /// The same screen is on top.
  public static func top(of state: NavigationState) -> NavigationGuard {
    var result = from(state)
    result.guards.top = .some(state.mirror.top)
    return result
  }

  /// The same screens are on the stack, in the same order; their titles may differ.
  public static func stack(of state: NavigationState) -> NavigationGuard {
    var result = from(state)
    result.guards.stack = state.mirror.screens.map(\.id)
    return result
  }

  /// The nav is still at the revision of the state.
  public static func revision(of state: NavigationState) -> NavigationGuard {
    var result = from(state)
    result.guards.revision = state.mirror.revision
    return result
  }

  /// The same screen is visible: the outermost presented one, or else the top.
  ///
  /// It suffices for ``NavigationOperation/swipeDown(result:)``, and for no removal from the stack.
  public static func visible(of state: NavigationState) -> NavigationGuard {
    from(state).and(visible: state.mirror.outermostPresented ?? state.mirror.top)
  }

  /// This screen is on top; nil stands for an empty stack.
  public static func top(_ screen: String?) -> NavigationGuard {
    var result = NavigationGuard()
    result.guards.top = .some(screen)
    return result
  }

  /// The stack consists of exactly these screens, bottom first.
  public static func stack(_ screens: [String]) -> NavigationGuard {
    var result = NavigationGuard()
    result.guards.stack = screens
    return result
  }

  /// The nav is at this revision.
  public static func revision(_ revision: UInt64) -> NavigationGuard {
    var result = NavigationGuard()
    result.guards.revision = Revision(revision)
    return result
  }

  /// This screen is visible; nil stands for an empty stack without presentations.
  public static func visible(_ screen: String?) -> NavigationGuard {
    NavigationGuard().and(visible: screen)
  }

  /// These screens are on the stack, at any position.
  public func and(has screens: [String]) -> NavigationGuard {
    var result = self
    result.guards.has = screens
    return result
  }

  /// This screen is visible: the outermost presented one, or else the top.
  ///
  /// It takes the place of no required guard of the stack.
  public func and(visible screen: String?) -> NavigationGuard {
    var result = self
    result.guards.visible = .some(screen)
    return result
  }

  /// The stack has this many screens.
  public func and(depth: Int) -> NavigationGuard {
    var result = self
    result.guards.depth = UInt64(clamping: depth)
    return result
  }
}
