/// The states of a nav as they come; see ``NavigationClient/watch(_:buffering:)``.
///
/// It keeps its client alive.
public struct NavigationUpdates: AsyncSequence, Sendable {
  /// What it delivers.
  public typealias Element = NavigationState
  /// Why it may end early.
  public typealias Failure = NavigationClientError

  let client: NavigationClient
  let nav: String
  let buffering: NavigationBuffering

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator {
    Iterator(watch: Watch(client: client, nav: nav, buffering: buffering, showsPending: false))
  }

  /// Watches until it is gone.
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

  /// Reads the states of a nav; it watches as long as it exists.
  public struct Iterator: AsyncIteratorProtocol {
    let watch: Watch

    /// Waits for the next state.
    ///
    /// - Returns: the state; nil when the nav is closed or the task cancelled.
    /// - Throws: why nothing more comes.
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

/// A nav as it is to be shown; see ``NavigationClient/display(_:)``.
///
/// It keeps its client alive.
public struct NavigationDisplayUpdates: AsyncSequence, Sendable {
  /// What it delivers.
  public typealias Element = MirrorState
  /// Why it may end early.
  public typealias Failure = NavigationClientError

  let client: NavigationClient
  let nav: String

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      watch: NavigationUpdates.Watch(
        client: client, nav: nav, buffering: .newest, showsPending: true))
  }

  /// Reads the states of a nav; it watches as long as it exists.
  public struct Iterator: AsyncIteratorProtocol {
    let watch: NavigationUpdates.Watch

    /// Waits for the next state.
    ///
    /// - Returns: the state; nil when the nav is closed or the task cancelled.
    /// - Throws: why nothing more comes.
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
