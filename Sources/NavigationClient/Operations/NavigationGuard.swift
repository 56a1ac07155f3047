import Navigation
import NavigationSync

/// What must hold for operations to be performed; the daemon checks it together with performing.
///
/// A guard taken from a ``NavigationState`` says: do this only if what I saw is still so. If it is
/// not, the operations fail with `desync` and nothing happens. Operations that remove by position
/// must be guarded.
public struct NavigationGuard: Hashable, Sendable {
  var guards = Guards()
  /// Whether a mirror that is not synced makes it fail without being sent.
  var isFromMirror = false

  /// No condition: for operations that name what they act on.
  public static let none = NavigationGuard()

  /// The explicit wish to do it whatever there is; the daemon records it.
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

  /// The nav was not recreated since.
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

  /// Nothing at all has changed.
  public static func revision(of state: NavigationState) -> NavigationGuard {
    var result = from(state)
    result.guards.revision = state.mirror.revision
    return result
  }

  /// This screen is on top; nil stands for an empty stack.
  public static func top(_ screen: String?) -> NavigationGuard {
    var result = NavigationGuard()
    result.guards.top = .some(screen)
    return result
  }

  /// These screens, bottom first, are the stack.
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

  /// These screens are on the stack, wherever.
  public func and(has screens: [String]) -> NavigationGuard {
    var result = self
    result.guards.has = screens
    return result
  }

  /// The stack has this many screens.
  public func and(depth: Int) -> NavigationGuard {
    var result = self
    result.guards.depth = UInt64(clamping: depth)
    return result
  }
}
