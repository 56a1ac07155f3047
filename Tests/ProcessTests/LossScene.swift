import ChildProcess
import Foundation
import NavigationCore
import PostgresServer
import Testing

/// A cluster of three daemons on a pair of servers, which loses one thing after the other.
final class LossScene {
  static let members = ["a", "b", "c"]
  /// The lease in milliseconds.
  private static let lease = 2000

  let cluster: Cluster
  private let pair: ServerPair
  private let network: ClusterNetwork?
  /// The state in which the navs of the round before ended.
  private var former: [String: NavHistory.Sight] = [:]
  /// The member that is lost in this round.
  private var victim = ""

  /// Starts everything; without `hasNetwork`, nothing can be cut off.
  init(hasNetwork: Bool) throws {
    network = hasNetwork ? try ClusterNetwork(Self.members + ServerPair.nodes) : nil
    pair = try ServerPair(in: network)
    cluster = try Cluster(on: pair, lease: Self.lease)
    for name in Self.members { try cluster.start(name) }
    try cluster.awaitBalance("a", "b", "c")
  }

  /// Loses one thing under load; returns what the histories of the navs prove wrong.
  func play(round: Int, _ loss: Loss, seed: UInt64) throws -> [String] {
    var random = SeededGenerator(seed: seed &+ UInt64(round))
    victim = Self.members.randomElement(using: &random) ?? "a"
    let load = try ClusterLoad(
      chosenNavs(round), MemberAddresses(cluster), seed: random.next())
    defer { load.abandon() }
    try load.awaitProgress()
    try lose(by: loss, load)
    var histories = try load.finish { nav in
      try UInt64(self.ask(nav) { try $0.state(nav) }["rev"]?.integer ?? 0)
    }
    var found = try compareFormer()
    for index in histories.indices { try complete(&histories[index]) }
    for history in histories {
      found += history.violations.prefix(5).map { "\(history.nav): \($0)" }
      former[history.nav] = history.final
    }
    try recover()
    return found + load.problems.filter { $0 != "abandoned" }
  }

  /// All that is known of the members, for a failure.
  var transcripts: String {
    cluster.members.sorted { $0.key < $1.key }.map {
      "\($0.key): \($0.value.child.transcript)"
    }.joined(separator: "\n")
  }

