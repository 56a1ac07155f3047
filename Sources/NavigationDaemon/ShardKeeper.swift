import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Synchronization
import Systemd

/// Takes and loads the shards of this member of a cluster, on a thread of its own.
///
/// It reads how the cluster is divided whenever another member changes something, a lease has ended,
/// or a third of a lease has passed; `ShardPlacement` decides. The loop takes the news when
/// `descriptor` is readable. It alone knows what is under way to the navs, so it alone ends to serve a
/// shard.
///
/// `@unchecked Sendable`: `keeper` and the members without a lock belong to the thread.
final class ShardKeeper: @unchecked Sendable {
  /// What the loop must know.
  enum News: Sendable {
    /// How the cluster is divided.
    case view(ClusterView)
    /// Shards that this member has taken.
    case arrived(LoadedShards)
    /// Shards that this member is to give to another one.
    case leaving([Shard], to: String)
    /// Shards that another member has taken.
    case lost([Shard])
    /// What became of an administrator's wish.
    case wished(AskedWish, WishFailure?)
    /// There is nothing more to take at the moment.
    case settled
  }

  private struct State {
    var news: [News] = []
    var wishes: [AskedWish] = []
    /// What makes the hubs that replay shards; nil before `start`.
    var replaying: Hub?
    /// The shards that the loop serves, or is about to.
    var held: Set<Shard> = []
    /// The shards that the loop has been asked to give away, each with the member that gets it.
    var leaving: [Shard: String] = [:]
  }

  /// Readable while there is news.
  let descriptor: Int32
  private let wakeup: Int32
  private let keeper: any ClusterKeeper
  private let lease: UInt64
  private let log: Log
  private let state = Mutex(State())
  /// The shards whose rows this process cannot replay, with the time of the next attempt, by the boot clock.
  ///
  /// A later attempt can succeed, because an administrator may be restoring the rows.
  private var broken: [Shard: UInt64] = [:]
  private var lastFailure = ""
  private var seeds: SeededGenerator

  private static let loadedAtATime = 128
  /// The milliseconds after which it replays broken shards again.
  private static let repairPause: UInt64 = 60_000

  /// Makes a keeper; `lease` is in milliseconds.
  init(_ keeper: any ClusterKeeper, lease: UInt64, seed: UInt64, log: Log) {
    self.keeper = keeper
    self.lease = lease
    self.log = log
    seeds = SeededGenerator(seed: seed)
    descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    wakeup = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
    precondition(descriptor >= 0 && wakeup >= 0, "eventfd: errno=\(navd_errno())")
  }

  // The loop's side.

  /// Starts the thread; `hub` makes the hubs that replay shards.
  func start(_ hub: borrowing Hub) {
    use(hub)
    DetachedThread.start { self.run() }
  }

  /// Replays shards by the configuration of a hub from now on.
  func use(_ hub: borrowing Hub) {
    let replaying = hub.makeReplayingHub(seed: 0)
    state.withLock { $0.replaying = replaying }
  }

  func takeNews() -> [News] {
    var count: eventfd_t = 0
    _ = unsafe eventfd_read(descriptor, &count)
    return state.withLock { state in
      defer { state.news = [] }
      return state.news
    }
  }

  func store(_ wish: AskedWish) {
    state.withLock { $0.wishes.append(wish) }
    eventfd_write(wakeup, 1)
  }

  /// Notes that the loop no longer serves shards.
  func noteGone(_ shards: [Shard]) {
    state.withLock { state in
      state.held.subtract(shards)
      for shard in shards { state.leaving[shard] = nil }
    }
    eventfd_write(wakeup, 1)
  }

  // The thread's side.

  private func run() {
    while true {
      var count: eventfd_t = 0
      _ = unsafe eventfd_read(wakeup, &count)
      let next = turn()
      if next > SystemClock.bootMilliseconds() { keeper.wait(for: wakeup, until: next) }
    }
  }

