/// A nav as the daemon has confirmed it, and as it is to be shown while operations are under way.
public struct MirrorState: Hashable, Sendable {
  /// The newest state that the daemon has confirmed.
  public let confirmed: NavigationState
  /// The same with the optimistic operations of this client that are not confirmed yet.
  ///
  /// Equal to ``confirmed`` when there are none. Its epoch, revision and digest are those of the
  /// confirmed state, and so is every guard that is taken from it. A screen that the daemon does
  /// not know yet has ``NavigationScreen/version`` 0, and an id beginning with `~` if it was given
  /// none.
  public let displayed: NavigationState

  /// Whether something is shown that is not confirmed.
  public var isPending: Bool { displayed.isPending }

  /// The same where revisions before it may be missing.
  func resynchronised() -> MirrorState {
    var (confirmed, displayed) = (confirmed, displayed)
    confirmed.isResynchronised = true
    displayed.isResynchronised = true
    return MirrorState(confirmed: confirmed, displayed: displayed)
  }
}
