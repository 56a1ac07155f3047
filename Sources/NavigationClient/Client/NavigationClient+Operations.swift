extension NavigationClient {
  /// Pushes a screen, if the top screen is still the one in `state`.
  @discardableResult
  public func push(
    _ screen: ScreenDescription, onto state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.push(screen)], on: state.nav, guardedBy: .top(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Pops the top screen, if it is still the one in `state`.
  @discardableResult
  public func pop(
    from state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.pop()], on: state.nav, guardedBy: .top(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Removes all screens above `screen`, if the nav still has the epoch of `state`.
  @discardableResult
  public func popTo(
    _ screen: String, in state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.popTo(screen)], on: state.nav, guardedBy: .life(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Removes all screens but the root, if the stack is still that of `state`.
  @discardableResult
  public func popToRoot(
    in state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.popToRoot()], on: state.nav, guardedBy: .stack(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Replaces the whole stack, if it is still that of `state`.
  @discardableResult
  public func setStack(
    _ screens: [ScreenDescription], replacing state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy = .refuse, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.setStack(screens)], on: state.nav, guardedBy: .stack(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Changes the title that the bar shows for a screen; the screen need not be on the stack.
  @discardableResult
  public func setTitle(
    _ title: String, of screen: String, in state: NavigationState
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.setItem(of: screen, ItemDescription(title: title))], on: state.nav,
      guardedBy: .life(of: state))
  }
}
