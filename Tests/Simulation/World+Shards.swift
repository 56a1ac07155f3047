import NavigationCore
import NavigationHub

// A member of a cluster: its shards go to others, and come back as those, a restore or a standby that
// lagged behind left them. The others change nothing, and the journal is the database of all.

extension World {
  /// Whether the daemon serves a nav at present.
  func isHere(_ nav: String) -> Bool {
    hub?.shardsHere.contains(Shard(ofName: nav, among: shardCount)) == true
  }

  /// One deed of the rest of the cluster.
  mutating func moveShards() {
    guard let here = hub?.shardsHere else { return }
    switch random.below(10) {
    case 0..<4: release(here.filter { _ in random.chance(500) })
    case 4..<8: adopt(shardsElsewhere.filter { _ in random.chance(700) })
    default: loseRows()
    }
  }

  /// The shards of the navs that may exist, as far as others have them; the rest is never here.
  var shardsElsewhere: [Shard] {
    let here = Set(hub?.shardsHere ?? [])
    let all = Set(scenario.navs.map { Shard(ofName: $0, among: shardCount) })
    return all.subtracting(here).sorted()
  }

  private mutating func release(_ leaving: [Shard]) {
    guard !leaving.isEmpty else { return }
    trace { _ in "shards \(leaving.map(\.number)) go" }
    let time = daemonNow
    hub?.release(leaving, to: nil, at: time)
    // What a daemon remembers beside the rows stays with it.
    boot += 1
    dispatch()
  }

  /// Begins to serve shards, unless the database refuses that.
  mutating func adopt(_ coming: [Shard]) {
    guard var hub, !coming.isEmpty else { return }
    let losses = historyLosses.filter { coming.contains($0.key) }
    trace { _ in "shards \(coming.map(\.number)) come, with \(losses.count) losses" }
    var loaded = hub.makeReplayingHub(seed: random.next())
    do throws(HubReplayError) {
      try journal.replay(Set(coming), into: &loaded, at: daemonNow)
    } catch {
      return violation("a shard cannot be replayed: row \(error.sequence), \(error.what)")
    }
    self.hub = nil
    let sequences = coming.map { ($0, journal.lastSequence(of: $0)) }
    hub.adopt(
      Dictionary(uniqueKeysWithValues: sequences), from: loaded,
      losses: sabotage == .keepEpochs ? [:] : losses, at: daemonNow)
    let records = hub.takeRecords()
    self.hub = hub
    if isFaulty, random.chance(scenario.faults.failCommit) {
      count { $0.failedCommits += 1 }
      _ = self.hub?.rollBack()
      return release(coming)
    }
    guard survives(commit(records)) else { return }
    for shard in coming { historyLosses[shard] = nil }
    // Another member has made durable what it left.
    journal.sync()
    dispatch()
    count { $0.adoptions += coming.count }
    for name in scenario.navs where coming.contains(Shard(ofName: name, among: shardCount)) {
      compareRecovered(name)
    }
  }

  /// A standby without the newest commits is promoted, or a backup put in place of the database.
  private mutating func loseRows() {
    let isPromotion = scenario.isRelaxed
    guard isPromotion ? journal.hasUnsynced : random.chance(500) else { return }
    if let here = hub?.shardsHere { release(here) }
    let lost = isPromotion ? journal.loseUnsynced(&random) : journal.goBack(&random)
    trace { _ in "the database has lost \(lost.count) rows" }
    if !lost.isEmpty { count { $0.returns += 1 } }
    for key in lost.compactMap(Facts.origin) { facts.lossTurns[key] = turn }
    facts.lose(lost, kept: journal.allRows)
    for shard in shardsElsewhere { historyLosses[shard] = isPromotion ? .crash : .backup }
    turn += 1
  }
}
