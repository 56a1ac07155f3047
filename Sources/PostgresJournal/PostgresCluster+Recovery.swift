import Glibc
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

// A lost connection.

extension PostgresCluster {
  /// Finds out whether a commit of unknown outcome is stored.
  ///
  /// Throws `.fenced` if another process has this member's place, or if the database may lack
  /// commits of a shard of this one; `.syncFailed` if no server was reached until `giveUp`.
  /// `doubtfulShards` then has the shards that the daemon must load again.
  func isCommitStored(
    of engines: [PostgresEngine], until giveUp: UInt64, _ reason: String
  ) throws(JournalError) -> Bool {
    var reason = reason
    while SystemClock.monotonicMilliseconds() < giveUp {
      let isStored: Bool?
      do throws(PostgresError) {
        isStored = try rejoin(committing: Set(engines.map(\.shard)))
      } catch {
        reason = error.text
        _ = poll(nil, 0, PostgresPlace.reconnectPauseMilliseconds)
        continue
      }
      guard let isStored else { throw .fenced(path: name) }
      if engines.contains(where: { doubtfulShards.contains($0.shard) }) { try throwIfDoubtful() }
      return isStored
    }
    throw .syncFailed(path: name, reason: reason)
  }

  /// Connects again, raises the generation, and finds the shards of which the database lacks
  /// commits.
  ///
  /// Returns whether the last commit is stored; nil if another process has become the member.
  private func rejoin(committing: Set<Shard>) throws(PostgresError) -> Bool? {
    let connection = try postgres.connectChecked()
    let identity = try postgres.identity(connection)
    let results = try raiseGeneration(connection)
    guard results[0].count == 1, let generation = results[0].integer(0, 0) else { return nil }
    self.generation = generation
    let hasLease = (heldLease?.lease.end ?? 0) > SystemClock.bootMilliseconds()
    let reconnection = PostgresHistory.Reconnection(
      former: self.identity, found: identity, hasLease: hasLease,
      isRenewalStored: results[0].integer(0, 1) ?? 0 >= heldLease?.serverEndMicroseconds ?? 0)
    let verdicts = reconnection.verdicts(
      shards.mapValues(\.engine.expectedCount), committing, Self.counts(results[1]), doubtfulShards)
    doubtfulShards.formUnion(verdicts.shards { !$0.isComplete })
    guard let renewed = try renewLease(reconnection, verdicts, on: connection) else { return nil }
    guard !connection.isUnreplicated else {
      throw .unreachable("somebody cancels the wait for the standby")
    }
    warn(of: verdicts.shards { $0 == .lost || $0 == .doubtful })
    (heldLease, self.connection, self.identity) = (renewed, connection, identity)
    return verdicts.values.contains(.complete(isCommitStored: true)) || committing.isEmpty
  }

  /// Returns two results: the new generation with the end of the last lease, and the shards' rows.
  private func raiseGeneration(
    _ connection: PostgresConnection
  ) throws(PostgresError) -> [PostgresResult] {
    do throws(PostgresError) {
      return try connection.run([
        // A database that went back has a lower generation.
        PostgresCommand(
          """
          UPDATE navd.member SET generation = greatest(generation, $3) + 1
          WHERE name = $1 AND process = $2 RETURNING generation, \(Self.leaseEndMicrosecondsSQL)
          """, .text(postgres.member.name), .text(postgres.process), .integer(generation)),
        PostgresCommand(
          "SELECT id, epoch, commits FROM navd.shard WHERE id = ANY($1)",
          .integers(shards.keys.map { Int64($0.number) })), Self.planningCommand,
      ])
    } catch {
      if case .refused(PostgresError.lockTimeout, _) = error { postgres.endLostPeers(connection) }
      throw error
    }
  }

  static func counts(_ result: PostgresResult) -> [Shard: PostgresHistory.Count] {
    var found: [Shard: PostgresHistory.Count] = [:]
    for row in 0..<result.count {
      guard let id = result.integer(row, 0), let epoch = result.integer(row, 1),
        let commits = result.integer(row, 2)
      else { continue }
      found[Shard(Int(id))] = PostgresHistory.Count(ownerEpoch: epoch, commits: commits)
    }
    return found
  }

  /// Renews the lease, and stores which shards the database has whole and which lack commits;
  /// returns the lease, or nil if another process has become the member.
  private func renewLease(
    _ reconnection: PostgresHistory.Reconnection, _ verdicts: [Shard: PostgresHistory.Verdict],
    on connection: PostgresConnection
  ) throws(PostgresError) -> (lease: JournalLease, serverEndMicroseconds: Int64)? {
    let lease = postgres.leaseFromNow()
    var commands = [
      PostgresCommand(
        """
        UPDATE navd.member SET leased_until = \(Self.newLeaseEndSQL)
        WHERE name = $2 AND process = $3 AND generation = $4
        RETURNING \(Self.leaseEndMicrosecondsSQL), ctid
        """, .integer(Int64(postgres.lease)), .text(postgres.member.name), .text(postgres.process),
        .integer(generation))
    ]
    let lost = verdicts.shards { $0 == .lost }
    // A shard whose navs still need new epochs keeps its former server, by which the next owner knows.
    let whole = verdicts.shards(where: \.isComplete).filter { shard in
      shards[shard].map { $0.engine.rowLoss == nil } ?? false
    }
    if !lost.isEmpty { commands.append(Self.markLostCommand(lost)) }
    if reconnection.found != reconnection.former {
      commands.append(
        PostgresCommand(
          "UPDATE navd.shard SET server = $2 WHERE id = ANY($1) RETURNING id, ctid",
          .integers(whole.map { Int64($0.number) }), .text(reconnection.found.text)))
    }
    let results = try connection.run(commands)
    let renewed = results[0]
    memberCTID = renewed.integer(0, 1) ?? 0
    if reconnection.found != reconnection.former, let moved = results.last {
      for row in 0..<moved.count {
        let shard = moved.integer(row, 0).map { Shard(Int($0)) }
        if let shard { shards[shard]?.engine.shardCTID = moved.integer(row, 1) ?? 0 }
      }
    }
    return renewed.count == 1 ? renewed.integer(0, 0).map { (lease, $0) } : nil
  }

  /// Marks shards that lack commits, so that their next owner gives new epochs to the navs.
  static func markLostCommand(_ lost: [Shard]) -> PostgresCommand {
    PostgresCommand(
      "UPDATE navd.shard SET restored = true WHERE id = ANY($1)",
      .integers(lost.map { Int64($0.number) }))
  }

  func warn(of lost: [Shard]) {
    guard !lost.isEmpty else { return }
    postgres.warn(
      "\(name) may lack confirmed commits of \(lost.count) shards; their navs get new epochs")
  }
}
