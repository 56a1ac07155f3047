import Foundation
import NavigationCore
import PostgresServer
import Testing

/// The daemons of a cluster: programs on one database, of which one serves.
final class Cluster {
  /// The servers of the database; the first one begins as the primary.
  let servers: [PostgresServer]
  let conninfo: String
  private let database: String
  private(set) var members: [String: TestDaemon] = [:]

  /// The lease in milliseconds.
  private let lease: Int

  /// Makes a database and no daemon.
  ///
  /// With `isReplicated`, its server has a synchronous standby; with `hasOwnServer`, no other test
  /// uses the server. By default the lease outlasts the test, so that a slow machine ends none;
  /// `expireLease` does.
  init(isReplicated: Bool = false, hasOwnServer: Bool = false, lease: Int = 60_000) throws {
    self.lease = lease
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

  /// Loses the serving member, or the server.
  func lose(_ member: TestDaemon, by loss: Loss, _ note: String) throws {
    switch loss {
    case .killed:
      try member.kill()
      try expireLease()
    case .stopped:
      member.child.kill(SIGSTOP)
      try expireLease()
    case .ended: #expect(try member.stop() == 0, "\(note)")
    case .serverCrashed:
      servers[0].kill()
      try servers[0].start()
    }
  }

  /// Ends the lease in the database, as time would.
  func expireLease() throws { try sql("UPDATE navd.shard SET leased_until = clock_timestamp()") }

  /// Runs SQL in the database of the first server; returns what it prints.
  @discardableResult func sql(_ text: String) throws -> String {
    try servers[0].sql(text, in: database)
  }

  /// The environment of a member.
  func environment(_ name: String) -> [String: String] {
    [
      "NAVD_CLUSTER_DATABASE": conninfo, "NAVD_CLUSTER_MEMBER": name,
      "NAVD_CLUSTER_LEASE": "\(lease)",
    ]
  }

  /// Starts a member, and waits until it serves, or waits to take over.
  @discardableResult func start(_ name: String, isServing: Bool) throws -> TestDaemon {
    let said = isServing ? "serving " : "waiting to take over"
    if let member = members[name] {
      try member.start(until: said)
      return member
    }
    let member = try TestDaemon(
      environment: environment(name), program: "navd-cluster", until: said)
    members[name] = member
    return member
  }
}

/// How the serving member is lost, or its server.
enum Loss: String, CaseIterable {
  /// It is killed.
  case killed
  /// It is stopped for longer than the lease, and goes on.
  case stopped
  /// It ends in order.
  case ended
  /// It stays, but its database server crashes and starts again.
  case serverCrashed
}

extension ProcessTests {
  /// Several daemons on one database: one serves, and another takes over without a loss.
  @Suite struct ClusterTests {
    @Test func `what one member has confirmed the next one serves, with its epoch and digest`()
      throws
    {
      let cluster = try Cluster()
      let first = try cluster.start("a", isServing: true)
      let second = try cluster.start("b", isServing: false)
      let peer = try Peer(first.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      try peer.send("op", #"{"id":7,"nav":"kiosk","do":[{"push":{"screen":{"id":"wifi"}}}]}"#)
      let confirmed = try peer.awaits("ok") { $0.body["id"]?.integer == 7 }.body
      let before = try peer.state("kiosk")["value"]
      try first.kill()
      try cluster.expireLease()
      try second.child.complains("serving 1 nav")
      let other = try Peer(second.endpoint, client: peer.client)
      try other.hello()
      #expect(try other.state("kiosk")["value"] == before)
      // The client does not know whether its op was performed, and sends it again octet by octet.
      try other.send("op", #"{"id":7,"nav":"kiosk","do":[{"push":{"screen":{"id":"wifi"}}}]}"#)
      let repeated = try other.awaits("ok") { $0.body["id"]?.integer == 7 }.body
      #expect(repeated["rev"] == confirmed["rev"])
      #expect(try other.state("kiosk")["value"]?["rev"] == confirmed["rev"])
    }

    @Test func `a member that was stopped answers nothing and ends with status 10`() throws {
      let cluster = try Cluster(lease: 2000)
      let first = try cluster.start("a", isServing: true)
      let second = try cluster.start("b", isServing: false)
      let peer = try Peer(first.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      first.child.kill(SIGSTOP)
      try peer.send("op", #"{"id":8,"nav":"kiosk","do":[{"push":{"screen":{"id":"late"}}}]}"#)
      try peer.send("get", #"{"id":9,"nav":"kiosk"}"#)
      try second.child.complains("serving 1 nav")
      try Peer(second.endpoint).perform("kiosk", #"[{"push":{"screen":{"id":"new"}}}]"#)
      first.child.kill(SIGCONT)
      #expect(try first.child.ended() == 10, "\(first.child.transcript)")
      #expect(first.child.standardError.contains("has taken over PostgreSQL"))
      while let message = try peer.receive(within: 0.2) {
        #expect(message.body["id"]?.integer != 8 && message.body["id"]?.integer != 9, "\(message)")
      }
      #expect(
        try Peer(second.endpoint).state("kiosk")["value"]?["screens"]?.ids == [
          "home", "first", "new",
        ])
      // It comes back as the one that waits.
      try cluster.start("a", isServing: false)
      #expect(try second.stop() == 0)
      try first.child.complains("serving 1 nav")
    }

    @Test func `a user of one member is nobody on another`() throws {
      let cluster = try Cluster()
      let first = try cluster.start("a", isServing: true)
      let second = try cluster.start("b", isServing: false)
      let peer = try Peer(first.endpoint)
      try peer.create("kiosk")
      #expect(try first.navctl(["log", "kiosk"]).output.contains("uid:\(getuid())@a"))
      #expect(try first.stop() == 0)
      try second.child.complains("serving 1 nav")
      try Peer(second.endpoint).perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      let log = try second.navctl(["log", "kiosk"]).output
      #expect(log.contains("uid:\(getuid())@a") && log.contains("uid:\(getuid())@b"), "\(log)")
    }

    @Test func `a member without clients keeps its lease`() throws {
      let cluster = try Cluster(lease: 2000)
      try cluster.start("a", isServing: true)
      let second = try cluster.start("b", isServing: false)
      let begin = try cluster.sql("SELECT clock_timestamp()")
      #expect(
        try eventually {
          try cluster.sql(
            "SELECT leased_until > '\(begin)'::timestamptz + interval '6 s' FROM navd.shard") == "t"
        })
      #expect(try cluster.sql("SELECT owner FROM navd.shard") == "a")
      #expect(!second.child.standardError.contains("serving"))
    }

    @Test func `a member that waits ends in order`() throws {
      let cluster = try Cluster()
      try cluster.start("a", isServing: true)
      let second = try cluster.start("b", isServing: false)
      #expect(try second.stop() == 0)
    }

    /// Runs 300 rounds with NAVD_TEST_LONG=1; NAVD_TEST_SEED repeats the choices of a run.
    @Test func `losses of members and of the server lose and double nothing`() throws {
      let environment = ProcessInfo.processInfo.environment
      let seed = environment["NAVD_TEST_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
      try lose(rounds: environment["NAVD_TEST_LONG"] == nil ? 6 : 300, seed: seed)
    }

    @Test func `the standby of the server takes over while a member serves`() throws {
      let cluster = try Cluster(isReplicated: true)
      let member = try cluster.start("a", isServing: true)
      let peer = try Peer(member.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      let epoch = try peer.state("kiosk")["value"]?["epoch"]
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      cluster.servers[0].kill()
      try peer.send("op", #"{"id":50,"nav":"kiosk","do":[{"push":{"screen":{"id":"next"}}}]}"#)
      try cluster.servers[1].promote()
      // Its new primary has no standby that it could wait for.
      try cluster.servers[1].sql("ALTER SYSTEM SET synchronous_standby_names = ''")
      try cluster.servers[1].sql("SELECT pg_reload_conf()")
      _ = try peer.awaits("ok") { $0.body["id"]?.integer == 50 }
      let state = try peer.state("kiosk")["value"]
      #expect(state?["screens"]?.ids == ["home", "first", "next"])
      // The member knows that nothing is missing, so mirrors stay valid.
      #expect(state?["epoch"] == epoch)
      #expect(member.child.isRunning)
      #expect(try member.stop() == 0)
      try cluster.start("a", isServing: true)
      #expect(try Peer(member.endpoint).state("kiosk")["value"] == state)
    }

    @Test func `what only a directory has is refused with the way of the server`() throws {
      let cluster = try Cluster()
      let environment = cluster.environment("a")
      let refused: [([String], [String: String], Int32, String)] = [
        (["--durability", "relaxed"], [:], 3, "set synchronous_commit of the server instead"),
        (["--restore", "/x"], [:], 2, "recover the database server to a point in time"),
        ([], ["NAVD_CLUSTER_DATABASE": ""], 3, "navd-cluster keeps its journal in a database"),
        ([], ["NAVD_CLUSTER_DATABASE": "host=/x password=p4ss"], 3, "use passfile"),
        ([], ["NAVD_CLUSTER_DATABASE": "host=/nowhere"], 7, "/nowhere"),
        (["--check-config"], ["NAVD_CLUSTER_DATABASE": "hots=/x"], 3, "hots"),
      ]
      for (options, changes, status, text) in refused {
        let child = try Child(
          Binaries.path("navd-cluster"), options,
          environment: environment.merging(changes) { $1 }.filter { !$1.isEmpty })
        #expect(try child.ended() == status, "\(child.transcript)")
        #expect(child.standardError.contains(text), "\(child.transcript)")
        #expect(!child.standardError.contains("p4ss"))
      }
      let plain = try Child(Binaries.path("navd"), [], environment: environment)
      #expect(try plain.ended() == 3)
      #expect(plain.standardError.contains("needs navd-cluster"), "\(plain.transcript)")
      let member = try cluster.start("a", isServing: true)
      let backup = try member.navctl(["backup"])
      #expect(backup.status != 0 && backup.errors.contains("pg_basebackup"), "\(backup)")
    }

    @Test func `a server is checked before it is trusted`() throws {
      func qualify(_ conninfo: String) throws -> (status: Int32, output: String) {
        let child = try Child(
          Binaries.path("navd-cluster"), ["--qualify", conninfo],
          environment: ["PATH": "/usr/bin:/bin"])
        return (try child.ended(), child.standardOutput)
      }
      let careless = try PostgresServer(options: ["fsync=off"])
      let broken = try qualify(careless.conninfo("postgres"))
      #expect(broken.status == 1, "\(broken.output)")
      #expect(
        broken.output.contains("broken  its settings keep what it has confirmed: fsync is off"))
      #expect(broken.output.contains("broken  each commit syncs the log: 20 commits made 0 syncs"))
      let cluster = try Cluster(isReplicated: true)
      let kept = try qualify(cluster.conninfo)
      #expect(kept.status == 0, "\(kept.output)")
      #expect(kept.output.hasSuffix("the server can keep a journal\n"))
      #expect(kept.output.components(separatedBy: "kept ").count == 7, "\(kept.output)")
      let nowhere = try qualify("host=/nowhere")
      #expect(nowhere.status == 7 && nowhere.output.hasPrefix("not checked: "), "\(nowhere)")
    }

    /// Loses the serving member or the server again and again, while a client pushes onto a nav of
    /// its own; checks that each nav has exactly what was confirmed.
    private func lose(rounds: Int, seed: UInt64) throws {
      var random = SeededGenerator(seed: seed)
      let cluster = try Cluster(hasOwnServer: true)
      var (serving, waiting) = ("a", "b")
      try cluster.start(serving, isServing: true)
      try cluster.start(waiting, isServing: false)
      for round in 0..<rounds {
        let loss = Loss.allCases.randomElement(using: &random) ?? .killed
        let note = "seed \(seed), round \(round), \(loss)"
        let nav = "n\(round)"
        let member = try #require(cluster.members[serving])
        let next = try #require(cluster.members[waiting])
        let peer = try Peer(member.endpoint)
        try peer.hello()
        try peer.create(nav)
        for number in 0..<5 {
          try peer.perform(nav, #"[{"push":{"screen":{"id":"s\#(number)"}}}]"#)
        }
        try push(peer, nav)
        try cluster.lose(member, by: loss, note)
        if loss != .serverCrashed {
          try next.child.complains("serving ")
          if loss == .stopped {
            member.child.kill(SIGCONT)
            #expect(try member.child.ended() == 10, "\(note)")
          }
          try cluster.start(serving, isServing: false)
          swap(&serving, &waiting)
        }
        // The client follows, and sends again what it has no answer to.
        let endpoint = try #require(cluster.members[serving]).endpoint
        let follower = try Peer(endpoint, client: peer.client)
        try follower.hello()
        try push(follower, nav)
        _ = try follower.awaits("ok, \(note)") { $0.body["id"]?.integer == 900 }
        let expected = ["home"] + (0..<5).map { "s\($0)" } + ["late"]
        for earlier in max(0, round - 3)...round {
          let state = try follower.state("n\(earlier)")["value"]
          #expect(state?["screens"]?.ids == expected, "\(note): n\(earlier)")
          #expect(state?["rev"]?.integer == 7, "\(note): n\(earlier)")
        }
      }
    }

    /// Sends an op whose answer may not come.
    private func push(_ peer: Peer, _ nav: String) throws {
      try peer.send("op", #"{"id":900,"nav":"\#(nav)","do":[{"push":{"screen":{"id":"late"}}}]}"#)
    }
  }
}
