import NavigationCore

extension NavigationClient {
  /// Waits until a screen has left the stack or the presentations, and returns its result.
  ///
  /// The result is what the operation that removed the screen gave for it, as UIKit's and other
  /// stacks' completion values. It comes with the end of the transition. The screen may come later;
  /// the call waits for it. Call it before the push: navd does not keep the results of screens that
  /// have gone.
  ///
  /// - Parameters:
  ///   - screen: the id of the screen.
  ///   - nav: the name of the nav.
  /// - Returns: the result; nil if the operation gave none, or if the screen went in another way: with
  ///   a replacement of the stack, or with the nav.
  /// - Throws: `desync` if the screen went while this client had no connection, so that nobody knows
  ///   how; the error with which the watch ended; `cancelled` if the task is cancelled.
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
  /// Whether a screen has gone, with what its removal gave for it.
  fileprivate var isEnd: Bool { name == .didPop || name == .didDismiss }
}
