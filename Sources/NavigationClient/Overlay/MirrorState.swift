/// A nav in two states: as the daemon has confirmed it, and as this client displays it.
public struct MirrorState: Hashable, Sendable {
  /// The newest state that the daemon has confirmed.
  public let confirmed: NavigationState
  /// The confirmed state with the unconfirmed optimistic operations of this client.
  ///
  /// It equals ``confirmed`` if there are none. Epoch, revision and digest are those of the
  /// confirmed state, and so are guards from it. A screen that the daemon does not know yet has
  /// ``NavigationScreen/version`` 0. If the operation gave it no id, its id begins with `~`.
  public let displayed: NavigationState

  /// Whether the displayed state contains unconfirmed changes.
  public var isPending: Bool { displayed.isPending }

  /// The same state, marked that revisions before it can be missing.
  func resynchronised() -> MirrorState {
    var (confirmed, displayed) = (confirmed, displayed)
    confirmed.isResynchronised = true
    displayed.isResynchronised = true
    return MirrorState(confirmed: confirmed, displayed: displayed)
  }
}
