import NavigationCore

extension NavigationClient {
  /// Pushes a screen, if the top screen is still the one in `state`.
  @discardableResult
  public func push(
    _ screen: ScreenDescription, onto state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy? = nil, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.push(screen)], on: state.nav, guardedBy: .top(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Pops the top screen, if it is still the one in `state`.
  @discardableResult
  public func pop(
    from state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy? = nil, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.pop()], on: state.nav, guardedBy: .top(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Removes all screens above `screen`, if the nav still has the epoch of `state`.
  @discardableResult
  public func popTo(
    _ screen: String, in state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy? = nil, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.popTo(screen)], on: state.nav, guardedBy: .life(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Removes all screens but the root, if the stack is still that of `state`.
  @discardableResult
  public func popToRoot(
    in state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy? = nil, within limit: Duration? = nil
  ) async throws(NavigationClientError) -> NavigationReply {
    try await perform(
      [.popToRoot()], on: state.nav, guardedBy: .stack(of: state), animated: animated,
      whenBusy: policy, within: limit)
  }

  /// Replaces the whole stack, if it is still that of `state`.
  @discardableResult
  public func setStack(
    _ screens: [ScreenDescription], replacing state: NavigationState, animated: Bool = false,
    whenBusy policy: NavigationBusyPolicy? = nil, within limit: Duration? = nil
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

  /// Waits until a screen has left the stack or the presentations, and returns its result.
  ///
  /// The result is the value that the removing operation gave for the screen. The call returns when
  /// the transition has ended. Call it before the push: it waits for a screen that is not there yet,
  /// and navd does not keep the results of screens that have gone.
  ///
  /// - Parameters:
  ///   - screen: the id of the screen.
  ///   - nav: the name of the nav.
  /// - Returns: the result; nil if the operation gave none, or if a replacement of the stack or the
  ///   end of the nav removed the screen.
  /// - Throws: `desync` if the screen went while this client had no connection, so that its result is
  ///   unknown; the error with which the watch ended; `cancelled` if the task is cancelled.
  public func result(
    of screen: String, in nav: String
  ) async throws(NavigationClientError) -> NavigationValue? {
    var states = watch(nav, buffering: .everyRevision).makeAsyncIterator()
    var wasThere = false
    while let state = try await states.next() {
      let end = state.events.last { event in event.screen == screen && event.isEnd }
      if wasThere, let end { return end.details["result"] }
      let isThere = (state.screens + state.presented).contains { $0.id == screen }
      if wasThere, !isThere {
        if state.isResynchronised {
          throw NavigationClientError(.desync, "a snapshot hides how \(screen) went")
        }
        // The end of an open transition reports how the screen went.
        if !state.isTransitioning { return nil }
      }
      wasThere = wasThere || isThere
    }
    guard Task.isCancelled else { return nil }
    throw NavigationClientError(.cancelled, "the task was cancelled")
  }
}

extension NavigationEvent {
  /// Whether the event reports that a screen was popped or dismissed.
  fileprivate var isEnd: Bool { name == .didPop || name == .didDismiss }
}
