import NavigationCore
import Testing

@testable import NavigationClient

/// The states that one watch keeps for a slow reader, against a list that forgets nothing.
@Suite struct SubscriptionTests {
  private static let epoch = Epoch(bits: 7)

  private static func state(_ revision: UInt64) -> NavigationState {
    let mirror = Mirror(
      kind: "controller", epoch: epoch, revision: Revision(revision), screens: [], parts: [],
      resolved: nil, digest: Digest(checksum: UInt32(revision), chain: 0))
    var state = NavigationState(nav: "kiosk", mirror: mirror)
    state.isResynchronised = false
    return state
  }

  /// A delivery as text: the revision, with `!` if revisions before it can be missing.
  private static func text(_ delivery: Delivery?) -> String {
    switch delivery {
    case .success(let state?):
      "\(state.revision)\(state.isResynchronised ? "!" : "")"
    case .success(nil): "end"
    case .failure(let error): "\(error.code.rawValue)"
    case nil: "-"
    }
  }

  private static func make(_ buffering: NavigationBuffering) -> Subscription {
    Subscription(nav: "kiosk", buffering: buffering)
  }

  /// The naive twin: all offers, and what of them the documentation lets a reader see.
  private struct Twin {
    var buffering: NavigationBuffering
    var waiting: [String] = []
    var hasState = false
    var losses = 0

    mutating func offer(_ revision: UInt64) {
      var text = "\(revision)\(hasState ? "" : "!")"
      hasState = true
      if waiting.count == (buffering == .newest ? 1 : 4096) {
        waiting = []
        losses += 1
        text = "\(revision)!"
      }
      waiting.append(text)
    }

    mutating func take() -> String { waiting.isEmpty ? "-" : waiting.removeFirst() }
  }

  @Test(
    arguments: [
      (NavigationBuffering.newest, 1), (.newest, 2), (.everyRevision, 3), (.everyRevision, 4),
      (.everyRevision, 5),
    ] as [(NavigationBuffering, UInt64)])
  func `a reader gets what its buffering promises, in order`(
    buffering: NavigationBuffering, seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var subscription = Self.make(buffering)
    var twin = Twin(buffering: buffering)
    var revision: UInt64 = 0
    for _ in 0..<3000 {
      // Bursts in both directions, so that the buffer is empty, short and long in turn.
      let burst = random.next() % 90
      if random.next() % 5 < 3 {
        for _ in 0..<burst {
          revision += 1
          #expect(subscription.offer(Self.state(revision)) == nil)
          twin.offer(revision)
        }
      } else {
        for _ in 0..<burst { #expect(Self.text(subscription.take()) == twin.take()) }
      }
      guard revision < 12_000 else { break }
    }
    #expect(twin.losses > 0)
  }

  @Test func `a reader 4096 states behind gets them all, one more and it gets the newest`() {
    var subscription = Self.make(.everyRevision)
    for revision in 1...4096 as ClosedRange<UInt64> { _ = subscription.offer(Self.state(revision)) }
    var whole = subscription
    #expect(Self.text(whole.take()) == "1!")
    for revision in 2...4096 { #expect(Self.text(whole.take()) == "\(revision)") }
    #expect(Self.text(whole.take()) == "-")
    _ = subscription.offer(Self.state(4097))
    #expect(Self.text(subscription.take()) == "4097!")
    #expect(Self.text(subscription.take()) == "-")
  }

  @Test(arguments: [NavigationBuffering.newest, .everyRevision])
  func `the end comes after the kept states, once, and nothing comes after it`(
    buffering: NavigationBuffering
  ) {
    var subscription = Self.make(buffering)
    #expect(subscription.isLive && !subscription.hasReceivedState)
    _ = subscription.offer(Self.state(1))
    #expect(subscription.hasReceivedState)
    #expect(subscription.finish(.success(nil)) == nil)
    #expect(subscription.finish(.failure(NavigationClientError(.closed, ""))) == nil)
    #expect(subscription.offer(Self.state(2)) == nil)
    #expect(!subscription.isLive)
    #expect(Self.text(subscription.take()) == "1!")
    for _ in 0..<3 { #expect(Self.text(subscription.take()) == "end") }
  }

  @Test func `an end without a state is all there is`() {
    var subscription = Self.make(.newest)
    _ = subscription.finish(.failure(NavigationClientError(.noNav, "")))
    for _ in 0..<2 { #expect(Self.text(subscription.take()) == "no-nav") }
  }

  @Test func `only the first state and one after missed states are resynchronised`() {
    var subscription = Self.make(.newest)
    var seen: [String] = []
    for revision in 1...6 as ClosedRange<UInt64> {
      _ = subscription.offer(Self.state(revision))
      // The third and the fourth are not read before the next one comes.
      if revision < 3 || revision > 4 { seen.append(Self.text(subscription.take())) }
    }
    #expect(seen == ["1!", "2", "5!", "6"])
  }
}
