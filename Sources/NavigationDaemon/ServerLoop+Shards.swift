import CLinux
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths
import Systemd

// The shards of a cluster: the keeper's thread takes and loads them, and this loop serves them. They
// come and go between two batches, while everything decided is durable.

/// The shards that a daemon of a cluster serves, and those that come and go.
struct ServedShards {
  let journal: any ClusterJournal
  let keeper: ShardKeeper
  var arriving: [LoadedShards] = []
  /// The shards to give to other members: when nothing in them is open, or at the deadline by the
  /// boot clock.
  var leaving: [(shards: [Shard], member: String, deadline: UInt64)] = []
  var lost: [Shard] = []
  /// Whether the keeper has reported that no shard is left to take.
  var isSettled = false
  /// The number of navs loaded since the keeper last reported that no shard is left to take.
  var navsLoadedSinceSettled = 0

  /// The milliseconds for which leaving shards wait for open transitions, questions and gestures.
  static let maximumWaitForOpenWork: UInt64 = 100
}

extension ServerLoop {
  mutating func takeShardNews() {
    guard let keeper = served?.keeper else { return }
    for news in keeper.news.take() {
      switch news {
      case .view(let view): batches.append(.cluster(view))
      case .arrived(let loaded): served?.arriving.append(loaded)
      case .leaving(let shards, let member):
        let deadline = Instant.now().boot + ServedShards.maximumWaitForOpenWork
        served?.leaving.append((shards, member, deadline))
      case .lost(let shards): served?.lost += shards
      case .wished(let asked, let failure):
        batches.append(.clusterCommandResult(asked.connection, id: asked.id, failure))
      case .settled:
        served?.isSettled = true
        // Gives back what loading many navs has used; 20 ms for 30 MB of a million navs.
        if served?.navsLoadedSinceSettled ?? 0 >= Self.navsWorthMemoryTrim { navd_trim_memory() }
        served?.navsLoadedSinceSettled = 0
      }
    }
  }

  /// Begins to serve the shards that arrive, and gives away those that leave, unless something open
  /// holds them.
  mutating func moveShards(at now: Instant) throws {
    guard let served else { return }
    let isDue =
      !served.arriving.isEmpty || !served.lost.isEmpty
      || served.leaving.contains { $0.deadline <= now.boot || hub.isQuiet($0.shards) }
    guard isDue else { return }
    try awaitBatches(at: now)
    writer.awaitCheckpoint()
    let lost = served.lost
    self.served?.lost = []
    try loseShards(lost, at: now)
    // The loop first decides again what it took back: behind arriving shards, these events could meet
    // dormant navs.
    guard batches.retriedCount == 0 else { return }
    while let loaded = self.served?.arriving.first {
      self.served?.arriving.removeFirst()
      try serve(loaded, at: now)
    }
    // Behind the arrivals: the keeper can give away what it has taken before this loop serves it.
    try giveAwayLeavingShards(at: now)
  }

  private mutating func giveAwayLeavingShards(at now: Instant) throws {
    guard let served else { return }
    for leaving in served.leaving
    where leaving.deadline <= now.boot || hub.isQuiet(leaving.shards) {
      let here = Set(hub.shardsHere)
      let shards = leaving.shards.filter { here.contains($0) }
      served.journal.release(shards, to: leaving.member)
      try stopServing(shards, to: leaving.member, at: now)
      // Those too that are not here any more, or the keeper would count them as leaving for ever.
      served.keeper.noteReleased(leaving.shards)
      log(.info, "gave \(counted(shards.count, "shard")) to \(leaving.member)")
      self.served?.leaving.removeAll { $0.shards == leaving.shards }
    }
  }

  /// Stops serving shards that another member has taken, or that this one must load again.
  mutating func loseShards(_ lost: [Shard], at now: Instant) throws {
    writer.awaitCheckpoint()
    served?.journal.drop(lost)
    let here = Set(hub.shardsHere).intersection(lost).sorted()
    if here.isEmpty { return }
    try stopServing(here, to: nil, at: now)
    log(.warning, "lost \(counted(here.count, "shard")) to another daemon or a restore")
  }

