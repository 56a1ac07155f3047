import Foundation
import NavigationCore
import PostgresServer
import Testing

/// The daemons of a cluster: programs that divide the navs of one database.
final class Cluster {
  /// The servers of the database; the first one begins as the primary.
  let servers: [PostgresServer]
  let conninfo: String
  let database: String
  /// A pair of servers that fail over, in place of `servers`, and the network of all.
  private let pair: ServerPair?
  private let network: ClusterNetwork?
  private(set) var members: [String: TestDaemon] = [:]

  /// The lease in milliseconds.
  private let lease: Int
  /// The name of the machine; nil lets each member be on a machine of its own.
  private let host: String?

  /// Makes a database and no daemon.
  ///
  /// Each commit waits for the first of the `standbys` that is there; with `hasOwnServer`, no other
  /// test uses the server. By default the lease outlasts the test, so that a slow machine ends none;
  /// `expireLease` does.
  init(
    standbys: Int = 0, hasOwnServer: Bool = false, lease: Int = 60_000,
    host: String? = "host"
  ) throws {
    (self.lease, self.host) = (lease, host)
    (pair, network) = (nil, nil)
    if standbys > 0 {
      let primary = try PostgresServer()
      let names = (1...standbys).map { "standby\($0)" }
      servers =
        try [primary]
        + names.map {
          try PostgresServer(standbyOf: primary, options: ["cluster_name=\($0)"])
        }
      try primary.requireStandby("FIRST 1 (\(names.joined(separator: ", ")))")
    } else if hasOwnServer {
      servers = [try PostgresServer()]
    } else {
      servers = [try PostgresServer.shared.get()]
    }
    database = try servers[0].makeDatabase()
    conninfo = PostgresServer.conninfo(database, on: servers)
  }

  /// Makes a database on a pair of servers; each member is in its namespace of a network.
  init(on pair: ServerPair, lease: Int) throws {
    (self.pair, network, self.lease, servers, host) = (pair, pair.network, lease, [], "host")
    database = try pair.primary.makeDatabase()
    conninfo = pair.conninfo(database)
  }

  /// Lets the database refuse all rows, or accept them again.
  func setStorage(failing: Bool) throws {
    let change =
      failing ? "ADD CONSTRAINT refused CHECK (false) NOT VALID" : "DROP CONSTRAINT refused"
    try sql("ALTER TABLE navd.log \(change)")
  }

  /// Kills a member, and ends its lease.
  func lose(_ member: TestDaemon) throws {
    try member.kill()
    try expireLease(of: member)
  }

  /// The name of a member.
  func name(of member: TestDaemon) throws -> String {
    try #require(members.first { $0.value === member }?.key)
  }

  /// Ends the lease of a member in the database, as time would.
  func expireLease(of member: TestDaemon, on server: PostgresServer? = nil) throws {
    try sql(
      """
      UPDATE navd.member SET leased_until = clock_timestamp() WHERE name = '\(name(of: member))'
        AND process IS NOT NULL
      """, on: server)
    try sql("NOTIFY navd", on: server)
  }

  /// The number of the shard of a nav.
  static func shard(of nav: String) -> Int { Shard(ofName: nav, among: Shard.count).number }

  /// Waits until a member serves a nav, and returns it.
  @discardableResult
  func owner(of nav: String, except former: TestDaemon? = nil) throws -> TestDaemon {
    var found: TestDaemon?
    let isThere = try eventually {
      let name = try sql("SELECT owner FROM navd.shard WHERE id = \(Self.shard(of: nav))")
      found = members[name]
      guard let found, found !== former, found.child.isRunning else { return false }
      let answer = try Peer(found.endpoint).ask("get", #""nav":"\#(nav)""#)
      return !["moved", "busy"].contains(answer.body["code"]?.string)
    }
    guard isThere, let found else { throw Failure("nobody serves \(nav)") }
    return found
  }

  /// The addresses of members, separated by commas.
  func endpoints(_ names: String...) -> String {
    names.compactMap { members[$0]?.endpoint }.joined(separator: ",")
  }

  /// Asks for a nav to be moved, and waits for nothing.
  func move(_ nav: String, to name: String) throws {
    try sql("UPDATE navd.shard SET wanted = '\(name)' WHERE id = \(Self.shard(of: nav))")
    try sql("NOTIFY navd")
  }

  /// Waits until each of some members has about as many shards.
  func awaitBalance(_ names: String...) throws {
    let least = Shard.count / names.count - 1
    let list = names.map { "'\($0)'" }.joined(separator: ", ")
    let isThere = try eventually {
      try sql(
        """
        SELECT count(*) FROM (SELECT owner FROM navd.shard WHERE owner IN (\(list))
          GROUP BY owner HAVING count(*) >= \(least)) AS parts
        """) == "\(names.count)"
    }
    let division = try isThere ? "" : sql("SELECT owner, count(*) FROM navd.shard GROUP BY 1")
    #expect(
      isThere,
      "\(names) do not share the navs: \(division)\n\(members.values.map(\.child.transcript))")
  }

  /// A peer of the member that serves a nav, with a session.
  func peer(for nav: String, client: String? = nil, except former: TestDaemon? = nil) throws
    -> Peer
  {
    let peer = try Peer(owner(of: nav, except: former).endpoint, client: client)
    try peer.hello()
    return peer
  }

  /// Runs SQL in the database of the primary, or of another server; returns what it prints.
  @discardableResult func sql(_ text: String, on server: PostgresServer? = nil) throws -> String {
    try (server ?? pair?.primary ?? servers[0]).sql(text, in: database)
  }

  /// The environment of a member.
  func environment(_ name: String) -> [String: String] {
    [
      "NAVD_CLUSTER_DATABASE": conninfo, "NAVD_CLUSTER_MEMBER": name,
      "NAVD_CLUSTER_LEASE": "\(lease)", "NAVD_CLUSTER_HOST": host ?? name,
    ]
  }

  /// Starts a member, and waits until it serves.
  @discardableResult func start(_ name: String, environment more: [String: String] = [:]) throws
    -> TestDaemon
  {
    if let member = members[name] {
      try member.start()
      return member
    }
    let member = try TestDaemon(
      environment: environment(name).merging(more) { $1 }, program: "navd-cluster",
      namespace: network?.namespace(of: name))
    members[name] = member
    return member
  }
}
