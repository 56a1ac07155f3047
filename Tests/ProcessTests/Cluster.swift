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
  private(set) var members: [String: TestDaemon] = [:]
  /// The members that do not run, though their processes are there.
  private var stopped: Set<String> = []

  /// The lease in milliseconds.
  private let lease: Int
  /// The name of the machine; nil lets each member be on a machine of its own.
  private let host: String?

  /// Makes a database and no daemon.
  ///
  /// With `isReplicated`, its server has a synchronous standby; with `hasOwnServer`, no other test
  /// uses the server. By default the lease outlasts the test, so that a slow machine ends none;
  /// `expireLease` does.
  init(
    isReplicated: Bool = false, hasOwnServer: Bool = false, lease: Int = 60_000,
    host: String? = "host"
  ) throws {
    (self.lease, self.host) = (lease, host)
    if isReplicated {
      let primary = try PostgresServer()
      let standby = try PostgresServer(standbyOf: primary, options: ["cluster_name=standby"])
      try primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      try primary.sql("SELECT pg_reload_conf()")
      servers = [primary, standby]
    } else if hasOwnServer {
      servers = [try PostgresServer()]
    } else {
      servers = [try PostgresServer.shared.get()]
    }
    database = try servers[0].makeDatabase()
    conninfo = PostgresServer.conninfo(database, on: servers)
  }

  /// Lets the database refuse all rows, or accept them again.
  func setStorage(failing: Bool) throws {
    let change =
      failing ? "ADD CONSTRAINT refused CHECK (false) NOT VALID" : "DROP CONSTRAINT refused"
    try sql("ALTER TABLE navd.log \(change)")
  }

  /// Loses a member, or the server.
  func lose(_ member: TestDaemon, by loss: Loss, _ note: String) throws {
    switch loss {
    case .killed:
      try member.kill()
      try expireLease(of: member)
    case .stopped:
      member.child.kill(SIGSTOP)
      let name = try name(of: member)
      stopped.insert(name)
      try expireLease(of: member)
      // Until another member takes over, it may go on.
      let isTaken = try eventually {
        try sql("SELECT count(*) FROM navd.shard WHERE owner = '\(name)'") == "0"
      }
      #expect(isTaken, "\(note)")
    case .ended: #expect(try member.stop() == 0, "\(note)")
    case .serverCrashed:
      servers[0].kill()
      try servers[0].start()
    }
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
      found = stopped.contains(name) ? nil : members[name]
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

  /// Runs SQL in the database, by default that of the first server; returns what it prints.
  @discardableResult func sql(_ text: String, on server: PostgresServer? = nil) throws -> String {
    try (server ?? servers[0]).sql(text, in: database)
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
    stopped.remove(name)
    if let member = members[name] {
      try member.start()
      return member
    }
    let member = try TestDaemon(
      environment: environment(name).merging(more) { $1 }, program: "navd-cluster")
    members[name] = member
    return member
  }
}

/// How a member is lost, or the server.
enum Loss: String, CaseIterable {
  /// It is killed.
  case killed
  /// It is stopped for longer than its lease, and goes on.
  case stopped
  /// It ends in order.
  case ended
  /// It stays, but its database server crashes and starts again.
  case serverCrashed
}

/// A client that follows one nav through a cluster: it sends the same octets again, to whichever
/// member owns the nav, until one answers.
final class Follower {
  let nav: String
  private let cluster: Cluster
  private let note: String
  private let client = (0..<4).map { _ in
    String(format: "%08x", UInt32.random(in: .min ... .max))
  }.joined()
  private var peer: Peer?
  private var lastID = 0
  /// The message without an answer.
  private var sent: (id: Int, verb: String, body: String)?

  init(_ cluster: Cluster, _ nav: String, _ note: String) {
    (self.cluster, self.nav, self.note) = (cluster, nav, note)
  }

  func perform(_ operations: String) throws {
    try send(operations)
    try finish()
  }

  /// Sends an op, and waits for nothing.
  func send(_ operations: String) throws {
    try send("op", #""nav":"\#(nav)","do":\#(operations)"#)
  }

  @discardableResult func ask(_ verb: String, _ members: String) throws -> JSON {
    try send(verb, members)
    return try finish()
  }

  private func send(_ verb: String, _ members: String) throws {
    lastID += 1
    let message = (id: lastID, verb: verb, body: "{\"id\":\(lastID),\(members)}")
    sent = message
    try reached().send(verb, message.body)
  }

  private func reached() throws -> Peer {
    if let peer { return peer }
    let peer = try cluster.peer(for: nav, client: client)
    self.peer = peer
    return peer
  }

  /// Waits for the answer to the message that was sent last.
  @discardableResult func finish() throws -> JSON {
    guard let (id, verb, body) = sent else { throw Failure("nothing was sent") }
    let end = Date(timeIntervalSinceNow: Child.patience)
    while Date() < end {
      let peer = try reached()
      while let message = try peer.receive(within: 0.5) {
        guard message.body["id"]?.integer == UInt64(id) else { continue }
        if message.verb == "ok" { return message.body }
        guard ["moved", "busy"].contains(message.body["code"]?.string) else {
          throw Failure("\(note): \(message.body)")
        }
        break
      }
      self.peer = nil
      try reached().send(verb, body)
    }
    throw Failure("\(note): no answer about \(nav)")
  }
}
