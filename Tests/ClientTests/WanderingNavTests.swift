import NavigationClient
import NavigationCore
import Synchronization
import Testing

/// A nav that moves between three scripted daemons after every few ops, over real sockets.
@Suite(.timeLimit(.minutes(5))) struct WanderingNavTests {
  /// What the daemons share, as a cluster shares its database.
  final class Cluster: Sendable {
    struct State {
      var nav = FakeNav()
      var diffs: [String] = []
      var owner = 0
      var endpoints: [String] = []
      var ops: [UInt64] = []
      var answers: [UInt64: String] = [:]
      var (moves, repetitions) = (0, 0)
    }

    let state = Mutex(State())

    /// Answers a message as daemon `index`.
    func answer(_ received: Received, at index: Int) -> [FakeDaemon.Answer]? {
      state.withLock { state -> [FakeDaemon.Answer]? in
        guard received.verb == "op" || received.verb == "watch" else { return nil }
        guard state.owner == index else {
          let place = state.endpoints[state.owner]
          return [
            (
              .err,
              #"{"id":\#(received.id),"nav":"kiosk","code":"moved","msg":"","effect":"none","retry":"same","endpoint":"\#(place)"}"#
            )
          ]
        }
        return received.verb == "op"
          ? state.perform(received.id) : state.watch(received.id, received.body)
      }
    }
  }

  @Test func `every op runs once and in order, and the watch misses no revision`() async throws {
    let cluster = Cluster()
    let daemons = try (0..<3).map { index in
      try FakeDaemon { cluster.answer($0, at: index) }
    }
    defer { for daemon in daemons { daemon.stop() } }
    cluster.state.withLock { $0.endpoints = daemons.map(\.endpoint) }
    let client = try await NavigationClient.connect(
      endpoint: daemons[0].endpoint, name: "t", timeout: patience)
    defer { client.close() }
    var states = client.watch("kiosk", buffering: .everyRevision).makeAsyncIterator()
    #expect(try await states.next()?.revision == 1)
    let count = 120
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<count / 4 {
            try await client.perform([.push("s")], on: "kiosk", guardedBy: .unguarded)
          }
        }
      }
      try await group.waitForAll()
    }
    for revision in 2...UInt64(count + 1) {
      #expect(try await states.next()?.revision == revision)
    }
    let (ops, moves) = cluster.state.withLock { ($0.ops, $0.moves) }
    #expect(ops.count == count && ops == ops.sorted() && moves > 10)
  }
}

extension WanderingNavTests.Cluster.State {
  /// Performs an op once; after each seventh, the nav moves, and the watch ends.
  mutating func perform(_ id: UInt64) -> [FakeDaemon.Answer] {
    if let answer = answers[id] {
      repetitions += 1
      return [(.ok, answer)]
    }
    ops.append(id)
    let diff = nav.push("n\(nav.revision)")
    diffs.append(diff)
    let answer = nav.ok(id)
    answers[id] = answer
    guard ops.count % 7 == 0 else { return [(.diff, diff), (.ok, answer)] }
    moves += 1
    owner = (owner + (moves % 3 == 0 ? 2 : 1)) % 3
    let end = nav.end(why: "moved").replacing(
      "\"moved\"", with: #""moved","endpoint":"\#(endpoints[owner])""#)
    // The last diff is lost with the watch, so that the next daemon must send it.
    return moves % 2 == 0
      ? [(.end, end), (.ok, answer)] : [(.diff, diff), (.end, end), (.ok, answer)]
  }

  func watch(_ id: UInt64, _ body: String) -> [FakeDaemon.Answer] {
    guard let match = body.firstMatch(of: /"rev":(\d+)/), let revision = Int(match.1) else {
      return [(.ok, nav.watched(id, mode: "snap")), (.snap, nav.snapshot())]
    }
    let missing = diffs[(revision - 1)...].map { (verb: ServerVerb.diff, body: $0) }
    return [(.ok, nav.watched(id, mode: "resume"))] + missing
  }
}
