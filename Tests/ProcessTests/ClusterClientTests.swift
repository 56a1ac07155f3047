import Foundation
import NavigationClient
import Testing

extension ProcessTests {
  /// Clients that know the addresses of several daemons, of which one serves.
  @Suite struct ClusterClientTests {
    @Test func `a client that knows both addresses follows, each op once and no revision missing`()
      async throws
    {
      let cluster = try Cluster(lease: 2000)
      let first = try cluster.start("a")
      let second = try cluster.start("b")
      try Peer(first.endpoint).create("kiosk")
      let client = try NavigationClient(
        endpoint: "\(second.endpoint),\(first.endpoint)", heartbeat: .seconds(1))
      let watching = Task {
        var seen: [UInt64] = []
        for try await state in client.watch("kiosk", buffering: .everyRevision) {
          seen.append(state.revision)
          if state.screens.count == 31 { break }
        }
        return seen
      }
      for number in 1...30 {
        // One is in flight when the daemon that serves it is gone.
        if number == 10 { try first.kill() }
        if number == 20 { try cluster.start("a") }
        if number == 25 { second.child.kill(SIGSTOP) }
        _ = try await client.perform(
          [.push(.init(id: "s\(number)"))], on: "kiosk", within: .seconds(30))
      }
      second.child.kill(SIGCONT)
      #expect(try second.child.ended() == 10)
      let seen = try await watching.value
      // The creation is revision 1, and each push one more.
      #expect(seen == Array(try #require(seen.first)...31), "\(seen)")
      let state = try await client.state(of: "kiosk")
      #expect(state.screens.map(\.id) == ["home"] + (1...30).map { "s\($0)" })
      client.close()
    }

    @Test func `the demonstration ends with equal mirrors`() throws {
      let demo = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../demo/cluster").standardized.path
      let child = try Child(
        demo, [],
        environment: [
          "PATH": "/usr/bin:/bin", "NAVD_BIN": Binaries.directory.path,
          "NAVD_CLUSTER_LEASE": "2000",
        ])
      #expect(try child.ended() == 0, "\(child.transcript)")
      let last = try #require(child.standardOutput.split(separator: "\n").last)
      #expect(last.hasPrefix("all mirrors equal: rev 5 "))
    }

    @Test func `navctl finds the daemon that serves among several addresses`() throws {
      let cluster = try Cluster(lease: 2000)
      let member = try cluster.start("a")
      let nowhere = "ipc:///tmp/navd-nowhere/op"
      let hung = try cluster.start("b")
      try Peer(member.endpoint).create("kiosk")
      // One that took connections and hangs: the kernel still connects to it.
      #expect(try member.stop() == 0)
      try cluster.owner(of: "kiosk")
      hung.child.kill(SIGSTOP)
      try cluster.expireLease(of: hung)
      try cluster.start("a")
      let found = try member.navctl(
        ["--endpoint", "\(nowhere),\(hung.endpoint),\(member.endpoint)", "show", "kiosk"])
      #expect(found.status == 0, "\(found)")
      #expect(found.output.contains("home"))
      hung.child.kill(SIGKILL)
    }
  }
}
