import NavigationCore
import NavigationDaemon
import NavigationHub

// A member of a cluster: its shards go to others, and come back as those, a restore or a standby that
// lagged behind left them. The others change nothing, and the journal is the database of all.

extension World {
  /// Whether the daemon serves a nav at present.
  func isHere(_ nav: String) -> Bool {
    isUp && hub.shardsHere.contains(Shard(ofName: nav, among: shardCount))
  }

  /// One deed of the rest of the cluster.
  mutating func moveShards() {
    guard isUp, rest() else { return }
    let here = hub.shardsHere
    switch random.below(10) {
    case 0..<4: release(here.filter { _ in random.chance(500) })
    case 4..<8: adopt(shardsElsewhere.filter { _ in random.chance(700) })
    default: loseRows()
    }
  }

  /// The shards of the navs that may exist, as far as others have them; the rest is never here.
  var shardsElsewhere: [Shard] {
    let here = Set(isUp ? hub.shardsHere : [])
    let all = Set(scenario.navs.map { Shard(ofName: $0, among: shardCount) })
    return all.subtracting(here).sorted()
  }

  /// Waits until all is durable, as the daemon does before shards move; returns whether they may.
  mutating func rest() -> Bool {
    guard attempt({ world throws in try world.awaitBatches(at: world.daemonNow) }) else {
      return false
    }
    // What was taken back comes first: with shards that come now, it could be about dormant navs.
    return batches.retriedCount == 0
  }

  mutating func release(_ leaving: [Shard]) {
    guard !leaving.isEmpty else { return }
    trace { _ in "shards \(leaving.map(\.number)) go" }
    let time = daemonNow
    hub.release(leaving, to: nil, at: time)
    // What a daemon remembers beside the rows stays with it.
    boot += 1
    carryOut(hub.committed(at: daemonNow))
  }

  /// Begins to serve shards, unless the database refuses that.
  mutating func adopt(_ coming: [Shard]) {
    guard isUp, !coming.isEmpty else { return }
    let losses = historyLosses.filter { coming.contains($0.key) }
    trace { _ in "shards \(coming.map(\.number)) come, with \(losses.count) losses" }
    var loaded = hub.makeReplayingHub(seed: random.next())
    do throws(HubReplayError) {
      try journal.replay(Set(coming), into: &loaded, at: daemonNow)
    } catch {
      return violation("a shard cannot be replayed: row \(error.sequence), \(error.what)")
    }
    let sequences = coming.map { ($0, journal.lastSequence(of: $0)) }
    hub.adopt(
      Dictionary(uniqueKeysWithValues: sequences), from: loaded,
      losses: sabotage == .keepEpochs ? [:] : losses, at: daemonNow)
    let records = hub.takeRecords()
    if isFaulty, random.chance(scenario.faults.failCommit) {
      count { $0.failedCommits += 1 }
      _ = hub.rollBack()
      return release(coming)
    }
    guard survives(commit([records])) else { return }
    for shard in coming { historyLosses[shard] = nil }
    // Another member has made durable what it left.
    journal.sync()
    carryOut(hub.committed(at: daemonNow))
    count { $0.adoptions += coming.count }
    for name in scenario.navs where coming.contains(Shard(ofName: name, among: shardCount)) {
      compareRecovered(name)
    }
  }

  /// A standby without the newest commits is promoted, or a backup put in place of the database.
  private mutating func loseRows() {
    let isPromotion = scenario.isRelaxed
    guard isPromotion ? journal.hasUnsynced : random.chance(500) else { return }
    if isUp { release(hub.shardsHere) }
    let lost = isPromotion ? journal.loseUnsynced(&random) : journal.goBack(&random)
    trace { _ in "the database has lost \(lost.count) rows" }
    if !lost.isEmpty { count { $0.returns += 1 } }
    for key in lost.compactMap(Facts.origin) { facts.lossTurns[key] = turn }
    facts.lose(lost, kept: journal.allRows)
    for shard in shardsElsewhere { historyLosses[shard] = isPromotion ? .crash : .backup }
    turn += 1
  }
}
