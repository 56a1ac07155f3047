import Glibc
import Journal
import NavigationCore
import NavigationHub
import RuntimePaths

/// Reads and changes who serves which shard, on a connection of its own.
final class PostgresKeeper: ClusterKeeper {
  private let place: PostgresPlace
  /// The cluster for which it takes shards, and which owns this keeper.
  weak var cluster: PostgresCluster?
  private var connection: PostgresConnection?
  /// Reads the records of the shards taken last.
  private var loading: PostgresLoading?
  private var wasConnected = false
  /// Until this time of the boot clock, in milliseconds, the keeper takes no shards from members
  /// that have not renewed their leases since the server came back.
  private var takeOverNotBefore: UInt64 = 0
  /// A lease that ends after this time was renewed since the server came back; in milliseconds of
  /// the server's clock.
  private var renewedLeasesEndAfter: Int64 = 0
  /// The time from which the keeper takes shards that another server proved.
  ///
  /// In milliseconds of the boot clock. Until then, a daemon with a lost take-over may still answer.
  var doubtfulNotBefore: UInt64 = 0
  private var isNotified = false
  private var leaseWatch: LeaseWatch
  /// The warnings that were last logged about the server and its tables.
  private var loggedWarnings: [String] = []
  /// The ends of the leases that had ended at the last `read`, as the database has them.
  private var endedLeaseEnds: [Int64] = []

  /// Makes a keeper, which connects when it is first used.
  init(_ place: PostgresPlace) {
    self.place = place
    leaseWatch = LeaseWatch(leaseMilliseconds: place.lease)
  }

  private func connectIfNeeded() throws(PostgresError) -> PostgresConnection {
    if let connection { return connection }
    let connection = try place.connectChecked()
    let results = try connection.run([PostgresCommand("LISTEN navd"), Self.clockCommand])
    // A connection was lost: the server was away.
    if wasConnected { delayTakeOvers(results[1].integer(0, 0) ?? 0) }
    wasConnected = true
    doubtfulNotBefore = SystemClock.bootMilliseconds() + place.reconnectionMilliseconds
    self.connection = connection
    return connection
  }

