import Foundation
import Testing

extension ProcessTests {
  /// `nsp.py`, the client that is written from the core of the protocol.
  @Suite struct ReferenceClientTests {
    static let python = "/usr/bin/python3"
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Fixtures/nsp.py").path

    /// Whether the client can be run here; says why not.
    static let isRunnable: Bool = {
      let child = try? Child(python, ["-c", "import zmq"])
      let isRunnable = (try? child?.ended()) == 0
      if !isRunnable { print("skipped: \(python) has no zmq; install python3-zmq") }
      return isRunnable
    }()

    @Test(.enabled(if: isRunnable, "python3-zmq is not installed"))
    func `the reference client pushes and pops`() throws {
      let daemon = try TestDaemon()
      let peer = try Peer(daemon.endpoint)
      try peer.create("kiosk")
      let before = try peer.state("kiosk")
      for run in 0..<3 {
        let client = try Child(Self.python, [Self.script, daemon.endpoint, "kiosk"])
        #expect(try client.ended() == 0, "\(client.transcript)")
        let lines = client.standardOutput.split(separator: "\n")
        let revision = 1 + UInt64(run) * 2
        let digest = run == 0 ? before["value"]?["dig"]?.string ?? "" : ""
        #expect(lines.first?.hasPrefix("['home'] \(revision) \(digest)") == true)
        let popped = "s\(revision + 1).1"
        #expect(lines.last == "\(revision + 1) [{'popped': '\(popped)'}]")
      }
      #expect(try peer.state("kiosk")["rev"]?.integer == 7)
      #expect(try daemon.stop() == 0)
    }

    /// Sends ten ops without reading: the daemon performs the first five, and never sees the others.
    private static let pipeline = """
      import sys
      sys.path.insert(0, sys.argv[1])
      sys.dont_write_bytecode = True
      import nsp
      nav = nsp.Nav(sys.argv[2], "kiosk")
      nav.ready()
      def send(numbers):
          ids = [nav.begin({}, {"push": {"screen": {"title": str(n)}}}) for n in numbers]
          print("sent", ids[-1], flush=True)
          input()
          return ids
      ids = send(range(5)) + send(range(5, 10))
      revisions = [nav.finish(id)["rev"] for id in ids]
      print([s["title"] for s in nav.ready()["screens"]], revisions, nav.m["epoch"], nav.m["dig"])
      """

    @Test(
      .enabled(if: isRunnable, "python3-zmq is not installed"), arguments: [1, 3])
    func `the reference client loses no op and does none twice when its daemon is killed`(
      kills: Int
    ) throws {
      let daemon = try TestDaemon()
      try Peer(daemon.endpoint).create("kiosk")
      let folder = URL(fileURLWithPath: Self.script).deletingLastPathComponent().path
      let client = try Child(Self.python, ["-c", Self.pipeline, folder, daemon.endpoint])
      try client.says("sent 6\n")
      let peer = try Peer(daemon.endpoint)
      while try peer.state("kiosk")["rev"]?.integer != 6 {}
      // What it is sent from here on stays in the socket, and is lost with the daemon.
      daemon.child.kill(SIGSTOP)
      try client.tell("")
      try client.says("sent 11\n")
      try daemon.kill()
      try client.tell("")
      try daemon.start()
      for _ in 1..<kills {
        try daemon.kill()
        try daemon.start()
      }
      #expect(try client.ended() == 0, "\(client.transcript)")
      let state = try Peer(daemon.endpoint).state("kiosk")
      let titles = "['Home', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']"
      let epoch = state["epoch"]?.string ?? ""
      let digest = state["value"]?["dig"]?.string ?? ""
      let last = client.standardOutput.split(separator: "\n").last
      #expect(last == "\(titles) \(Array(2...11)) \(epoch) \(digest)")
      #expect(state["rev"]?.integer == 11)
      #expect(state["value"]?["screens"]?.array.count == 11)
      #expect(try daemon.stop() == 0)
    }

    @Test(.enabled(if: isRunnable, "python3-zmq is not installed"))
    func `the reference client says that there is no nav`() throws {
      let daemon = try TestDaemon()
      let client = try Child(Self.python, [Self.script, daemon.endpoint, "nobody"])
      #expect(try client.ended() == 1)
      #expect(client.standardError.contains("'code': 'no-nav'"), "\(client.transcript)")
    }
  }
}
