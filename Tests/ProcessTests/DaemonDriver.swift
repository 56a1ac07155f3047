import Conformance

/// A daemon in a process of its own, driven over its socket.
///
/// Nothing sleeps: that time has passed, or that a client is gone, is what the daemon says.
struct DaemonDriver: ConformanceDriver {
  private let daemon: TestDaemon
  private var peers: [String: Peer] = [:]
  /// The clients that said hello, by the name of their connection.
  private var sessions: [String: String] = [:]
  private var clocks = 0
  /// How much time passed because a row wanted it.
  private(set) var advanced = Duration.zero

  init(_ daemon: TestDaemon) { self.daemon = daemon }

  mutating func connect(_ name: String) throws {
    try disconnect(name)
    peers[name] = try Peer(daemon.endpoint)
  }

  mutating func disconnect(_ name: String) throws {
    guard let client = sessions.removeValue(forKey: name) else {
      peers[name] = nil
      return
    }
    let witness = try Peer(daemon.endpoint)
    try witness.hello(name: "witness")
    _ = try witness.ask("watch", #""nav":"$clients""#)
    peers[name] = nil
    _ = try witness.awaits("end of \(client)") { message in
      let diffs = message.verb == "diffs" ? message.body["list"]?.array ?? [] : [message.body]
      return diffs.contains { diff in
        (diff["ch"]?.array ?? []).contains { $0["del"]?.array.contains(.string(client)) == true }
      }
    }
  }

  mutating func send(_ name: String, verb: String, body: [UInt8]) throws {
    let peer = try peers[name] ?? Peer(daemon.endpoint)
    peers[name] = peer
    if verb == "hello" { sessions[name] = try JSON(body)["client"]?.string }
    try peer.send(frames: [Array("nsp1.\(verb)".utf8), body])
  }

  mutating func receive(_ name: String) throws -> ReceivedMessage? {
    try peers[name]?.receiveOctets().map { ReceivedMessage(verb: $0.verb, body: $0.body) }
  }

  /// Lets a transition run into a deadline so long: the daemon's own clock says when it has passed,
  /// and what was due earlier has happened by then.
  mutating func advance(milliseconds: UInt64) throws {
    clocks += 1
    let clock = try Peer(daemon.endpoint)
    let nav = "clock/\(clock.client)-\(clocks)"
    try clock.hello(name: "clock")
    try clock.create(nav)
    try clock.perform(nav, #"[{"nav.configure":{"transitionDeadline":\#(max(1, milliseconds))}}]"#)
    _ = try clock.ask("watch", #""nav":"\#(nav)""#)
    _ = try clock.ask(
      "op", #""nav":"\#(nav)","animated":true,"do":[{"push":{"screen":{"id":"B"}}}]"#)
    _ = try clock.awaits("end of \(milliseconds) ms", within: Double(milliseconds) / 1000 + 20) {
      $0.body["cause"]?.string == "timeout"
    }
    advanced += .milliseconds(milliseconds)
  }

  /// Kills the daemon without any warning and starts it again on the same journal.
  mutating func restart() throws {
    try daemon.kill()
    peers = [:]
    sessions = [:]
    try daemon.start()
  }

  /// Lets the database refuse every row; or limits the size of files to nothing, so that the kernel
  /// refuses every write of the journal.
  mutating func setStorage(failing: Bool) throws {
    if let cluster = daemon.cluster { return try cluster.setStorage(failing: failing) }
    let limit = failing ? "0:" : "unlimited:"
    let child = try Child("/usr/bin/prlimit", ["--pid", "\(daemon.child.pid)", "--fsize=\(limit)"])
    guard try child.ended() == 0 else { throw Failure(child.transcript) }
  }
}