  /// Two navs of the victim, and one of each other member.
  private func chosenNavs(_ round: Int) throws -> [String] {
    let rows = try cluster.sql("SELECT id || ' ' || owner FROM navd.shard ORDER BY id")
    let owners = rows.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) }
    var wanted = Self.members + [victim]
    var navs: [String] = []
    var number = 0
    while !wanted.isEmpty, number < 10_000 {
      let nav = "r\(round)/\(number)"
      number += 1
      guard let owner = owners[Cluster.shard(of: nav)], let place = wanted.firstIndex(of: owner)
      else { continue }
      wanted.remove(at: place)
      navs.append(nav)
    }
    return navs
  }

  // The losses.

  private func lose(by loss: Loss, _ load: ClusterLoad) throws {
    let member = try #require(cluster.members[victim])
    switch loss {
    case .killed:
      try member.kill()
      try load.awaitProgress()
    case .stopped:
      member.child.kill(SIGSTOP)
      defer { member.child.kill(SIGCONT) }
      try load.awaitProgress()
    case .cutOff:
      try network?.cut(victim)
      defer { try? network?.heal(victim) }
      try load.awaitProgress()
    case .cutOffIdle:
      try load.pause()
      try network?.cut(victim)
      defer { try? network?.heal(victim) }
      try awaitTakeOver()
      load.resume(avoiding: victim)
      try load.awaitProgress(20)
    case .ended:
      let status = try member.stop()
      guard status == 0 else { throw Failure("\(victim) ended with \(status)") }
      try load.awaitProgress()
    case .primaryCrashed:
      pair.primary.kill()
      try pair.primary.start()
      try load.awaitProgress()
    case .standbyAway:
      pair.standby.kill()
      try awaitEndOfLeases(on: pair.primary)
      try pair.standby.start()
      try load.awaitProgress()
    case .primaryKilled:
      let former = pair.primaryNode
      pair.primary.kill()
      try pair.promote()
      try pair.addStandby(except: former)
      try load.awaitProgress()
    case .primaryCutOff: try cutPrimaryOff(load)
    case .primaryStopped: try stopPrimary(load)
    }
    if [.stopped, .cutOff, .cutOffIdle].contains(loss) {
      let status = try member.child.ended()
      guard status == 10 else { throw Failure("\(victim) ended with \(status), not 10") }
    }
    let isMember = [.killed, .stopped, .cutOff, .cutOffIdle, .ended].contains(loss)
    for (name, other) in cluster.members where !isMember || name != victim {
      guard other.child.isRunning else { throw Failure("\(name) has ended too") }
    }
  }

  /// Waits until other members have all shards of the victim.
  private func awaitTakeOver() throws {
    let isTaken = try eventually {
      try cluster.sql("SELECT count(*) FROM navd.shard WHERE owner = '\(victim)'") == "0"
    }
    guard isTaken else { throw Failure("nobody takes the shards of \(victim)") }
  }

  private func cutPrimaryOff(_ load: ClusterLoad) throws {
    let (former, node) = (pair.primary, pair.primaryNode)
    try cluster.sql("CREATE TABLE IF NOT EXISTS public.alone(number int)")
    try network?.cut(node)
    // It still runs, and takes what comes to its socket, but must not confirm it.
    let alone = try former.start("INSERT INTO public.alone VALUES(1)", in: cluster.database)
    let waits = try eventually {
      try cluster.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%alone%'"
          + " AND pid <> pg_backend_pid()", on: former) == "1"
    }
    try pair.promote()
    try pair.addStandby(except: node)
    try load.awaitProgress()
    let isConfirmed = !waits || !alone.isRunning
    former.kill()
    alone.awaitEnd()
    try network?.heal(node)
    guard !isConfirmed else { throw Failure("the primary that was cut off confirmed a commit") }
    let rows = try cluster.sql("SELECT count(*) FROM public.alone")
    guard rows == "0" else { throw Failure("the new primary has the row of the former one") }
  }

  private func stopPrimary(_ load: ClusterLoad) throws {
    try pair.primary.suspend()
    defer { pair.primary.resume() }
    // The standby has the newest leases.
    try awaitEndOfLeases(on: pair.standby)
    pair.primary.resume()
    try load.awaitProgress()
  }

  /// Waits until each lease has ended, as a server shows it; all servers have one clock here.
  private func awaitEndOfLeases(on server: PostgresServer) throws {
    let haveEnded = try eventually {
      try cluster.sql(
        "SELECT bool_and(leased_until < clock_timestamp()) FROM navd.member", on: server) == "t"
    }
    guard haveEnded else { throw Failure("a lease was renewed while a server was away") }
  }

  // The end of a round.

  /// Asks the member that serves a nav.
  private func ask<Value>(_ nav: String, _ body: (Peer) throws -> Value) throws -> Value {
    try body(Peer(cluster.owner(of: nav).endpoint))
  }

  private func sight(_ nav: String) throws -> NavHistory.Sight {
    let answer = try ask(nav) { try $0.state(nav) }
    return NavHistory.Sight(
      revision: answer["value"]?["rev"]?.integer ?? 0,
      screens: answer["value"]?["screens"]?.ids ?? [],
      digest: answer["value"]?["dig"]?.string ?? "",
      epoch: answer["value"]?["epoch"]?.string ?? "", isNext: false)
  }

  private func complete(_ history: inout NavHistory) throws {
    history.final = try sight(history.nav)
    let log = try ask(history.nav) { try $0.log(history.nav) }
    history.epochs = Set(log.compactMap { $0["epoch"]?.string })
    history.log = log.filter { $0["epoch"] == nil }.map { entry in
      NavHistory.Entry(
        revision: entry["rev"]?.integer ?? 0,
        client: entry["by"]?["name"]?.string ?? entry["cause"]?.string ?? "",
        id: entry["by"]?["op"]?.integer ?? 0, digest: entry["dig"]?.string ?? "")
    }
  }

  /// Compares the navs of the round before with what they were then.
  private func compareFormer() throws -> [String] {
    defer { former = [:] }
    return try former.sorted { $0.key < $1.key }.compactMap { nav, then in
      let now = try sight(nav)
      let isSame = now.epoch == then.epoch ? now.digest == then.digest : now.screens == then.screens
      guard now.revision != then.revision || !isSame else { return nil }
      return "\(nav) of the round before: \(now), not \(then)"
    }
  }

  /// Starts what has ended, and waits until nothing is missing.
  private func recover() throws {
    try pair.awaitSynchronous()
    for name in Self.members where cluster.members[name]?.child.isRunning == false {
      try cluster.start(name)
    }
    try cluster.awaitBalance("a", "b", "c")
  }
}