  /// Does what is to be done now; returns when to look again, in milliseconds of the boot clock.
  private func turn() -> UInt64 {
    do throws(JournalError) {
      try storeWishes()
      let cluster = try keeper.read()
      tell(.view(cluster.view))
      let (held, leaving) = state.withLock { ($0.held, $0.leaving) }
      let now = SystemClock.bootMilliseconds()
      let plan = ShardPlacement(
        cluster, held: held, leaving: leaving, broken: Set(broken.filter { $0.value > now }.keys))
      if !plan.lost.isEmpty { tell(.lost(plan.lost)) }
      for (member, shards) in plan.gives.sorted(by: { $0.key < $1.key }) {
        state.withLock { state in
          for shard in shards { state.leaving[shard] = member }
        }
        tell(.leaving(shards, to: member))
      }
      let taken = try take(plan.takes)
      lastFailure = ""
      if taken { return 0 }
      tell(.settled)
      return wakeTime(cluster.view)
    } catch {
      // The same failure again and again is one line.
      if error.description != lastFailure { log(LogEntry(.warning, "the cluster: \(error)")) }
      lastFailure = error.description
      return SystemClock.bootMilliseconds() + 100
    }
  }

  /// When to look again: a lease of another member ends, or a third of one's own has passed.
  private func wakeTime(_ view: ClusterView) -> UInt64 {
    let now = SystemClock.bootMilliseconds()
    let ends = view.members.filter { $0.isAlive && $0.name != view.member && !$0.shards.isEmpty }
      .map { UInt64($0.lease) + 5 }
    return now + min(lease / 3, ends.min() ?? .max)
  }

  private func tell(_ news: News) {
    state.withLock { state in
      // Only the newest view counts.
      if case .view = news, case .view? = state.news.last { state.news.removeLast() }
      state.news.append(news)
    }
    eventfd_write(descriptor, 1)
  }

  private func storeWishes() throws(JournalError) {
    let wishes = state.withLock { state in
      defer { state.wishes = [] }
      return state.wishes
    }
    for asked in wishes {
      do throws(JournalError) {
        tell(.wished(asked, try keeper.store(asked.wish)))
      } catch {
        tell(.wished(asked, .storage(error.description)))
      }
    }
  }

  /// Takes and loads shards; returns whether there were any.
  private func take(_ shards: [Shard]) throws(JournalError) -> Bool {
    var tookAny = false
    for first in stride(from: 0, to: shards.count, by: Self.loadedAtATime) {
      let wanted = Array(shards[first..<min(first + Self.loadedAtATime, shards.count)])
      let taken = try keeper.take(wanted)
      guard !taken.isEmpty, let loaded = try load(taken) else { continue }
      tookAny = true
      state.withLock { $0.held.formUnion(loaded.shards.map(\.shard)) }
      tell(.arrived(loaded))
    }
    return tookAny
  }

  /// Replays shards, without those whose rows cannot be replayed.
  private func load(_ taken: [TakenShard]) throws(JournalError) -> LoadedShards? {
    guard let hub = state.withLock({ $0.replaying }) else { return nil }
    let begin = SystemClock.monotonicMilliseconds()
    var loaded = LoadedShards(hub: hub.makeReplayingHub(seed: seeds.next()))
    for one in taken {
      do throws(DaemonError) {
        try loaded.add(one)
      } catch {
        try refuse([one], error)
      }
    }
    guard !loaded.shards.isEmpty else { return nil }
    do throws(DaemonError) {
      try loaded.complete()
    } catch {
      try refuse(loaded.shards, error)
      return nil
    }
    loaded.milliseconds = SystemClock.monotonicMilliseconds() - begin
    return loaded
  }

  /// Notes that the rows of shards cannot be served, unless the server cannot be reached.
  private func refuse(_ shards: [TakenShard], _ error: DaemonError) throws(JournalError) {
    if case .journal(.unreadable(let path, let reason)) = error {
      throw .unreadable(path: path, reason: reason)
    }
    let again = SystemClock.bootMilliseconds() + Self.repairPause
    for one in shards { broken[one.shard] = again }
    let numbers = shards.prefix(8).map { "\($0.shard.number)" }.joined(separator: ", ")
    log(
      LogEntry(
        .error, "the shards \(numbers) cannot be served: \(error)", kind: .journalFailed))
  }
}
