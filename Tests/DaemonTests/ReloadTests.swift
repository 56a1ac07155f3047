import ZeroMQ
import Foundation
@testable import NavigationCore
@testable import NavigationHub
import RuntimePaths
import Testing

@testable import Journal
@testable import NavigationDaemon

/// A reload applies all of a configuration or nothing: navd(8), SIGNALS.
@Suite(.timeLimit(.minutes(1))) struct ReloadTests {
  /// Sends signals to a loop, as signalfd(2) passes them; returns whether the loop must stop.
  private func signal(_ stage: inout LoopStage, _ numbers: Int32...) throws -> Bool {
    let pipe = Pipe()
    let reading = pipe.fileHandleForReading.fileDescriptor
    _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    for number in numbers {
      // A signalfd_siginfo has 128 bytes, of which the first four are the number.
      let bytes = [UInt8(number), 0, 0, 0] + [UInt8](repeating: 0, count: 124)
      try pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
    }
    return try stage.loop.mustStop(afterSignalsFrom: reading)
  }

  /// Lends a loop that serves the configuration of a file, and the file.
  private func withLoop(
    _ text: String = "", _ body: (inout LoopStage, String) throws -> Void
  ) throws {
    try withTemporaryDirectory { root in
      let file = root + "/navd.conf"
      let all = "[access]\nkeys = \(root)/keys\n" + text
      try all.write(toFile: file, atomically: false, encoding: .utf8)
      let sources = ConfigurationSources(file: file)
      var stage = try LoopStage(
        root + "/state", try sources.load().configuration, from: sources)
      try body(&stage, file)
      try stage.close()
    }
  }

  private func write(_ text: String, to file: String) throws {
    let head = try String(contentsOfFile: file, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false).prefix(2).joined(separator: "\n")
    try (head + "\n" + text).write(toFile: file, atomically: false, encoding: .utf8)
  }

  @Test func `the changes are applied and logged, the first eight of them by name`() throws {
    try withLoop("[limits]\ndepth = 20\n") { stage, file in
      #expect(try !signal(&stage, SIGHUP))
      #expect(stage.sink.take().map(\.message) == ["reloaded: nothing has changed"])
      try write("[limits]\ndepth = 2\n[history]\nrevisions = 9\n[log]\nlevel = notice\n", to: file)
      #expect(try !signal(&stage, SIGHUP))
      let entries = stage.sink.take()
      #expect(
        entries.map(\.message)
          == [
            "reloaded: limits.depth 20 to 2, history.revisions 10000 to 9, log.level info to notice"
          ])
      #expect(entries.map(\.kind) == [.reloaded] && entries.map(\.level) == [.notice])
      #expect(stage.loop.writer.journal.retention.revisions == 9)
      // The depth counts for the next message.
      try stage.open()
      try stage.turn([stage.op(1, LoopStage.push("a"))])
      try stage.turn([stage.op(1, LoopStage.push("b"))])
      #expect(stage.count(.ok) == 2 && stage.count(.refused(.limit)) == 1)
      stage.loop.log(LogEntry(.info, "below the level"))
      #expect(stage.sink.take().isEmpty)
      let many = ConfigurationKey.all.filter { $0.section == "limits" }.compactMap { key in
        if let range = key.value.number?.range {
          "\(key.name) = \(range.lowerBound)"
        } else {
          nil
        }
      }
      try write("[limits]\n" + many.joined(separator: "\n") + "\n", to: file)
      #expect(try !signal(&stage, SIGHUP))
      let told = try #require(stage.sink.take().last?.message)
      // All but ops-per-second, which stays 0; and the two keys that are not set any more.
      let changed = many.count - 1 + 2
      #expect(told.hasSuffix(" and \(changed - 8) more"))
      #expect(told.split(separator: ", ").count == 8, "\(told)")
    }
  }

  @Test func `a fault leaves everything as it was, and every fault is in the log`() throws {
    try withLoop("[limits]\ndepth = 20\n") { stage, file in
      let before = stage.loop.configuration.current
      try write("[limits]\ndepth = 0\nnavs = 5\nheight = 3\n[log]\nlevel = loud\n", to: file)
      #expect(try !signal(&stage, SIGHUP))
      let entries = stage.sink.take()
      #expect(entries.count == 3)
      #expect(entries.allSatisfy { $0.kind == .reloaded && $0.level == .error })
      #expect(entries[0].message.hasPrefix("\(file):6: [limits] has no key height: expected "))
      #expect(entries[1].message.hasPrefix("\(file):8: [log] level = loud: expected "))
      #expect(
        entries[2].message.hasPrefix("reload refused: \(file):4: [limits] depth = 0: expected "))
      #expect(
        entries[2].message.hasSuffix(" (and 2 more faults); the former configuration stays"))
      #expect(stage.loop.configuration.current == before)
      try write("[daemon]\nstate = /elsewhere\n[limits]\nnavs = 5\n", to: file)
      #expect(try !signal(&stage, SIGHUP))
      let refusal = try #require(stage.sink.take().last?.message)
      #expect(
        refusal == "reload refused: [daemon] state is (empty) and would be /elsewhere, which needs "
          + "a restart; the former configuration stays")
      #expect(stage.loop.configuration.current == before)
    }
  }

  @Test func `several reloads at once are one, and a stop goes before them`() throws {
    try withLoop { stage, _ in
      let stops = [
        try signal(&stage, SIGHUP, SIGHUP, SIGHUP), try signal(&stage), try signal(&stage, SIGTERM),
        try signal(&stage, SIGINT), try signal(&stage, SIGHUP, SIGTERM),
      ]
      #expect(stops == [false, false, true, true, true])
      #expect(stage.sink.take().map(\.message) == ["reloaded: nothing has changed"])
    }
  }

  @Test func `what is in flight is durable before another configuration counts`() throws {
    try withLoop { stage, file in
      try stage.open()
      try stage.turn((0..<20).map { stage.op(1, LoopStage.push("s\($0)")) })
      try write("[limits]\ndepth = 5\n", to: file)
      #expect(try !signal(&stage, SIGHUP))
      #expect(stage.loop.batches.areDurable)
      #expect(stage.count(.ok) == 21)
      try stage.turn([stage.op(1, LoopStage.push("more"))])
      try stage.settle()
      #expect(stage.count(.refused(.limit)) == 1)
    }
  }

  @Test func `keys that are ignored are in the log, and others count at once`() throws {
    try withLoop { stage, file in
      let keys = URL(fileURLWithPath: file).deletingLastPathComponent().path + "/keys"
      let pair = try CurveKeyPair.generate()
      try KeyDirectory(path: keys).authorize(
        AuthorizedKey(name: "panel", publicKey: pair.publicKey, role: "ui"))
      try "nonsense".write(toFile: keys + "/bad.pub", atomically: false, encoding: .utf8)
      stage.loop.rereadKeys()
      let entries = stage.sink.take()
      #expect(entries.count == 1 && entries.first?.kind == .clientRefused)
      #expect(entries.first?.message.hasPrefix("a key is ignored: ") == true)
      #expect(entries.first?.message.contains("bad.pub") == true)
      #expect(stage.loop.access.control.name(of: pair.publicKey) == "panel")
      // The hub is told of it, once.
      let told = stage.loop.batches.atHand.count
      stage.loop.rereadKeys()
      #expect(told == 1 && stage.loop.batches.atHand.count == 1)
      try stage.turn()
    }
  }
}
