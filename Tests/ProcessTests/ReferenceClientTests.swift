import Foundation
import Testing

extension ProcessTests {
  /// The client printed in the protocol, run as it stands there.
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
    func `the reference client works as printed`() throws {
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

    @Test(.enabled(if: isRunnable, "python3-zmq is not installed"))
    func `the reference client says that there is no nav`() throws {
      let daemon = try TestDaemon()
      let client = try Child(Self.python, [Self.script, daemon.endpoint, "nobody"])
      #expect(try client.ended() == 1)
      #expect(client.standardError.contains("'code': 'no-nav'"), "\(client.transcript)")
    }
  }
}
