import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization

/// Takes and loads the shards of this member of a cluster, on a thread of its own.
///
/// It reads how the cluster is divided whenever another member changes something, a lease has
/// ended, or a third of a lease has passed; `ShardPlacement` decides. The loop takes `news`. The
/// loop alone knows which ops are in flight, so it alone stops serving a shard.
///
/// `@unchecked Sendable`: `keeper` and the variables belong to the thread.
final class ShardKeeper: @unchecked Sendable {
  /// A message to the loop.
  enum News: Sendable {
    /// How the cluster is divided.
    case view(ClusterView)
    /// Shards that this member has taken.
    case arrived(LoadedShards)
    /// Shards that this member is to give to another one.
    case leaving([Shard], to: String)
    /// Shards that another member has taken.
    case lost([Shard])
    /// The outcome of an administrator's wish.
    case wished(ClusterCommandRequest, ClusterCommandFailure?)
    /// There is nothing more to take at the moment.
    case settled
  }

  /// A message from the loop.
  private enum Order: Sendable {
    case wish(ClusterCommandRequest)
    /// `served` has changed: the keeper reads the cluster again.
    case readAgain
    /// Shards are replayed by the configuration of this hub from now on.
    case useConfiguration(of: Hub)
  }

  let news = Mailbox<News>()
  private let orders = Mailbox<Order>()
  private let keeper: any ClusterKeeper
  private let leaseMilliseconds: UInt64
  private let log: Log
  /// The hub whose empty copies replay shards; nil before `start`.
  private var hubTemplate: Hub?
  /// The shards that the loop serves or is about to serve, and those that it is to give away, each
  /// with the member that gets it.
  private let served = Mutex((held: Set<Shard>(), leaving: [Shard: String]()))
  /// The shards whose rows this process cannot replay, with the time of the next attempt, by the boot clock.
  ///
  /// A later attempt can succeed, because an administrator may be restoring the rows.
  private var unreadableUntil: [Shard: UInt64] = [:]
  private var lastFailure = ""
  private var seedGenerator: SeededGenerator

  private static let shardsPerLoad = 128
  /// The milliseconds after which it replays unreadable shards again.
  private static let unreadableRetryPause: UInt64 = 60_000

  /// Makes a keeper; `lease` is in milliseconds.
  init(_ keeper: any ClusterKeeper, lease: UInt64, seed: UInt64, log: Log) {
    self.keeper = keeper
    leaseMilliseconds = lease
    self.log = log
    seedGenerator = SeededGenerator(seed: seed)
  }

  // The loop's side.

  /// Starts the thread; empty copies of `hub` replay shards.
  func start(_ hub: borrowing Hub) {
    useConfiguration(of: hub)
    Thread.start { self.run() }
  }

  /// Makes the thread replay shards by the configuration of a hub from now on.
  func useConfiguration(of hub: borrowing Hub) {
    orders.append(.useConfiguration(of: hub.makeReplayingHub(seed: 0)))
  }

  func store(_ wish: ClusterCommandRequest) { orders.append(.wish(wish)) }

  /// Notes that the loop no longer serves shards.
  func noteReleased(_ shards: [Shard]) {
    // At once, because the thread can be about to hold the same shards again.
    served.withLock { served in
      served.held.subtract(shards)
      for shard in shards { served.leaving[shard] = nil }
    }
    orders.append(.readAgain)
  }

  // The thread's side.

  private func run() {
    while true {
      let next = turn()
      if next > SystemClock.bootMilliseconds() { keeper.wait(for: orders.descriptor, until: next) }
    }
  }

  /// Reads the cluster, and takes and gives away shards; returns when to do so again, in
  /// milliseconds of the boot clock.
  private func turn() -> UInt64 {
    do throws(JournalError) {
      takeOrders()
      let cluster = try keeper.read()
      news.append(.view(cluster.view))
      let (held, leaving) = served.withLock { $0 }
      let now = SystemClock.bootMilliseconds()
      let plan = ShardPlacement(
        cluster, held: held, leaving: leaving,
        unreadable: Set(unreadableUntil.filter { $0.value > now }.keys))
      if !plan.lost.isEmpty { news.append(.lost(plan.lost)) }
      for (member, shards) in plan.shardsToGive.sorted(by: { $0.key < $1.key }) {
        served.withLock { served in
          for shard in shards { served.leaving[shard] = member }
        }
        news.append(.leaving(shards, to: member))
      }
      let taken = try take(plan.shardsToTake)
      lastFailure = ""
      if taken { return 0 }
      news.append(.settled)
      return wakeTime(cluster.view)
    } catch {
      // The same failure again and again is one line.
      if error.description != lastFailure { log(.warning, "the cluster: \(error)") }
      lastFailure = error.description
      return SystemClock.bootMilliseconds() + 100
    }
  }

  /// The time at which another member's lease ends, or a third of this member's lease has passed.
  private func wakeTime(_ view: ClusterView) -> UInt64 {
    let now = SystemClock.bootMilliseconds()
    let ends = view.members.filter { $0.isAlive && $0.name != view.ownName && !$0.shards.isEmpty }
      .map { UInt64($0.leaseLeft) + 5 }
    return now + min(leaseMilliseconds / 3, ends.min() ?? .max)
  }

  private func takeOrders() {
    for order in orders.take() {
      switch order {
      case .wish(let asked):
        do throws(JournalError) {
          news.append(.wished(asked, try keeper.store(asked.command)))
        } catch {
          news.append(.wished(asked, .storage(error.description)))
        }
      case .readAgain: break
      case .useConfiguration(of: let hub): hubTemplate = hub
      }
    }
  }

  /// Takes and loads shards; returns whether there were any.
  private func take(_ shards: [Shard]) throws(JournalError) -> Bool {
    var tookAny = false
    for first in stride(from: 0, to: shards.count, by: Self.shardsPerLoad) {
      let wanted = Array(shards[first..<min(first + Self.shardsPerLoad, shards.count)])
      let taken = try keeper.take(wanted)
      guard !taken.isEmpty, let loaded = try load(taken) else { continue }
      tookAny = true
      served.withLock { $0.held.formUnion(loaded.journals.map(\.shard)) }
      news.append(.arrived(loaded))
    }
    return tookAny
  }

  /// Replays shards, without those whose rows cannot be replayed.
  private func load(_ taken: [Journal]) throws(JournalError) -> LoadedShards? {
    guard let hub = hubTemplate else { return nil }
    let begin = SystemClock.monotonicMilliseconds()
    var loaded = LoadedShards(hub: hub.makeReplayingHub(seed: seedGenerator.next()))
    for journal in taken {
      do throws(JournalError) {
        try loaded.add(journal)
      } catch {
        try noteUnreadable([journal], error)
      }
    }
    guard !loaded.journals.isEmpty else { return nil }
    do throws(JournalError) {
      try loaded.loadOpenNavs()
    } catch {
      try noteUnreadable(loaded.journals, error)
      return nil
    }
    loaded.loadMilliseconds = SystemClock.monotonicMilliseconds() - begin
    return loaded
  }

  /// Notes that the rows of shards cannot be served, unless the server cannot be reached.
  private func noteUnreadable(_ journals: [Journal], _ error: JournalError) throws(JournalError) {
    if case .unreadable = error { throw error }
    let again = SystemClock.bootMilliseconds() + Self.unreadableRetryPause
    for journal in journals { unreadableUntil[journal.shard] = again }
    let numbers = journals.prefix(8).map { "\($0.shard.number)" }.joined(separator: ", ")
    log(.error, "the shards \(numbers) cannot be served: \(error)", kind: .journalFailed)
  }
}
