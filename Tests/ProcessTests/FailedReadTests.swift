import Foundation
import Journal
import Testing

@testable import NavigationDaemon

extension ProcessTests {
  /// A disk that fails to read: nothing is known of what it holds, and nothing of that is lost.
  @Suite struct FailedReadTests {
    private static let isLong = ProcessInfo.processInfo.environment["NAVD_TEST_LONG"] != nil
    private static let compiler = "/usr/bin/cc"
    private static let hasCompiler = FileManager.default.isExecutableFile(atPath: compiler)

    /// Compiles the library that fails reads below a directory; returns its variables.
    private func faults(_ error: Int32, in directory: TestDirectory) throws -> [String: String] {
      let library = directory.path + "/faults.so"
      let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Fixtures"
      let child = try Child(
        Self.compiler, ["-shared", "-fPIC", "-o", library, fixtures + "/faults.c", "-ldl"])
      #expect(try child.ended() == 0, "\(child.transcript)")
      return [
        "LD_PRELOAD": library, "FAULT_ERROR": "\(error)", "FAULT_WHILE": directory.path + "/fault",
      ]
    }

    /// Makes a nav with large screens; returns the number of its rows.
    private func fill(_ peer: Peer, _ nav: String = "a", screens: Int) throws -> Int {
      try peer.create(nav)
      for number in 0..<screens {
        let text = String(
          decoding: (0..<3000).map { _ in UInt8.random(in: 0x30...0x5b) }, as: UTF8.self)
        try peer.perform(nav, #"[{"push":{"screen":{"id":"s\#(number)","args":"\#(text)"}}}]"#)
      }
      return 1 + screens
    }

    @Test(
      .enabled(if: hasCompiler, "there is no C compiler"),
      arguments: isLong ? [(EIO, SIGKILL), (EIO, SIGTERM), (ENXIO, SIGKILL)] : [(EIO, SIGKILL)])
    func `whichever read of a start fails, navd ends with 7, and later everything is there`(
      error: Int32, end: Int32
    ) throws {
      let daemon = try TestDaemon()
      let made = try fill(Peer(daemon.endpoint), screens: Self.isLong ? 20 : 2)
      daemon.child.kill(end)
      try daemon.child.ended()
      let directory = try TestDirectory()
      var variables = try faults(error, in: directory)
      let state = directory.path + "/state"
      variables["FAULT_DIRECTORY"] = state + "/"
      // It reads the whole journal before it finds that it cannot listen.
      let options = ["--listen", "ipc://\(directory.path)/none/s", "--state", state]
      var (position, status) = (0, Int32(7))
      while status == 7, position < 1000 {
        position += Self.isLong ? 1 : 5
        try? FileManager.default.removeItem(atPath: state)
        try FileManager.default.copyItem(atPath: daemon.state, toPath: state)
        variables["FAULT_AT"] = "\(position)"
        let child = try Child(Binaries.path("navd"), options, environment: variables)
        status = try child.ended()
        let words = unsafe String(cString: strerror(error))
        #expect(
          status != 7
            || child.standardError.contains("\(words)")
              && child.standardError.contains("the journal itself may be sound"),
          "read \(position): \(child.transcript)")
        #expect(try rows(in: state) == made, "read \(position)")
      }
      #expect(status == 8, "read \(position) ended the start with \(status)")
      #expect(position > 12, "\(position) reads")
    }

    /// Replays a whole journal; returns the number of rows, of which none is missing then.
    private func rows(in directory: String) throws -> Int {
      let journal = try Journal.open(
        directory: directory, durability: .sync, bootID: "", retention: Retention.standard,
        holder: "")
      var rows = 0
      try journal.replay(snapshots: { _ in }, rows: { (_, _) in rows += 1 })
      try journal.close()
      return rows
    }

