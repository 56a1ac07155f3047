/// The states of a watched nav; see ``NavigationClient/watch(_:wait:buffering:)``.
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
  let waits: Bool

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator {
    Iterator(watch: Watch(client: client, nav: nav, buffering: buffering, waits: waits))
  }

  /// Ends the watch when the last copy of its iterator is released.
  final class Watch: Sendable {
    let client: NavigationClient
    let ticket: UInt64

    init(client: NavigationClient, nav: String, buffering: NavigationBuffering, waits: Bool) {
      self.client = client
      ticket = client.engine.subscribe(nav, buffering, waits: waits)
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
      case .state(let state): return state
      case .finished: return nil
      case .failed(let error): throw error
      }
    }
  }
}
