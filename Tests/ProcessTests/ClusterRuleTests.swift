import Foundation
import PostgresServer
import Testing

extension ProcessTests {
  /// What a cluster promises of epochs, memory and passwords, beside the division of the navs.
  @Suite struct ClusterRuleTests {
    @Test("rule 8: epochs stay over a take-over, and change with data that may lack something")
    func epochs() throws {
      let cluster = try Cluster(standbys: 1, lease: 8_000)
      var member = try cluster.start("a")
      try Peer(member.endpoint).create("kiosk")
      var state = try Peer(member.endpoint).state("kiosk")["value"]
      var revision = try #require(state?["rev"]?.integer)
      func restart(_ name: String, keepsEpoch: Bool, _ note: String) throws {
        member = try cluster.start(name)
        // With another server it waits for the lease that this one may have lost.
        #expect(try eventually { (try? Peer(member.endpoint).state("kiosk")) != nil })
        let next = try Peer(member.endpoint).state("kiosk")["value"]
        #expect((next?["epoch"] == state?["epoch"]) == keepsEpoch, "\(note)")
        #expect(
          next?["rev"] == state?["rev"] && (next?["dig"] == state?["dig"]) == keepsEpoch, "\(note)")
        let peer = try Peer(member.endpoint)
        try peer.hello()
        let position =
          #"{"epoch":"\#(state?["epoch"]?.string ?? "")","rev":\#(revision),"#
          + #""dig":"\#(state?["dig"]?.string ?? "")"}"#
        let answer = try peer.ask("watch", #""nav":"kiosk","from":\#(position)"#).body
        #expect(answer["mode"]?.string == (keepsEpoch ? "resume" : "snap"), "\(note): \(answer)")
        try peer.perform("kiosk", #"[{"push":{"screen":{"id":"\#(note)"}}}]"#)
        state = try peer.state("kiosk")["value"]
        revision = try #require(state?["rev"]?.integer)
      }
      try cluster.lose(member)
      try restart("b", keepsEpoch: true, "taken-over")
      #expect(try member.stop() == 0)
      try cluster.sql("UPDATE navd.shard SET server = '1:00000001'")
      try restart("a", keepsEpoch: false, "other-server")
      #expect(try member.stop() == 0)
      try cluster.sql("UPDATE navd.shard SET restored = true")
      try restart("b", keepsEpoch: false, "restored")
      // Nobody is left that knows whether the standby has everything.
      try member.kill()
      cluster.servers[0].kill()
      try cluster.servers[1].promote()
      try cluster.servers[1].sql("ALTER SYSTEM SET synchronous_standby_names = ''")
      try cluster.servers[1].sql("SELECT pg_reload_conf()")
      try cluster.expireLease(of: member, on: cluster.servers[1])
      try restart("a", keepsEpoch: false, "promoted")
      #expect(try member.stop() == 0)
      try restart("b", keepsEpoch: true, "stopped")
    }

    @Test("rule 9: a nav that nobody uses leaves memory, and comes back without a read in the loop")
    func paging() throws {
      let cluster = try Cluster()
      let member = try cluster.start("a", environment: ["NAVD_LIMITS_NAV_IDLE_SECONDS": "1"])
      let peer = try Peer(member.endpoint)
      try peer.hello()
      let names = (0..<20).map { "n\($0)" }
      for name in names {
        try peer.create(name)
        try peer.perform(name, #"[{"push":{"screen":{"id":"\#(name)-top"}}}]"#)
      }
      func loaded() throws -> UInt64? {
        try peer.get(#""what":"stats""#)["value"]?["loadedNavs"]?.integer
      }
      #expect(try eventually { try loaded() == 0 })
      _ = try peer.ask("watch", #""nav":"n0""#)
      // For now no row can be read; a loop that reads them would stop.
      let session = try Child("/usr/bin/psql", ["-X", cluster.conninfo], environment: [:])
      try session.tell("BEGIN; LOCK TABLE navd.log, navd.snapshot;")
      #expect(
        try eventually {
          try cluster.sql(
            """
            SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted
            AND relation IN ('navd.log'::regclass, 'navd.snapshot'::regclass)
            """) == "2"
        })
      for (index, name) in names.enumerated() {
        try peer.send("get", #"{"id":\#(900 + index),"nav":"\#(name)"}"#)
      }
      let other = try Peer(member.endpoint)
      #expect(try other.state("n0")["value"]?["screens"]?.ids == ["home", "n0-top"])
      #expect(try other.get(#""what":"stats""#)["value"]?["loadedNavs"]?.integer == 1)
      try session.tell("COMMIT;")
      for (index, name) in names.enumerated() {
        let answer = try peer.awaits("ok") { $0.body["id"]?.integer == UInt64(900 + index) }
        #expect(answer.body["value"]?["screens"]?.ids == ["home", "\(name)-top"])
      }
      session.closeInput()
      #expect(try session.ended() == 0)
    }

    @Test("rule 10: a password comes from a file, and is never an argument or printed")
    func passwords() throws {
      let cluster = try Cluster(hasOwnServer: true)
      let server = cluster.servers[0]
      try server.sql("CREATE ROLE till LOGIN SUPERUSER PASSWORD 's3cr3t'")
      // The rule for the user comes first: the first that fits decides.
      let file = try server.sql("SHOW hba_file")
      try server.sql(
        "COPY (VALUES ('local all till scram-sha-256'), ('local all all trust')) TO '\(file)'")
      try server.sql("SELECT pg_reload_conf()")
      let directory = try TestDirectory()
      let passfile = try directory.write("passfile", "*:*:*:till:s3cr3t\n")
      try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: passfile)
      let conninfo = cluster.conninfo.replacing(/user=\w+/, with: "user=till")
      let daemon = ["NAVD_CLUSTER_MEMBER": "a", "PATH": "/usr/bin:/bin"]
      for (database, status) in [
        ("\(conninfo) password=s3cr3t", Int32(3)), (conninfo, 7),
      ] {
        let child = try Child(
          Binaries.path("navd-cluster"), [],
          environment: daemon.merging(["NAVD_CLUSTER_DATABASE": database]) { $1 })
        #expect(try child.ended() == status, "\(child.transcript)")
        #expect(!child.transcript.contains("s3cr3t"))
      }
      let database = "\(conninfo) passfile=\(passfile)"
      let member = try cluster.start("a", environment: ["NAVD_CLUSTER_DATABASE": database])
      try Peer(member.endpoint).create("kiosk")
      let printed = try Child(
        Binaries.path("navd-cluster"), ["--print-config"],
        environment: daemon.merging(["NAVD_CLUSTER_DATABASE": database]) { $1 })
      #expect(try printed.ended() == 0)
      #expect(printed.standardOutput.contains("passfile=\(passfile)"))
      let process = "/proc/\(member.child.pid)"
      for name in ["cmdline", "environ"] {
        let text = try Data(contentsOf: URL(fileURLWithPath: "\(process)/\(name)"))
        #expect(!String(decoding: text, as: UTF8.self).contains("s3cr3t"))
      }
      #expect(!(printed.transcript + member.child.transcript).contains("s3cr3t"))
    }
  }
}