    @Test(.enabled(if: hasCompiler, "there is no C compiler"))
    func `while the disk fails, a nav in the journal waits, and others are served`() throws {
      let directory = try TestDirectory()
      var variables = try faults(EIO, in: directory)
      variables["FAULT_DIRECTORY"] = "/tmp/navd-t-"
      let daemon = try TestDaemon(environment: variables)
      let made = try fill(Peer(daemon.endpoint), screens: 5)
      try Peer(daemon.endpoint).create("b")
      #expect(try daemon.stop() == 0)
      try daemon.start()
      let (peer, other) = (try Peer(daemon.endpoint), try Peer(daemon.endpoint))
      #expect(try other.state("b")["rev"]?.integer == 1)
      _ = try directory.write("fault", "")
      try peer.hello()
      try peer.send("get", #"{"id":99,"nav":"a"}"#)
      try daemon.child.complains("the journal itself may be sound")
      #expect(try other.state("b")["rev"]?.integer == 1)
      try FileManager.default.removeItem(atPath: directory.path + "/fault")
      let answer = try peer.awaits("the nav") { $0.body["id"]?.integer == 99 }
      #expect(answer.body["rev"]?.integer == UInt64(made), "\(answer)")
      #expect(try daemon.stop() == 0)
    }

    @Test(.enabled(if: hasCompiler, "there is no C compiler"))
    func `while the disk syncs, others read what is durable`() throws {
      let directory = try TestDirectory()
      let gate = directory.path + "/sync"
      var variables = try faults(0, in: directory)
      variables["SYNC_WHILE"] = gate
      let daemon = try TestDaemon(environment: variables)
      let (peer, other) = (try Peer(daemon.endpoint), try Peer(daemon.endpoint))
      try peer.create("a")
      try other.create("b")
      let push = #""nav":"a","client":"\#(peer.client)","do":[{"push":{"screen":{}}}]"#
      // navd finds out that the disk is slow by the first commit, which holds everything up.
      for (number, isKnown) in [(101, false), (102, true)] {
        _ = try directory.write("sync", "")
        try? FileManager.default.removeItem(atPath: gate + ".begun")
        try peer.send("op", "{\"id\":\(number),\(push)}")
        #expect(try eventually { FileManager.default.fileExists(atPath: gate + ".begun") })
        if isKnown {
          #expect(try other.state("b")["rev"]?.integer == 1)
          #expect(try other.ask("ping", "\"a\":1").verb == "pong")
          try other.send("get", #"{"id":200,"nav":"a"}"#)
        } else {
          _ = poll(nil, 0, 2 * JournalWriter.slowCommitMilliseconds)
        }
        try FileManager.default.removeItem(atPath: gate)
        let answer = try peer.awaits("the op") { $0.body["id"]?.integer == UInt64(number) }
        #expect(answer.verb == "ok", "\(answer)")
      }
      let state = try other.awaits("the state") { $0.body["id"]?.integer == 200 }
      #expect(state.body["rev"]?.integer == 3)
      #expect(try daemon.stop() == 0)
    }

    @Test(.enabled(if: hasCompiler, "there is no C compiler"))
    func `a configuration, key or token that the disk fails to read is no fault of its own`() throws
    {
      let directory = try TestDirectory()
      let key = directory.path + "/key"
      let file = try directory.write(
        "navd.conf", "[daemon]\nlisten = tcp://127.0.0.1:9718\n[access]\nsecret-key = \(key)\n")
      try #expect(Child(Binaries.path("navctl"), ["key", "new", key]).ended() == 0)
      let tokens = try directory.write("tokens", "")
      for (path, program, options, status) in [
        (file, "navd", ["--config", file, "--print-config"], 7),
        (key, "navd", ["--config", file, "--check-config"], 7),
        (key, "navd", ["--config", file, "--state", directory.path + "/state"], 7),
        (tokens, "navd-web", ["--tokens", tokens, "--listen", "127.0.0.1:0"], 1),
      ] {
        var variables = try faults(EIO, in: directory)
        variables["FAULT_DIRECTORY"] = path
        variables["FAULT_AT"] = "1"
        let child = try Child(Binaries.path(program), options, environment: variables)
        #expect(try child.ended() == Int32(status), "\(child.transcript)")
        #expect(child.standardError.contains("Input/output error"), "\(child.transcript)")
      }
    }
  }
}
