import ChildProcess
import Foundation
import NavigationCore
import PostgresServer
import Testing

extension ProcessTests {
  /// Several daemons on one database divide the navs, and take over from each other without a loss.
  @Suite struct ClusterTests {
    @Test func `what one member has confirmed the next one serves, with its epoch and digest`()
      throws
    {
      let cluster = try Cluster()
      let first = try cluster.start("a")
      let peer = try Peer(first.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let owner = try cluster.owner(of: "kiosk")
      let known = try Peer(owner.endpoint, client: peer.client)
      try known.hello()
      // With ids beyond those of the first connection.
      try known.send("op", #"{"id":6,"nav":"kiosk","do":[{"push":{"screen":{"id":"first"}}}]}"#)
      _ = try known.awaits("ok") { $0.body["id"]?.integer == 6 }
      try known.send("op", #"{"id":7,"nav":"kiosk","do":[{"push":{"screen":{"id":"wifi"}}}]}"#)
      let confirmed = try known.awaits("ok") { $0.body["id"]?.integer == 7 }.body
      let before = try known.state("kiosk")["value"]
      try cluster.lose(owner)
      let other = try cluster.peer(for: "kiosk", client: peer.client, except: owner)
      #expect(try other.state("kiosk")["value"] == before)
      // The client does not know whether its op was performed, and sends it again octet by octet.
      try other.send("op", #"{"id":7,"nav":"kiosk","do":[{"push":{"screen":{"id":"wifi"}}}]}"#)
      let repeated = try other.awaits("answer") { $0.body["id"]?.integer == 7 }
      #expect(repeated.verb == "ok", "\(repeated)")
      #expect(repeated.body["rev"] == confirmed["rev"])
      #expect(try other.state("kiosk")["value"]?["rev"] == confirmed["rev"])
    }

    @Test("rule 1: sequences and nav numbers count in each shard without a gap")
    func shards() throws {
      let cluster = try Cluster()
      let peer = try Peer(cluster.start("a").endpoint)
      let names = (0..<20).map { "n\($0)" }
      for name in names {
        try peer.create(name)
        for number in 0..<3 {
          try peer.perform(name, #"[{"push":{"screen":{"id":"s\#(number)"}}}]"#)
        }
      }
      let navs = Dictionary(grouping: names) { Cluster.shard(of: $0) }
      #expect(navs.count > 10)
      for (shard, names) in navs {
        let sequence = try cluster.sql("SELECT seq FROM navd.shard WHERE id = \(shard)")
        #expect(sequence == "\(names.count * 4)", "\(shard)")
        let stored = try cluster.sql(
          "SELECT min(seq) || ' ' || max(last) FROM navd.log WHERE shard = \(shard)")
        #expect(stored == "1 \(names.count * 4)", "\(shard)")
      }
      #expect(
        try cluster.sql("SELECT count(*) FROM navd.shard WHERE seq > 0") == "\(navs.count)")
    }

    @Test("rule 4: a member that was stopped answers nothing and ends with status 10")
    func stopped() throws {
      let cluster = try Cluster(lease: 2000)
      let first = try cluster.start("a")
      let peer = try Peer(first.endpoint)
      try peer.create("kiosk")
      try peer.perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      first.child.kill(SIGSTOP)
      try peer.send("op", #"{"id":8,"nav":"kiosk","do":[{"push":{"screen":{"id":"late"}}}]}"#)
      try peer.send("get", #"{"id":9,"nav":"kiosk"}"#)
      let second = try cluster.start("b")
      try cluster.peer(for: "kiosk", except: first).perform(
        "kiosk", #"[{"push":{"screen":{"id":"new"}}}]"#)
      first.child.kill(SIGCONT)
      #expect(try first.child.ended() == 10, "\(first.child.transcript)")
      #expect(first.child.standardError.contains("has taken over PostgreSQL"))
      while let message = try peer.receive(within: 0.2) {
        #expect(message.body["id"]?.integer != 8 && message.body["id"]?.integer != 9, "\(message)")
      }
      let screens = try Peer(second.endpoint).state("kiosk")["value"]?["screens"]?.ids
      #expect(screens == ["home", "first", "new"])
      // It comes back, and gets its part.
      try cluster.start("a")
      try cluster.awaitBalance("a", "b")
      #expect(try second.stop() == 0)
      #expect(try cluster.owner(of: "kiosk") === first)
    }

    @Test("rule 5: who lost one shard decides the rest again, and answers moved, never storage")
    func fencedShard() throws {
      let cluster = try Cluster()
      let first = try cluster.start("a")
      let second = try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let names = try (0..<200).map { "n\($0)" }.filter {
        try cluster.sql("SELECT owner FROM navd.shard WHERE id = \(Cluster.shard(of: $0))") == "a"
      }.prefix(8)
      let peer = try Peer(first.endpoint)
      try peer.hello()
      for name in names { try peer.create(name) }
      // Behind its back: no notification, so the next commit is what it learns from.
      let lost = names[3]
      try cluster.sql(
        """
        UPDATE navd.shard SET owner = 'b', epoch = epoch + 1
        WHERE id = \(Cluster.shard(of: lost))
        """)
      for (index, name) in names.enumerated() {
        try peer.send(
          "op", #"{"id":\#(100 + index),"nav":"\#(name)","do":[{"push":{"screen":{"id":"x"}}}]}"#)
      }
      for (index, name) in names.enumerated() {
        let answer = try peer.awaits("the answer") { $0.body["id"]?.integer == UInt64(100 + index) }
        if name == lost {
          #expect(["moved", "busy"].contains(answer.body["code"]?.string), "\(answer)")
        } else {
          #expect(answer.verb == "ok", "\(answer)")
        }
      }
      try cluster.sql("NOTIFY navd")
      let there = try cluster.peer(for: lost, except: first)
      try there.perform(lost, #"[{"push":{"screen":{"id":"x"}}}]"#)
      #expect(try there.state(lost)["value"]?["screens"]?.ids == ["home", "x"])
      #expect(first.child.isRunning && second.child.isRunning)
    }

    @Test("rule 6: a daemon names the owner of another's nav, and no owner while there is none")
    func moved() throws {
      let cluster = try Cluster()
      let first = try cluster.start("a")
      try Peer(first.endpoint).create("kiosk")
      let second = try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let owner = try cluster.owner(of: "kiosk")
      let peer = try Peer(owner === first ? second.endpoint : first.endpoint)
      try peer.hello()
      let messages = [
        ("watch", #""nav":"kiosk""#), ("get", #""nav":"kiosk""#),
        ("delegate", #""nav":"kiosk","roles":["veto"]"#), ("lease", #""nav":"kiosk","take":true"#),
        ("op", #""nav":"kiosk","do":[{"pop":{}}]"#),
      ]
      for (verb, members) in messages {
        #expect(
          try eventually {
            let answer = try peer.ask(verb, members).body
            return answer["code"]?.string == "moved"
              && answer["endpoint"]?.string == owner.endpoint && answer["nav"]?.string == "kiosk"
              && answer["retry"]?.string == "same"
          }, "\(verb)")
      }
      #expect(try peer.ask("unwatch", #""nav":"kiosk""#).verb == "ok")
      // Nobody takes its shards as long as its lease holds.
      try owner.kill()
      try cluster.sql(
        "UPDATE navd.shard SET owner = NULL WHERE owner = '\(cluster.name(of: owner))'")
      try cluster.sql(
        "UPDATE navd.member SET draining = true, leased_until = now() + interval '1 h'")
      try cluster.sql(
        """
        UPDATE navd.member SET draining = false
        WHERE name = '\(cluster.name(of: owner))'
        """)
      try cluster.sql("NOTIFY navd")
      #expect(
        try eventually {
          let answer = try peer.ask("get", #""nav":"kiosk""#).body
          return answer["code"]?.string == "busy" && answer["reason"]?.string == "no-owner"
            && answer["after"]?.integer == 100
        })
    }

    @Test("rule 7: a nav moves with its watches, waiting ops and remembered ops")
    func move() throws {
      let cluster = try Cluster()
      let first = try cluster.start("a")
      let peer = try Peer(first.endpoint)
      try peer.hello()
      try peer.create("kiosk")
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let owner = try cluster.owner(of: "kiosk")
      let target = owner === first ? "b" : "a"
      let known = try Peer(owner.endpoint, client: peer.client)
      try known.hello()
      _ = try known.ask("watch", #""nav":"kiosk""#)
      let animated = #""nav":"kiosk","animated":true,"do":[{"push":{"screen":{"id":"wifi"}}}]"#
      #expect(try known.ask("op", animated).verb == "ok")
      // It waits for the transition, and so for longer than the move does.
      try known.send(
        "op",
        #"{"id":70,"nav":"kiosk","onBusy":"queue","do":[{"push":{"screen":{"id":"next"}}}]}"#)
      let state = try known.state("kiosk")["value"]
      let administrator = try Peer(owner.endpoint)
      try administrator.hello()
      let wish = try administrator.ask("cluster", #""move":"kiosk","to":"\#(target)""#)
      #expect(wish.verb == "ok", "\(wish)")
      let end = try known.awaits("end") { $0.verb == "end" }.body
      #expect(end["why"]?.string == "moved" && end["rev"] == state?["rev"])
      let there = try cluster.owner(of: "kiosk", except: owner)
      #expect(end["endpoint"]?.string == there.endpoint)
      let answer = try known.awaits("answer") { $0.body["id"]?.integer == 70 }
      if answer.verb != "ok" { #expect(answer.body["code"]?.string == "moved", "\(answer)") }
      let follower = try Peer(there.endpoint, client: peer.client)
      try follower.hello()
      let rev = state?["rev"]?.integer ?? 0
      let resumed = try follower.ask(
        "watch",
        #""nav":"kiosk","from":{"epoch":"\#(state?["epoch"]?.string ?? "")","rev":\#(rev),"#
          + #""dig":"\#(state?["dig"]?.string ?? "")"}"#)
      #expect(resumed.body["mode"]?.string == "resume", "\(resumed)")
      try follower.send(
        "op",
        #"{"id":70,"nav":"kiosk","onBusy":"queue","do":[{"push":{"screen":{"id":"next"}}}]}"#)
      _ = try follower.awaits("ok") { $0.verb == "ok" && $0.body["id"]?.integer == 70 }
      #expect(try follower.state("kiosk")["value"]?["screens"]?.ids == ["home", "wifi", "next"])
    }

    @Test func `a member that drains gives everything away, and takes again`() throws {
      let cluster = try Cluster()
      let first = try cluster.start("a")
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let peer = try Peer(first.endpoint)
      try peer.hello()
      #expect(
        try peer.ask("cluster", #""drain":"nobody""#).body["code"]?.string == "invalid-argument")
      #expect(try peer.ask("cluster", #""drain":"a""#).verb == "ok")
      try cluster.awaitBalance("b")
      let view = try peer.get(#""what":"cluster""#)["value"]
      let members = try #require(view?["members"]?.array)
      #expect(members.map { $0["name"]?.string } == ["a", "b"])
      #expect(members.map { $0["draining"] } == [.bool(true), .bool(false)])
      #expect(try peer.ask("cluster", #""drain":"a","on":false"#).verb == "ok")
      try cluster.awaitBalance("a", "b")
    }

    @Test func `a shard that is wanted elsewhere before it is served goes there`() throws {
      let cluster = try Cluster(hasOwnServer: true)
      try cluster.start("a")
      let second = try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let nav = try #require(
        try (0..<200).map { "n\($0)" }.first {
          try cluster.sql("SELECT owner FROM navd.shard WHERE id = \(Cluster.shard(of: $0))") == "b"
        })
      let peer = try Peer(second.endpoint)
      try peer.hello()
      try peer.create(nav)
      let shards = try cluster.sql("SELECT id FROM navd.shard WHERE owner = 'a' LIMIT 3")
        .split(separator: "\n")
      // A lock on its row delays the commit of `b`, and so what its loop does with shards.
      let lock = try cluster.servers[0].start(
        "SELECT 1 FROM navd.member WHERE name = 'b' FOR UPDATE; SELECT pg_sleep(60)",
        in: cluster.database)
      let waiting = "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event"
      #expect(try eventually { try cluster.sql(waiting + " = 'PgSleep'") == "t" })
      try peer.send("op", #"{"id":9,"nav":"\#(nav)","do":[{"push":{"screen":{"id":"late"}}}]}"#)
      #expect(try eventually { try cluster.sql(waiting + "_type = 'Lock'") == "t" })
      for (number, shard) in shards.enumerated() {
        // In one turn the keeper gives the second one away, then it takes the third one.
        if number == 2 {
          try cluster.sql("UPDATE navd.shard SET wanted = 'a' WHERE id = \(shards[1])")
        }
        let epoch = try cluster.sql(
          "UPDATE navd.shard SET owner = 'b', epoch = epoch + 1 WHERE id = \(shard) RETURNING epoch"
        )
        try cluster.sql("NOTIFY navd")
        #expect(
          try eventually {
            try cluster.sql("SELECT epoch FROM navd.shard WHERE id = \(shard)") != epoch
          })
      }
      try cluster.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
      lock.awaitEnd()
      _ = try peer.awaits("ok") { $0.verb == "ok" && $0.body["id"]?.integer == 9 }
      #expect(
        try eventually {
          try cluster.sql("SELECT owner FROM navd.shard WHERE id = \(shards[1])") == "a"
        })
    }

    @Test("rule 3: a user of one host is nobody on another")
    func hosts() throws {
      let cluster = try Cluster(host: nil)
      let first = try cluster.start("a")
      let peer = try Peer(first.endpoint)
      try peer.create("kiosk")
      #expect(try first.navctl(["log", "kiosk"]).output.contains("uid:\(getuid())@a"))
      #expect(try first.stop() == 0)
      let second = try cluster.start("b")
      try Peer(second.endpoint).perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      let log = try second.navctl(["log", "kiosk"]).output
      #expect(log.contains("uid:\(getuid())@a") && log.contains("uid:\(getuid())@b"), "\(log)")
    }

    @Test("rule 3: a local user is the same at all daemons of a host")
    func users() throws {
      let cluster = try Cluster(host: "till-3")
      let first = try cluster.start("a")
      let peer = try Peer(first.endpoint)
      #expect(try peer.hello()["you"]?["principal"]?.string == "uid:\(getuid())@till-3")
      try peer.create("kiosk")
      #expect(try first.stop() == 0)
      let second = try cluster.start("b")
      try Peer(second.endpoint).perform("kiosk", #"[{"push":{"screen":{"id":"first"}}}]"#)
      let lines = try second.navctl(["log", "kiosk"]).output.split(separator: "\n")
        .filter { $0.contains("uid:") }
      #expect(lines.count == 2 && lines.allSatisfy { $0.contains("uid:\(getuid())@till-3") })
    }

    @Test func `a member without clients keeps its lease`() throws {
      let cluster = try Cluster(lease: 2000)
      try cluster.start("a")
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let owners = "SELECT md5(string_agg(owner, ',' ORDER BY id)) FROM navd.shard"
      let before = try cluster.sql(owners)
      let begin = try cluster.sql("SELECT clock_timestamp()")
      #expect(
        try eventually {
          try cluster.sql(
            """
            SELECT bool_and(leased_until > '\(begin)'::timestamptz + interval '6 s')
            FROM navd.member
            """) == "t"
        })
      #expect(try cluster.sql(owners) == before)
      let running = cluster.members.values.count { $0.child.isRunning }
      #expect(running == 2)
    }

    @Test func `the standby of the server takes over while a member serves`() throws {
      let cluster = try Cluster(standbys: 1)
      let member = try cluster.start("a")
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
      try cluster.start("a")
      #expect(try Peer(member.endpoint).state("kiosk")["value"] == state)
    }

    @Test("rule 8: what only a directory has is refused with the way of the server")
    func directoryOnly() throws {
      let cluster = try Cluster()
      let environment = cluster.environment("a")
      let refused: [([String], [String: String], Int32, String)] = [
        (["--durability", "relaxed"], [:], 3, "confirms what its server has stored"),
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
      let member = try cluster.start("a")
      let backup = try member.navctl(["backup"])
      #expect(backup.status != 0 && backup.errors.contains("pg_basebackup"), "\(backup)")
    }

    @Test func `a server is checked before it is trusted`() throws {
      let directory = Binaries.path("navd-cluster").dropLast("/navd-cluster".count)
      func qualify(
        _ conninfo: String, path: String? = nil
      ) throws -> (status: Int32, output: String) {
        let child = try Child(
          Binaries.path("navctl"), ["engine-test", conninfo],
          environment: ["PATH": path ?? "\(directory):/usr/bin:/bin"])
        return (try child.ended(), child.standardOutput + child.standardError)
      }
      let missing = try qualify("host=/nowhere", path: "/usr/bin:/bin")
      #expect(missing.status == 127 && missing.output.contains("package navd-cluster"))
      let careless = try PostgresServer(options: ["fsync=off"])
      let broken = try qualify(careless.conninfo("postgres"))
      #expect(broken.status == 1, "\(broken.output)")
      #expect(
        broken.output.contains("broken  its settings keep what it has confirmed: fsync is off"))
      #expect(broken.output.contains("broken  each commit syncs the log: 20 commits made 0 syncs"))
      let cluster = try Cluster(standbys: 1)
      let kept = try qualify(cluster.conninfo)
      #expect(kept.status == 0, "\(kept.output)")
      #expect(kept.output.hasSuffix("the server can keep a journal\n"))
      #expect(kept.output.components(separatedBy: "kept ").count == 8, "\(kept.output)")
      let nowhere = try qualify("host=/nowhere")
      #expect(nowhere.status == 7 && nowhere.output.hasPrefix("not checked: "), "\(nowhere)")
    }
  }
}