  /// The time of the server in milliseconds.
  private static let clockCommand = PostgresCommand(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint")

  /// Gives the other daemons time to renew leases that ended while the server was away.
  ///
  /// A daemon that renews its lease keeps its shards and the epochs of its navs. A daemon that has
  /// renewed its lease since then gets no more time.
  private func delayTakeOvers(_ serverMilliseconds: Int64) {
    takeOverNotBefore = SystemClock.bootMilliseconds() + place.reconnectionMilliseconds
    renewedLeasesEndAfter = serverMilliseconds + Int64(place.lease)
  }

  /// Runs statements, and closes the connection if it was lost.
  private func run(_ commands: [PostgresCommand]) throws(JournalError) -> [PostgresResult] {
    do throws(PostgresError) {
      let connection = try connectIfNeeded()
      try loading?.endTransaction()
      loading = nil
      return try connection.run(commands)
    } catch {
      loading = nil
      if case .unreachable = error { connection = nil }
      if case .refused(PostgresError.lockTimeout, _) = error, let connection {
        place.endLostPeers(connection)
      }
      throw .unreadable(path: place.name, reason: error.text)
    }
  }

  func read() throws(JournalError) -> ClusterState {
    isNotified = false
    let results = try run([
      PostgresCommand(
        """
        SELECT name, endpoint, key, web, draining::int, \(Self.leaseColumnsSQL)
        FROM navd.member ORDER BY name
        """),
      PostgresCommand("SELECT id, owner, wanted FROM navd.shard ORDER BY id"), Self.clockCommand,
      PostgresSchema.DurabilityVerdict.selectCommand,
    ])
    logNewWarnings(PostgresSchema.DurabilityVerdict(results[3]), shards: results[1].count)
    var owned: [String: [Shard]] = [:]
    var wanted: [Shard: String] = [:]
    for row in 0..<results[1].count {
      guard let id = results[1].integer(row, 0), id < Shard.count else { continue }
      if let owner = results[1].text(row, 1) { owned[owner, default: []].append(Shard(Int(id))) }
      wanted[Shard(Int(id))] = results[1].text(row, 2)
    }
    let now = SystemClock.bootMilliseconds()
    let members = (0..<results[0].count).map { row in
      let name = results[0].text(row, 0) ?? ""
      let lease = results[0].integer(row, 5).map {
        leaseWatch.noteLease(
          of: name, serverEnd: $0, millisecondsLeft: results[0].integer(row, 6) ?? 0, at: now)
      }
      return ClusterMember(
        name: name, endpoint: results[0].text(row, 1) ?? "", key: results[0].text(row, 2),
        web: results[0].text(row, 3), isDraining: results[0].integer(row, 4) == 1,
        leaseLeft: lease ?? 0, shards: owned[name] ?? [])
    }
    endedLeaseEnds = members.indices.filter { members[$0].leaseLeft <= 0 }
      .compactMap { results[0].integer($0, 5) }
    // The server answers, but stores nothing: its standby is away. So it is for all daemons.
    if members.contains(where: { $0.name == place.member.name && $0.leaseLeft <= 0 }) {
      delayTakeOvers(results[2].integer(0, 0) ?? 0)
    }
    return ClusterState(
      view: ClusterView(ownName: place.member.name, members: members, leaseDuration: place.lease),
      wantedOwners: wanted)
  }

  /// The end of a lease in microseconds, NULL if nobody holds it, and the milliseconds until then.
  private static let leaseColumnsSQL = """
    CASE WHEN process IS NOT NULL THEN \(PostgresCluster.leaseEndMicrosecondsSQL) END,
    (extract(epoch FROM leased_until - clock_timestamp()) * 1000)::bigint
    """

  /// Logs new warnings about the server's settings and its tables, which an administrator can
  /// change at any time.
  private func logNewWarnings(_ settings: PostgresSchema.DurabilityVerdict, shards: Int) {
    var found = [settings.refusal].compactMap { $0 } + settings.warnings
    if shards < Shard.count {
      found.append(
        "navd.shard has \(shards) of \(Shard.count) rows: the navs of the others are not served")
    }
    for warning in found where !loggedWarnings.contains(warning) {
      place.warn("\(place.name): \(warning)")
    }
    loggedWarnings = found
  }

  func take(_ shards: [Shard]) throws(JournalError) -> [Journal] {
    guard let cluster, !shards.isEmpty else { return [] }
    let connection = try place.reading { () throws(PostgresError) in try connectIfNeeded() }
    let now = SystemClock.bootMilliseconds()
    let mayEnd: Int64 = takeOverNotBefore <= now ? 1 : 0
    let mayDoubt: Int64 = doubtfulNotBefore <= now ? 1 : 0
    let numbers = PostgresValue.integers(shards.map { Int64($0.number) })
    let results = try run([
      // Waits for a commit of such a member that is under way, and fails every later one. A lease that
      // was renewed has not ended. Its own lease is compared again behind that wait: it has ended too
      // if the server stored nothing meanwhile.
      PostgresCommand(
        """
        UPDATE navd.member AS former SET process = NULL, generation = former.generation + 1
        FROM navd.member AS own
        WHERE own.name = $4 AND own.process = $5 AND own.leased_until > clock_timestamp()
          AND former.name <> own.name AND former.process IS NOT NULL
          AND (extract(epoch FROM former.leased_until) * 1000000)::bigint = ANY($6)
          AND ($2 = 1 OR former.leased_until > to_timestamp($3 / 1000.0))
          AND former.name IN (SELECT owner FROM navd.shard WHERE id = ANY($1))
        """, numbers, .integer(mayEnd), .integer(renewedLeasesEndAfter), .text(place.member.name),
        .text(place.process), .integers(endedLeaseEnds)),
      PostgresCommand(
        """
        WITH former AS (SELECT id, owner FROM navd.shard WHERE id = ANY($1)),
        found AS (SELECT \(PostgresIdentity.sql) AS identity),
        taken AS (
          UPDATE navd.shard SET owner = $2, epoch = epoch + 1 FROM found
          WHERE id = ANY($1) AND (owner IS NULL OR owner = $2
            OR NOT EXISTS(SELECT 1 FROM navd.member WHERE name = owner AND process IS NOT NULL))
            AND EXISTS(SELECT 1 FROM navd.member WHERE name = $2 AND process = $3)
            AND identity IS NOT NULL AND ($4 = 1 OR server = identity)
          RETURNING id, epoch, commits, seq, restored, server, shard.ctid AS place
        )
        SELECT id, epoch, commits, seq, restored::int, server, identity, former.owner,
          (seq > 0 OR EXISTS(SELECT 1 FROM navd.log WHERE shard = id))::int, place
        FROM taken JOIN former USING(id), found ORDER BY id
        """, numbers, .text(place.member.name), .text(place.process), .integer(mayDoubt)),
      PostgresCommand("SELECT shard, key, value FROM navd.fact WHERE shard = ANY($1)", numbers),
      PostgresCluster.notificationCommand,
    ])
    recordTakeOver(results[1], connection)
    return try makeJournals(results[1], facts: results[2], connection, cluster)
  }

  /// Stores in `navd.takeover` which members had the shards before.
  ///
  /// A failure is ignored, because only people read the record.
  private func recordTakeOver(_ taken: PostgresResult, _ connection: PostgresConnection) {
    var shards: [String?: [Int64]] = [:]
    for row in 0..<taken.count {
      shards[taken.text(row, 7), default: []].append(taken.integer(row, 0) ?? 0)
    }
    let entries = shards.map { former, shards in
      PostgresCommand(
        """
        INSERT INTO navd.takeover(at, owner, former, shards, first, last, server)
        VALUES(clock_timestamp(), $1, $2, $3, $4, $5, $6)
        """, .text(place.member.name), .text(former), .integer(Int64(shards.count)),
        .integer(shards.min() ?? 0), .integer(shards.max() ?? 0), .text(taken.text(0, 6)))
    }
    let pruning = PostgresCommand(
      "DELETE FROM navd.takeover WHERE number < (SELECT max(number) FROM navd.takeover) - 10000")
    guard !entries.isEmpty else { return }
    do throws(PostgresError) {
      _ = try connection.run(entries + [pruning])
    } catch {
      place.warn("\(place.name): navd.takeover has no entry for this take-over: \(error.text)")
    }
  }

  private func makeJournals(
    _ result: PostgresResult, facts rows: PostgresResult, _ connection: PostgresConnection,
    _ cluster: PostgresCluster
  ) throws(JournalError) -> [Journal] {
    var taken: [Journal] = []
    let used = (0..<result.count).filter { result.integer($0, 8) == 1 }
    let loading = PostgresLoading(
      connection, place, used.compactMap { result.integer($0, 0).map { Shard(Int($0)) } })
    self.loading = loading
    var facts: [Int64: [String: [UInt8]]] = [:]
    for row in 0..<rows.count {
      guard let shard = rows.integer(row, 0), let key = rows.text(row, 1) else { continue }
      facts[shard, default: [:]][key] = rows.bytes(row, 2) ?? []
    }
    for row in 0..<result.count {
      guard let id = result.integer(row, 0), let epoch = result.integer(row, 1),
        let commits = result.integer(row, 2), let sequence = result.bits(row, 3),
        let identity = PostgresIdentity(result.text(row, 6))
      else { continue }
      let loss = PostgresHistory.loss(
        result.text(row, 5) ?? "", isMarked: result.integer(row, 4) == 1, in: identity)
      let engine = PostgresEngine(
        Shard(Int(id)), of: cluster, epoch: epoch, commits: commits, sequence: sequence,
        shardCTID: result.integer(row, 9) ?? 0, in: identity, loss: loss,
        loading: (loading, facts[id] ?? [:]))
      taken.append(try Journal(engine, in: cluster.postgres, retention: Retention.standard))
    }
    return taken
  }

  func store(_ wish: ClusterCommand) throws(JournalError) -> ClusterCommandFailure? {
    let command: PostgresCommand
    let member: String
    switch wish {
    case .move(let shard, let name):
      member = name
      command = PostgresCommand(
        "UPDATE navd.shard SET wanted = $2 WHERE id = $1", .integer(Int64(shard.number)),
        .text(name))
    case .drain(let name, let isOn):
      member = name
      command = PostgresCommand(
        "UPDATE navd.member SET draining = ($1 = 1) WHERE name = $2", .integer(isOn ? 1 : 0),
        .text(name))
    }
    let known = try run([
      PostgresCommand("SELECT 1 FROM navd.member WHERE name = $1", .text(member))
    ])
    guard known[0].count == 1 else { return .noMember(member) }
    _ = try run([command, PostgresCluster.notificationCommand])
    return nil
  }

  func wait(for descriptor: Int32, until time: UInt64) {
    let (boot, now) = (SystemClock.bootMilliseconds(), SystemClock.monotonicMilliseconds())
    var deadline = now + (time > boot ? time - boot : 0)
    if isNotified { deadline = now }
    do throws(PostgresError) {
      guard let connection else {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&entry, 1, Int32(clamping: deadline - now))
        return
      }
      isNotified = try connection.awaitNotification(or: descriptor, until: deadline)
    } catch {
      connection = nil
    }
  }
}
