import Foundation
import NavigationCore
import RuntimePaths

/// Clients that use some navs at the same time, and what they have seen.
///
/// Each nav has writers, which read too, and a watcher. All of them follow the navs through the cluster.
final class ClusterLoad: @unchecked Sendable {
  static let writersPerNav = 2
  /// How many messages a writer sends before the test waits for the next progress: enough for many to
  /// be under way at each loss, and few enough to leave the processors to the daemons.
  private static let messagesPerStage = 100

  let addresses: MemberAddresses
  private let navs: [String]
  /// Guards everything below; broadcasts each change of it.
  private let condition = NSCondition()
  private var operations: [String: [NavHistory.Operation]] = [:]
  private var sights: [String: [NavHistory.Sight]] = [:]
  /// By client: when the newest answered message was sent first, and how many were answered.
  private var answered: [String: (sent: UInt64, count: Int)] = [:]
  private var phase = Phase.working
  /// How many messages each writer may have sent.
  private var allowance = messagesPerStage
  /// The clients without a message on its way, while the load pauses.
  private var paused: Set<String> = []
  private var working = 0
  /// The members that no client asks first, after a pause.
  private(set) var avoided: String?
  private var finals: [String: UInt64] = [:]
  private var faults: [String] = []

  private enum Phase { case working, paused, stopping }

  /// Makes the navs, and starts the clients.
  init(_ navs: [String], _ addresses: MemberAddresses, seed: UInt64) throws {
    (self.navs, self.addresses) = (navs, addresses)
    for (number, nav) in navs.enumerated() {
      let first = LoadClient(self, nav, "\(number).0", seed: seed &+ UInt64(number) << 8)
      try first.create()
      let others = (1..<Self.writersPerNav).map {
        LoadClient(self, nav, "\(number).\($0)", seed: seed &+ UInt64(number << 8 + $0))
      }
      for client in [first] + others { start(client.name) { try client.run() } }
      let watcher = LoadWatcher(self, nav)
      start(watcher.name) { try watcher.run() }
    }
  }

  /// Runs a client on a thread of its own.
  private func start(_ name: String, _ body: @escaping () throws -> Void) {
    condition.withLock { working += 1 }
    let run = UncheckedRun(body: body)
    Thread.detachNewThread {
      do {
        try run.body()
      } catch {
        self.note("\(name): \(error)")
      }
      self.change { self.working -= 1 }
    }
  }

  /// What one thread alone calls.
  // The thread that gets it is the only one that uses it.
  private struct UncheckedRun: @unchecked Sendable { let body: () throws -> Void }

  // The clients' side.

  private func change<Value>(_ body: () throws -> Value) rethrows -> Value {
    try condition.withLock {
      defer { condition.broadcast() }
      return try body()
    }
  }

  /// Notes what no daemon may answer, or that a client cannot go on.
  func note(_ fault: String) { change { faults.append(fault) } }

  /// Notes a message before it is sent; returns its place.
  func begin(_ operation: NavHistory.Operation, _ nav: String) -> Int {
    change {
      operations[nav, default: []].append(operation)
      return operations[nav, default: []].count - 1
    }
  }

  /// Notes an answer; only one that the client waited for counts as progress.
  func end(_ place: Int, _ nav: String, _ answer: NavHistory.Answer, isAwaited: Bool) {
    change {
      operations[nav]?[place].answers.append(answer)
      guard isAwaited, let operation = operations[nav]?[place] else { return }
      answered[operation.client] = (
        operation.sent, (answered[operation.client]?.count ?? 0) + 1
      )
    }
  }

  /// Notes a mirror; returns whether the nav ends at it.
  func note(_ sight: NavHistory.Sight, _ nav: String) {
    change { sights[nav, default: []].append(sight) }
  }

  /// Whether a watcher that is at a revision has seen everything.
  func isFinal(_ revision: UInt64, _ nav: String) -> Bool {
    condition.withLock { finals[nav].map { $0 <= revision } ?? false }
  }

  /// Waits while the load pauses, or a writer has used its part of it; returns whether the writer is
  /// to go on.
  func mayContinue(_ name: String) -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while phase == .paused || phase == .working && answered[name]?.count ?? 0 >= allowance {
      paused.insert(name)
      condition.broadcast()
      condition.wait()
    }
    paused.remove(name)
    return phase == .working
  }

  /// Whether a client that has no answer may still wait for one.
  var isPatient: Bool { condition.withLock { faults.isEmpty } }

  // The test's side.

  /// Waits until something is so; throws if a client cannot go on, or if it takes too long.
  private func wait(_ what: String, until isSo: () -> Bool) throws {
    let end = Date(timeIntervalSinceNow: Child.patience)
    condition.lock()
    defer { condition.unlock() }
    while !isSo() {
      guard faults.isEmpty, condition.wait(until: end) else {
        throw Failure("not \(what): \(faults); \(answered)")
      }
    }
  }

  /// Waits until each writer has had some answers to messages that it sent from now on.
  func awaitProgress(_ count: Int = 5) throws {
    let begin = SystemClock.monotonicNanoseconds()
    let names = navs.indices.flatMap { nav in
      (0..<Self.writersPerNav).map { "w\(nav).\($0)" }
    }
    let counts = change {
      allowance = (answered.values.map(\.count).max() ?? 0) + Self.messagesPerStage
      return answered.mapValues(\.count)
    }
    try wait("answered") {
      names.allSatisfy { name in
        guard let own = answered[name] else { return false }
        return own.sent > begin && own.count >= (counts[name] ?? 0) + count
      }
    }
  }

  /// Waits until no message of a writer is on its way, and lets none be sent.
  func pause() throws {
    change { phase = .paused }
    try wait("quiet") { paused.count == navs.count * Self.writersPerNav }
  }

  /// Lets the writers go on; they ask a member last.
  func resume(avoiding member: String) {
    change {
      avoided = member
      phase = .working
    }
  }

  /// Ends the load, and waits until the watchers have seen everything.
  ///
  /// - Parameter final: reads the final revision of a nav, once all writers have their answers.
  /// - Returns: the history of each nav, without what its daemon says about it.
  /// - Throws: `Failure` if a client cannot go on or does not end.
  func finish(_ final: (String) throws -> UInt64) throws -> [NavHistory] {
    change { phase = .stopping }
    // The watchers wait for the final revisions.
    try wait("finished") { working == navs.count }
    for nav in navs {
      let revision = try final(nav)
      change { finals[nav] = revision }
    }
    try wait("seen by all watchers") { working == 0 }
    return condition.withLock {
      navs.map { nav in
        var history = NavHistory(nav: nav)
        history.operations = operations[nav] ?? []
        history.sights = [sights[nav] ?? []]
        return history
      }
    }
  }

  /// What went wrong apart from the histories.
  var problems: [String] { condition.withLock { faults } }

  /// Ends all clients, whatever they wait for.
  func abandon() {
    change {
      phase = .stopping
      faults.append("abandoned")
    }
  }
}

/// The addresses of the members of a cluster, which stay the same when they start again.
struct MemberAddresses: Sendable {
  var names: [String]
  var endpoints: [String]

  init(_ cluster: Cluster) {
    names = cluster.members.keys.sorted()
    endpoints = names.compactMap { cluster.members[$0]?.endpoint }
  }
}
