/// The states of a watched nav; see ``NavigationClient/watch(_:buffering:)``.
///
/// The sequence keeps its client alive.
public struct NavigationUpdates: AsyncSequence, Sendable {
  /// A state of the nav.
  public typealias Element = NavigationState
  /// The error with which the watch can end.
  public typealias Failure = NavigationClientError

  let client: NavigationClient
  let nav: String
  let buffering: NavigationBuffering

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator {
    Iterator(watch: Watch(client: client, nav: nav, buffering: buffering, showsPending: false))
  }

  /// Ends the watch when the last copy of its iterator is released.
  final class Watch: Sendable {
    let client: NavigationClient
    let ticket: UInt64

    init(
      client: NavigationClient, nav: String, buffering: NavigationBuffering, showsPending: Bool
    ) {
      self.client = client
      ticket = client.engine.subscribe(nav, buffering, showsPending: showsPending)
    }

    deinit { client.engine.unsubscribe(ticket) }
  }

  /// Reads the states of a nav; the watch ends when the iterator is destroyed.
  public struct Iterator: AsyncIteratorProtocol {
    let watch: Watch

    /// Waits for the next state.
    ///
    /// - Returns: the state; nil if the nav was closed or the task was cancelled.
    /// - Throws: the error that ended the watch.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(NavigationClientError) -> NavigationState? {
      switch await watch.client.engine.next(watch.ticket) {
      case .state(let state): return state.confirmed
      case .finished: return nil
      case .failed(let error): throw error
      }
    }
  }
}

/// The confirmed and displayed states of a nav; see ``NavigationClient/display(_:)``.
///
/// The sequence keeps its client alive.
public struct NavigationDisplayUpdates: AsyncSequence, Sendable {
  /// The confirmed and the displayed state of the nav.
  public typealias Element = MirrorState
  /// The error with which the watch can end.
  public typealias Failure = NavigationClientError

  let client: NavigationClient
  let nav: String

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      watch: NavigationUpdates.Watch(
        client: client, nav: nav, buffering: .newest, showsPending: true))
  }

  /// Reads the states of a nav; the watch ends when the iterator is destroyed.
  public struct Iterator: AsyncIteratorProtocol {
    let watch: NavigationUpdates.Watch

    /// Waits for the next state.
    ///
    /// - Returns: the state; nil if the nav was closed or the task was cancelled.
    /// - Throws: the error that ended the watch.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(NavigationClientError) -> MirrorState? {
      switch await watch.client.engine.next(watch.ticket) {
      case .state(let state): return state
      case .finished: return nil
      case .failed(let error): throw error
      }
    }
  }
}
