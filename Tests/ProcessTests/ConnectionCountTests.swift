import ZeroMQ
import Foundation
import Testing

extension ProcessTests {
  /// What the daemon counts of connections, and what of it is left when they have ended.
  ///
  /// `make test-long` runs the same with more of each.
  @Suite struct ConnectionCountTests {
    /// How many of each kind.
    private static let isLong = ProcessInfo.processInfo.environment["NAVD_TEST_LONG"] != nil
    private static let (successive, parallel, killed) = isLong ? (5000, 500, 500) : (300, 60, 40)

    /// Waits until only the witness is connected, by the daemon's count and by the kernel's, and
    /// prints how long that took.
    private func expectNothingLeft(_ what: String, _ witness: Peer, _ daemon: TestDaemon) throws {
      let start = Date()
      let end = start.addingTimeInterval(Child.patience)
      var value: JSON?
      repeat {
        value = try witness.get(#""what":"verify""#)["value"]
        if value?["counted"]?.integer == 1, value?["open"]?.integer == 1 { break }
      } while Date() < end
      let took = Date().timeIntervalSince(start)
      print("\(what): nothing is left after \(Int(took * 1000)) ms")
      #expect(value?["counted"]?.integer == 1, "\(what): \(value.map { "\($0)" } ?? "nothing")")
      #expect(value?["open"]?.integer == 1, "\(what)")
      // On a machine with nothing else to do.
      if Self.isLong { #expect(took < 2, "\(what)") }
      #expect(value?["ok"]?.bool == true, "\(what)")
    }

    private func shell(_ script: String, _ daemon: TestDaemon) throws -> Child {
      try Child(
        "/bin/sh", ["-c", script, Binaries.path("navctl")],
        environment: ["HOME": daemon.directory.path, "NAVD_ENDPOINT": daemon.endpoint])
    }

    @Test(.timeLimit(.minutes(10)))
    func `connections that have ended are not counted, however they ended`() throws {
      let network = try NetworkDaemon("[limits]\nconnections-per-principal = 1024\n")
      let daemon = network.daemon
      let witness = try Peer(daemon.endpoint)
      try witness.create("kiosk")

      let row = try shell(
        "n=0; while [ $n -lt \(Self.successive) ]; do \"$0\" status >/dev/null || exit 1; "
          + "n=$((n + 1)); done; echo all answered", daemon)
      try row.says("all answered", within: 400)
      try expectNothingLeft("\(Self.successive) in a row", witness, daemon)

      let crowd = try shell(
        "seq \(Self.parallel) | xargs -P \(Self.parallel) -I{} \"$0\" --timeout 60s status "
          + ">/dev/null && echo all answered", daemon)
      try crowd.says("all answered", within: 200)
      try expectNothingLeft("\(Self.parallel) at once", witness, daemon)

      let victims = try (0..<Self.killed).map { _ in
        try daemon.startNavctl(["watch", "kiosk"])
      }
      for victim in victims { try victim.writes(lines: 1, within: 200) }
      for victim in victims { victim.kill(SIGKILL) }
      try expectNothingLeft("\(Self.killed) killed", witness, daemon)

      let halfOpen = try (0..<200).map { number in
        let connection = try RawConnection(port: network.port)
        // Some say nothing, the others a part of a greeting.
        connection.send(Array(RawWire.greeting("CURVE").prefix(number % 3 * 20)))
        return connection
      }
      for connection in halfOpen { #expect(connection.isEnded()) }
      try expectNothingLeft("\(halfOpen.count) half-open over tcp", witness, daemon)
      #expect(try daemon.stop() == 0)
    }

    @Test func `with the default limit exactly the excess is refused`() throws {
      let daemon = try TestDaemon()
      let path = String(daemon.endpoint.dropFirst("ipc://".count))
      let connections = try (0..<300).map { _ in try RawConnection(path) }
      for connection in connections { connection.sendAll(RawWire.opening()) }
      // Each is answered, with the daemon's own handshake or with an error.
      let answers = connections.map { connection in
        var all: [UInt8] = []
        while true {
          let more = connection.receive(within: Child.patience)
          all += more
          let text = String(decoding: all, as: UTF8.self)
          if text.contains("ROUTER") { return true }
          if more.isEmpty || text.contains("ERROR") { return false }
        }
      }
      #expect(answers.count { $0 } == 256)
      // Places that are given up are taken by the next ones.
      let (admitted, refused) = (
        zip(connections, answers).filter(\.1), zip(connections, answers).filter { !$0.1 }
      )
      #expect(refused.allSatisfy { $0.0.isEnded() })
      shutdown(admitted[0].0.descriptor, Int32(SHUT_RDWR))
      // One that comes before that end is seen is refused for good.
      var witness: Peer?
      #expect(
        try eventually {
          let peer = try Peer(daemon.endpoint)
          guard try peer.isAdmitted() else { return false }
          witness = peer
          return true
        })
      try witness?.hello()
      let statistics = try witness?.get(#""what":"stats""#)["value"]
      #expect(statistics?["connections"]?.integer == 256)
      #expect(try daemon.stop() == 0)
    }

    @Test(.enabled(if: LifecycleTests.canTrace, "no process can be traced"))
    func `a connection that the kernel has and the daemon does not count is reported`() throws {
      let daemon = try TestDaemon()
      let witness = try Peer(daemon.endpoint)
      try witness.hello()
      #expect(try daemon.navctl(["verify"]).status == 0)
      let stranger = try Peer(daemon.endpoint)
      try stranger.hello()
      // The descriptor stays open, though the daemon has closed it.
      let tracer = try Child(
        LifecycleTests.strace,
        [
          "-f", "-p", "\(daemon.child.pid)", "-e", "trace=close", "-e", "inject=close:retval=0",
        ])
      try tracer.complains(" attached")
      try stranger.send("bye", "{}")
      let refused = try RawConnection(String(daemon.endpoint.dropFirst("ipc://".count)))
      shutdown(refused.descriptor, Int32(SHUT_RDWR))
      try daemon.child.complains("connections are miscounted")
      tracer.kill(SIGTERM)
      try tracer.ended()
      let value = try witness.get(#""what":"verify""#)["value"]
      #expect(value?["ok"]?.bool == false, "\(value.map { "\($0)" } ?? "nothing")")
      #expect((value?["differences"]?.integer ?? 0) >= 1)
      let verify = try daemon.navctl(["verify"])
      #expect(verify.status != 0 && verify.output.contains("MISCOUNTED"), "\(verify.output)")
      #expect(try daemon.navctl(["doctor"]).output.contains("miscounted since the start"))
      #expect(try daemon.stop() == 0)
    }

    @Test func `the display of a killed process is free at once`() throws {
      let daemon = try TestDaemon()
      let witness = try Peer(daemon.endpoint)
      try witness.create("kiosk")
      for _ in 0..<12 {
        let holder = try daemon.startNavctl(["lease", "kiosk", "take"])
        try holder.says("display held by")
        holder.kill(SIGKILL)
        let start = Date()
        var status: Int32 = 1
        // The lease itself would run for 40 s.
        while status != 0, Date().timeIntervalSince(start) < 20 {
          status = try daemon.navctl(["lease", "kiosk", "take", "--", "true"]).status
        }
        #expect(status == 0)
      }
      #expect(try daemon.stop() == 0)
    }
  }
}
