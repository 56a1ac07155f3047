/// What a watch keeps for its reader.
public enum NavigationBuffering: Hashable, Sendable {
  /// The newest state; a slow reader is spared those in between.
  case newest
  /// Every revision in order, with its events, and what happens without a revision.
  ///
  /// A reader who is 4096 states behind goes on with the newest one, which says that it is
  /// resynchronised.
  case everyRevision
}

/// What a reader of a watch gets next.
enum Delivery: Sendable {
  case state(MirrorState)
  case finished
  case failed(NavigationClientError)
}

/// What one reader of a watch has still to read.
struct Subscription {
  /// How far a reader of every revision may be behind.
  static let maximumStates = 4096

  let nav: String
  let buffering: NavigationBuffering
  /// Whether it is told of what is under way.
  let showsPending: Bool
  private var buffer: [MirrorState] = []
  private var first = 0
  private var hasBegun = false
  private(set) var end: Delivery?
  /// The reader, while it waits.
  var reader: CheckedContinuation<Delivery, Never>?

  init(nav: String, buffering: NavigationBuffering, showsPending: Bool) {
    self.nav = nav
    self.buffering = buffering
    self.showsPending = showsPending
  }

  /// Whether more can come.
  var isLive: Bool { end == nil }

  /// Whether a state was offered to it.
  var isWaitingForFirst: Bool { !hasBegun }

  /// Keeps a state, or says whom to hand it to.
  mutating func offer(_ state: MirrorState) -> Resumption? {
    guard isLive else { return nil }
    var state = state
    if !hasBegun { state = state.resynchronised() }
    hasBegun = true
    if let reader {
      self.reader = nil
      return .deliver(reader, .state(state))
    }
    let limit = buffering == .newest ? 1 : Self.maximumStates
    if buffer.count - first >= limit {
      buffer.removeAll()
      first = 0
      state = state.resynchronised()
    }
    buffer.append(state)
    return nil
  }

  /// Nothing more comes after what is kept.
  mutating func finish(_ end: Delivery) -> Resumption? {
    guard isLive else { return nil }
    self.end = end
    guard let reader else { return nil }
    self.reader = nil
    return .deliver(reader, end)
  }

  /// Takes what comes next, if there is something.
  mutating func take() -> Delivery? {
    guard first < buffer.count else { return end }
    defer {
      first += 1
      if first == buffer.count || first >= 64 {
        buffer.removeFirst(first)
        first = 0
      }
    }
    return .state(buffer[first])
  }
}
