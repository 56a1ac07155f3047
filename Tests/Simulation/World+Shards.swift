import NavigationCore
import NavigationDaemon
import NavigationHub

// A member of a cluster: its shards go to others, and come back as those, a restore or a standby that
// lagged behind left them. Others change them meanwhile, and the journal is the database of all.

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
    case 4..<7: adopt(shardsElsewhere.filter { _ in random.chance(700) })
    case 7: serveElsewhere(shardsElsewhere.filter { _ in random.chance(700) })
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
    // The loop first decides again what it took back: behind arriving shards, these events could meet
    // dormant navs.
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

  /// Another member serves shards for a while.
  ///
  /// It performs ops of a client of its own, and some that clients of this world have sent, and learn
  /// of when they send them again.
  private mutating func serveElsewhere(_ shards: [Shard]) {
    var other = Hub(configuration: scenario.configuration, shards: shardCount, seed: random.next())
    guard !shards.isEmpty, let records = load(shards, into: &other) else { return }
    keep(records, of: &other)
    noteRenewed(shards, by: other)
    let stranger = ClientID(high: random.next(), low: random.next())
    let navs = scenario.navs.filter { shards.contains(Shard(ofName: $0, among: shardCount)) }
    for name in navs { compareRecovered(name, in: other) }
    for number in 1...1 + random.below(5) {
      guard let nav = random.pick(navs), let client = random.pick(clients) else { return }
      let sent = client.sentOps.first {
        // Refused as nobody's, it would be a new one for the client.
        $0.nav == nav && $0.link != nil && client.unanswered.contains($0.id)
      }
      if let sent, random.chance(600) {
        let again = sent.body.dropLast() + Array(",\"again\":\(sent.seen)}".utf8)
        perform(again, of: client.id, client.peer, in: &other)
      } else {
        let made =
          facts.heads[nav] == nil
          ? "{\"nav.create\":{\"root\":{\"id\":\"e\(number)\"}}}" : operation(nil)
        let body = "{\"id\":\(number),\"nav\":\"\(nav)\",\"if\":{\"any\":true},\"do\":[\(made)]}"
        perform(
          Array(body.utf8), of: stranger, .local(user: 1000, group: 1000, process: 9), in: &other)
      }
      if let (place, state) = probe(nav, in: other) { facts.tentative.append((place, state)) }
      keep(other.takeRecords(), of: &other)
    }
  }

  /// Lets another member perform an op in a new session of its client.
  private mutating func perform(
    _ op: [UInt8], of client: ClientID, _ peer: Peer, in other: inout Hub
  ) {
    trace { _ in "elsewhere \(client.text): \(op.text)" }
    lastConnection += 1
    let id = ConnectionID(lastConnection)
    let hello = "{\"ver\":[1,1],\"client\":\"\(client.text)\",\"nonce\":\"n\(lastConnection)\"}"
    for (verb, body) in [(ClientVerb.hello, Array(hello.utf8)), (.op, op)] {
      let event = HubEvent(
        frame: verb.frame.span, body: body.span, from: id, peer, reader: &reader)
      if let request = other.dormant(for: event) {
        let (snapshot, rows) = journal.chain(of: request.nav, to: request.newestRow)
        do throws(HubReplayError) {
          try other.revive(request, snapshot: snapshot, rows: rows)
        } catch {
          violation("nav \(request.nav) cannot be revived elsewhere: \(error.what)")
        }
      }
      other.handle(event, at: daemonNow)
    }
  }

  /// Stores what another member has decided.
  private mutating func keep(_ records: JournalRecords, of other: inout Hub) {
    guard survives(commit([records])) else { return }
    journal.sync()
    let messages = other.committed(at: daemonNow).messages
    let done = messages.contains { $0.body.position(of: "\"changed\":true") != nil }
    if done { count { $0.strangers += 1 } }
  }

  /// Gives a hub the rows of shards; returns its records about that, which must become durable.
  private mutating func load(_ coming: [Shard], into hub: inout Hub) -> JournalRecords? {
    let losses = historyLosses.filter { coming.contains($0.key) }
    journal.mayLackRows.formUnion(losses.keys)
    trace { _ in "shards \(coming.map(\.number)) come, with \(losses.count) losses" }
    var loaded = hub.makeReplayingHub(seed: random.next())
    do throws(HubReplayError) {
      try journal.replay(Set(coming), into: &loaded, at: daemonNow)
    } catch {
      violation("a shard cannot be replayed: row \(error.sequence), \(error.what)")
      return nil
    }
    let sequences = coming.map { ($0, journal.lastSequence(of: $0)) }
    hub.adopt(
      Dictionary(uniqueKeysWithValues: sequences), from: loaded,
      losses: sabotage == .keepEpochs ? [:] : losses, at: daemonNow)
    return hub.takeRecords()
  }

  /// Notes that the navs of shards have new epochs, if they need them.
  private mutating func noteRenewed(_ shards: [Shard], by hub: Hub) {
    for shard in shards where historyLosses.removeValue(forKey: shard) != nil {
      journal.skip(to: hub.newestRow(of: shard), of: shard)
    }
  }

  /// Begins to serve shards, unless the database refuses that.
  mutating func adopt(_ coming: [Shard]) {
    var loaded = hub
    guard isUp, !coming.isEmpty, let records = load(coming, into: &loaded) else { return }
    hub = loaded
    if isFaulty, random.chance(scenario.faults.failCommit) {
      count { $0.failedCommits += 1 }
      _ = hub.rollBack()
      return release(coming)
    }
    guard survives(commit([records])) else { return }
    noteRenewed(coming, by: hub)
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
