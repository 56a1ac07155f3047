import Foundation
import NavigationClient
import Testing

extension LongProcessTests {
  /// Clients that know the addresses of several daemons, of which one serves.
  @Suite struct ClusterClientTests {
    @Test
    func `a client follows a nav through moves and losses, each op once, no revision missing`()
      async throws
    {
      let cluster = try Cluster(lease: 2000)
      try cluster.start("a")
      try Peer(cluster.endpoints("a")).create("kiosk")
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      let both = try NavigationClient(
        endpoint: cluster.endpoints("b", "a"), heartbeat: .seconds(1))
      let watching = Task {
        var seen: [UInt64] = []
        for try await state in both.watch("kiosk", buffering: .everyRevision) {
          seen.append(state.revision)
          if state.screens.count == 41 { break }
        }
        return seen
      }
      for number in 1...40 {
        let owner = try cluster.owner(of: "kiosk")
        let name = try cluster.name(of: owner)
        let other = name == "a" ? "b" : "a"
        // One is in flight when the daemon that serves it gives it away, ends or is gone.
        switch number {
        case 5, 10, 35: try cluster.move("kiosk", to: other)
        case 15: try owner.kill()
        case 20: try cluster.start(other)
        case 25: owner.child.kill(SIGSTOP)
        default: break
        }
        _ = try await both.perform(
          [.push(.init(id: "s\(number)"))], on: "kiosk", guardedBy: .unguarded, within: .seconds(30)
        )
        if number == 25 {
          owner.child.kill(SIGCONT)
          #expect(try owner.child.ended() == 10)
          try cluster.start(name)
        }
      }
      let seen = try await watching.value
      // The creation is revision 1, and each push one more.
      #expect(seen == Array(try #require(seen.first)...41), "\(seen)")
      let state = try await both.state(of: "kiosk")
      #expect(state.screens.map(\.id) == ["home"] + (1...40).map { "s\($0)" })
      both.close()
    }

    @Test("rule 9: navctl moves and drains, and lists the navs of all members")
    func navctl() throws {
      let cluster = try Cluster()
      let member = try cluster.start("a")
      // Of shards in both halves, as the first member gives away one of them.
      let names = (0..<30).map { "n\($0)" }
      let peer = try Peer(member.endpoint)
      for name in names { try peer.create(name) }
      try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      // A nav on its way from one member to the other is with neither.
      #expect(
        try eventually {
          let all = try member.navctl(["list"]).output
          return names.allSatisfy { all.contains("\($0) ") }
        })
      // The directory of one member has its own navs only.
      let navs = try ["a", "b"].map { name in
        let peer = try Peer(cluster.endpoints(name))
        return Set(try peer.state("$navs")["value"]?["screens"]?.ids ?? [])
      }
      #expect(navs[0].isDisjoint(with: navs[1]))
      #expect(navs.allSatisfy { !$0.isEmpty } && navs[0].union(navs[1]) == Set(names))
      let target = try cluster.owner(of: "n3") === member ? "b" : "a"
      let moved = try member.navctl(["cluster", "move", "n3", target])
      #expect(moved.status == 0, "\(moved)")
      #expect(try cluster.owner(of: "n3") === cluster.members[target])
      // It follows to the member that has the nav.
      #expect(try member.navctl(["push", "n3", "wifi", "--new"]).status == 0)
      let status = try member.navctl(["cluster"]).output
      #expect(status.contains("MEMBER") && status.components(separatedBy: "serving").count == 3)
      #expect(try member.navctl(["cluster", "drain", "b"]).status == 0)
      #expect(try member.navctl(["cluster"]).output.contains("draining"))
      #expect(try cluster.sql("SELECT count(*) FROM navd.shard WHERE owner = 'a'") == "1024")
      #expect(try member.navctl(["cluster", "drain", "b", "--off"]).status == 0)
      try cluster.awaitBalance("a", "b")
      let unknown = try member.navctl(["cluster", "move", "17", "nobody"])
      #expect(unknown.status == 2 && unknown.errors.contains("no member nobody"), "\(unknown)")
      let alone = try TestDaemon().navctl(["cluster"])
      #expect(alone.status == 2 && alone.errors.contains("not one of a cluster"), "\(alone)")
    }

    @Test func `the demonstration ends with equal mirrors`() throws {
      let demo = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../demo/cluster").standardized.path
      let child = try Child(
        demo, [],
        environment: [
          "PATH": "/usr/bin:/bin", "NAVD_BIN": Binaries.directory.path,
          // A daemon whose lease ends ends itself, and nobody starts it again here.
          "NAVD_CLUSTER_LEASE": "5000",
        ])
      // A promotion lasts as long as the disk needs; the script itself gives up a step after 60 s.
      #expect(try child.ended(within: 300) == 0, "\(child.transcript)")
      let last = try #require(child.standardOutput.split(separator: "\n").last)
      #expect(last.hasPrefix("all mirrors equal: rev 6 "))
    }

    @Test func `navctl passes by addresses where nobody answers`() throws {
      let cluster = try Cluster()
      let member = try cluster.start("a")
      let hung = try cluster.start("b")
      try cluster.awaitBalance("a", "b")
      #expect(try member.navctl(["create", "kiosk", "--root", "home"]).status == 0)
      try cluster.move("kiosk", to: "a")
      #expect(try eventually { try cluster.owner(of: "kiosk") === member })
      // One that took connections and hangs: the kernel still connects to it.
      hung.child.kill(SIGSTOP)
      let nowhere = "ipc:///tmp/navd-nowhere/op"
      let found = try member.navctl(
        ["--endpoint", "\(nowhere),\(hung.endpoint),\(member.endpoint)", "show", "kiosk"])
      #expect(found.status == 0, "\(found)")
      #expect(found.output.contains("home"))
      hung.child.kill(SIGKILL)
    }
  }
}
