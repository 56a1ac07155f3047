import Testing

extension ProcessTests {
  /// The Swift library in children of fork(2); Python and C have tests of their own.
  @Suite struct ForkTests {
    @Test func `a parent's client is forked at once, and a child before the first client connects`()
      throws
    {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      let worker = try Child(Binaries.path("ConsistencyWorker"), ["forks", daemon.endpoint])
      #expect(try worker.ended() == 0, "\(worker.transcript)")
      #expect(
        worker.standardOutput.split(separator: "\n") == [
          "a client of a child works", "the first child ended with 0", "the parent has ok",
          "another client is forked", "perform is forked", "read is forked", "state is forked",
          "takeDisplay is forked", "synchronised false, features 0",
          "the second child ended with 0",
          "the parent still has ok",
        ], "\(worker.transcript)")
      #expect(try daemon.stop() == 0)
    }
  }
}
