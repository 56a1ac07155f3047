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
      ticket = client.engine.change { $0.subscribe(nav, buffering, waits: waits) }
    }

    deinit { client.engine.change { $0.unsubscribe(ticket) } }
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
      try await watch.client.engine.next(watch.ticket).get()
    }
  }
}

/// The states that a watch keeps for a slow reader.
public enum NavigationBuffering: Hashable, Sendable {
  /// Only the newest state; a slow reader misses those in between.
  case newest
  /// Every revision in order with its events, and also events that make no revision.
  ///
  /// If a reader is 4096 states behind, it continues with the newest state, whose
  /// ``NavigationState/isResynchronised`` is then true.
  case everyRevision
}

/// The result of a read from a watch: the next state, nil at the end, or the error that ended it.
typealias Delivery = Result<NavigationState?, NavigationClientError>

/// The states that the reader of one watch has not read yet.
struct Subscription {
  /// The maximum number of buffered states for a reader of every revision.
  static let maximumStates = 4096

  let nav: String
  let buffering: NavigationBuffering
  /// Whether the watch continues while the nav does not exist.
  let waits: Bool
  private var buffer: [NavigationState] = []
  /// The index of the oldest unread state in `buffer`.
  private var firstUnreadIndex = 0
  /// Whether the watch has received its first state.
  private(set) var hasReceivedState = false
  private(set) var end: Delivery?
  /// The task that waits for the next state; nil if none waits.
  var reader: CheckedContinuation<Delivery, Never>?

  init(nav: String, buffering: NavigationBuffering, waits: Bool = false) {
    self.nav = nav
    self.buffering = buffering
    self.waits = waits
  }

  /// Whether the watch has not ended; the reader gets the buffered states even after the end.
  var isLive: Bool { end == nil }

  /// Buffers a state, or returns a call that resumes the waiting reader with the state.
  mutating func offer(_ state: NavigationState) -> DeferredCall? {
    guard isLive else { return nil }
    var state = state
    if !hasReceivedState { state.isResynchronised = true }
    hasReceivedState = true
    if let reader {
      self.reader = nil
      return { [state] _ in reader.resume(returning: .success(state)) }
    }
    let limit = buffering == .newest ? 1 : Self.maximumStates
    if buffer.count - firstUnreadIndex >= limit {
      buffer.removeAll()
      firstUnreadIndex = 0
      state.isResynchronised = true
    }
    buffer.append(state)
    return nil
  }

  /// Ends the watch; the reader gets `end` after the buffered states.
  mutating func finish(_ end: Delivery) -> DeferredCall? {
    guard isLive else { return nil }
    self.end = end
    guard let reader else { return nil }
    self.reader = nil
    return { _ in reader.resume(returning: end) }
  }

  /// Takes the oldest buffered state, or else the end; nil if there is neither yet.
  mutating func take() -> Delivery? {
    guard firstUnreadIndex < buffer.count else { return end }
    defer {
      firstUnreadIndex += 1
      if firstUnreadIndex == buffer.count || firstUnreadIndex >= 64 {
        buffer.removeFirst(firstUnreadIndex)
        firstUnreadIndex = 0
      }
    }
    return .success(buffer[firstUnreadIndex])
  }
}
