/// A capability of the daemon that a client can ask for by name, in `welcome.features`.
///
/// A daemon that does not name it was made before it.
package enum Feature: String, CaseIterable, Sendable {
  /// The operations `replace`, `insert` and `remove`, and `inclusive` of `popTo`.
  case stackEdits
  /// The values `popTo`, `update` and `moveToTop` of `onDuplicate`.
  case onDuplicate
  /// The member `canPop` of a screen, the code `pop-blocked` and the event `popBlocked`.
  case canPop
  /// The guard `visible`.
  case visibleGuard
  /// The operation `ui.dismiss`, the member `modalInPresentation`, the code `dismiss-blocked`, the
  /// event `dismissAttempted`, the value `dismiss` of `vetoScope`, and the question
  /// `shouldDismiss`, which only clients get that name the feature in their `hello`.
  case dismissals
  /// The events `willHide`, `didHide`, `didPresent` and `didDismiss`.
  case lifecycleEvents
  /// The member `result` of pops and dismissals, and of `didPop` and `didDismiss`.
  case results
  /// The member `animations` of the environment, and `style` of a transition.
  case animations
  /// The member `menu` of the back button, and the operation `ui.backMenu`.
  case backMenu
  /// The member `actor` of a gateway's `hello`.
  case actors
  /// The member `dry` of an op.
  case dryRun
  /// The virtual nav `$heads`, and the members `behind` and `stalled` of the records of `$clients`.
  case heads
  /// `get` `trace`, and the message `traced`.
  case trace
  /// `get` `diffs` and `refusals`.
  case history
  /// The codes and members of a cluster whose daemons divide the navs (protocol §17).
  case shards
}
