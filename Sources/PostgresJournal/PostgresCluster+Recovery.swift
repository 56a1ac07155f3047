import Glibc
import Journal
import NavigationCore
import RuntimePaths

// A lost connection.

extension PostgresCluster {
  /// Finds out whether a commit of unknown outcome is stored.
  ///
  /// Throws `.fenced` if another process has this member's place; `.syncFailed` if no server was
  /// reached until `giveUp`, or if the server may lack what was confirmed.
  func areStored(
    _ engines: [PostgresEngine], until giveUp: UInt64, _ reason: String
  ) throws(JournalError) -> Bool {
    var reason = reason
    while SystemClock.monotonicMilliseconds() < giveUp {
      switch reconnect() {
      case .member(let found): return try compare(found, engines)
      case .replaced:
        throw .syncFailed(
          path: name, reason: "the server was replaced while this daemon had no lease")
      case .fenced: throw .fenced(path: name)
      case .unreachable(let text): reason = text
      }
      _ = poll(nil, 0, PostgresPlace.pause)
    }
    throw .syncFailed(path: name, reason: reason)
  }

  /// A shard as a server has it.
  private struct StoredShard {
    var owner: String?
    var epoch: Int64
    var commits: Int64
  }

  /// How an attempt to connect again ended.
  private enum Reconnection {
    /// This process is still the member; the server has its shards like this.
    case member([Shard: StoredShard])
    /// Another process is.
    case fenced
    /// Another server may lack what a daemon confirmed that had shards of this one meanwhile.
    case replaced
    case unreachable(String)
  }

  /// Connects again, and raises the generation of this process.
  private func reconnect() -> Reconnection {
    do throws(PostgresError) {
      let found = try postgres.connectChecked()
      // With a synchronous standby, the take-over of another daemon would be on this server too.
      let mayLack = !isSynchronous && (lease?.end ?? 0) <= SystemClock.bootMilliseconds()
      if found.identity != server, mayLack { return .replaced }
      return try rejoin(found)
    } catch {
      return .unreachable(error.text)
    }
  }

  private func rejoin(_ found: PostgresServerConnection) throws(PostgresError) -> Reconnection {
    let lease = postgres.leaseFromNow()
    let results: [PostgresResult]
    do throws(PostgresError) {
      results = try found.connection.run(
        [
          PostgresCommand(
            """
            UPDATE navd.member SET generation = generation + 1, leased_until = \(Self.leaseInSQL)
            WHERE name = $2 AND process = $3 AND generation >= $4 RETURNING generation
            """, .integer(Int64(postgres.lease)), .text(postgres.member.name),
            .text(postgres.process), .integer(generation)),
          PostgresCommand(
            "SELECT id, owner, epoch, commits FROM navd.shard WHERE id = ANY($1)",
            .integers(shards.keys.map { Int64($0.number) })),
        ], until: postgres.deadline())
    } catch {
      if case .refused(PostgresError.lockTimeout, _) = error {
        postgres.endSilent(found.connection)
      }
      throw error
    }
    guard !found.connection.isUnreplicated else {
      return .unreachable("somebody cancels the wait for the standby")
    }
    guard results[0].count == 1, let generation = results[0].integer(0, 0) else { return .fenced }
    self.generation = generation
    connection = found.connection
    self.lease = lease
    let stored = Self.shards(results[1])
    if found.identity != server { try note(found, stored) }
    return .member(stored)
  }

  private static func shards(_ result: PostgresResult) -> [Shard: StoredShard] {
    var found: [Shard: StoredShard] = [:]
    for row in 0..<result.count {
      guard let id = result.integer(row, 0), let epoch = result.integer(row, 2),
        let commits = result.integer(row, 3)
      else { continue }
      found[Shard(Int(id))] = StoredShard(
        owner: result.text(row, 1), epoch: epoch, commits: commits)
    }
    return found
  }

  /// Notes that another server has everything of the shards whose numbers of commits are right.
  private func note(
    _ found: PostgresServerConnection, _ stored: [Shard: StoredShard]
  ) throws(PostgresError) {
    let proven = shards.filter { shard, own in
      stored[shard].map { (0...1).contains($0.commits - own.engine.stored) } ?? false
    }
    _ = try found.connection.run(
      [
        PostgresCommand(
          "UPDATE navd.shard SET server = $2 WHERE id = ANY($1)",
          .integers(proven.keys.map { Int64($0.number) }), .text(found.identity))
      ], until: postgres.deadline())
    server = found.identity
  }

  /// Whether the server has the commit of some shards; it has everything before in any case.
  private func compare(
    _ stored: [Shard: StoredShard], _ engines: [PostgresEngine]
  ) throws(JournalError) -> Bool {
    let committing = Set(engines.map(\.shard))
    var lost: [Shard] = []
    var outcomes: Set<Bool> = []
    for (shard, own) in shards {
      guard let found = stored[shard], found.epoch == own.engine.epoch else {
        lost.append(shard)
        continue
      }
      let excess = found.commits - own.engine.stored
      guard excess == 0 || excess == 1 && committing.contains(shard) else {
        throw .syncFailed(
          path: name,
          reason: "shard \(shard.number) has \(found.commits) commits, not \(own.engine.stored)")
      }
      if committing.contains(shard) { outcomes.insert(excess == 1) }
    }
    guard outcomes.count <= 1 else {
      throw .syncFailed(path: name, reason: "it has a part of a transaction")
    }
    // Of shards that another member has taken, nobody here knows whether it has the last commit.
    if !committing.isDisjoint(with: lost) { throw .fenced(path: name, shards: lost.sorted()) }
    return outcomes.first ?? true
  }
}