  private mutating func stopServing(_ shards: [Shard], to member: String?, at now: Instant) throws {
    hub.release(shards, to: member, at: now)
    try carryOut(hub.committed(at: now))
    served?.keeper.noteReleased(shards)
  }

  /// Begins to serve shards, after the hub's records about that have become durable.
  private mutating func serve(_ loaded: LoadedShards, at now: Instant) throws {
    guard let served else { return }
    let shards = loaded.journals.map(\.shard)
    let navs = hub.adopt(
      Dictionary(uniqueKeysWithValues: loaded.journals.map { ($0.shard, $0.lastSequence) }),
      from: loaded.hub,
      losses: Dictionary(
        uniqueKeysWithValues: loaded.journals.compactMap { journal in
          journal.rowLoss.map { (journal.shard, $0) }
        }),
      at: now)
    if hub.hasDormantNavs { history.open() }
    let records = hub.takeRecords()
    do throws(JournalError) {
      try served.journal.adopt(loaded.journals)
      if !records.isEmpty { try writer.commit(records) }
      for journal in loaded.journals where journal.rowLoss != nil {
        try journal.epochsRenewed(before: hub.newestRow(of: journal.shard))
      }
    } catch {
      guard error.isRetryable else { return try fail(error, at: now) }
      // The keeper takes them again.
      _ = hub.rollBack()
      served.journal.release(shards, to: nil)
      try stopServing(shards, to: nil, at: now)
      guard case .fenced(_, let lost) = error else {
        return noteFailedCommit(error)
      }
      log(.warning, error.description)
      // Among them can be shards that this daemon serves already.
      return try loseShards(lost, at: now)
    }
    if !records.isEmpty { noteStored(at: now) }
    try carryOut(hub.committed(at: now))
    self.served?.navsLoadedSinceSettled += navs
    log(
      .info,
      "took \(counted(shards.count, "shard")) with \(counted(navs, "nav")) in "
        + "\(loaded.loadMilliseconds) ms")
  }

  /// Waits until this daemon serves its first shards; returns true if a signal to stop came before.
  mutating func isStoppedWhileAwaitingShards(signals: Int32) throws -> Bool {
    guard let keeper = served?.keeper else { return false }
    var reported: UInt64 = 0
    while served?.isSettled == false {
      let now = Instant.now()
      if now.boot >= reported + 1000 {
        reported = now.boot
        Daemon.extendTimeout("loading shards: \(hub.shardsHere.count) served")
      }
      if let lease = writer.lease, lease.renewAt <= now.boot, !writer.isCheckpointing {
        writer.startCheckpoint()
      }
      var entries = [keeper.news.descriptor, signals].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      _ = unsafe poll(&entries, 2, 100)
      try takeProgress(at: now)
      takeShardNews()
      try moveShards(at: now)
      if entries[1].revents != 0, try mustStop(afterSignalsFrom: signals) { return true }
    }
    return false
  }

  // The lease of a journal that another daemon could take over. Each commit renews it, and `maintain`
  // renews it in quiet times. After its end this daemon receives and answers nothing, because another
  // one may have changed what a client would read here.

  /// Returns whether the lease holds; if it has ended, starts a renewal and waits up to 20 ms.
  ///
  /// It throws `.fenced` if another daemon has taken over, `.unreadable` for a signal to stop.
  mutating func awaitLease(signals: Int32, _ watchdog: inout Watchdog) throws -> Bool {
    let now = Instant.now()
    guard let lease = writer.lease, lease.end <= now.boot else { return true }
    if batches.areDurable, !writer.isCheckpointing { writer.startCheckpoint() }
    var entry = pollfd(fd: signals, events: Int16(POLLIN), revents: 0)
    _ = unsafe poll(&entry, 1, 20)
    try takeProgress(at: now)
    if watchdog.isDue(at: now.boot) { notify(.watchdog) }
    if try mustStop(afterSignalsFrom: signals) {
      throw JournalError.unreadable(
        path: writer.journal.name, reason: "stopped while the server did not answer")
    }
    return false
  }
}
