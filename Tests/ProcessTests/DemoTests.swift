import ChildProcess
import Foundation
import Testing

@Suite(.timeLimit(.minutes(2))) struct DemoTests {
  /// The repository's root.
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Where the programs lie that were built together with this test.
  private static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()

  /// Plays the demonstration in a directory of its own, without a terminal.
  private func play(
    programs: String = Self.programs.path, _ environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String, leftovers: [String]) {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "navd-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let variables = ProcessInfo.processInfo.environment
      .merging(["NAVD_BIN": programs, "TMPDIR": directory.path]) { $1 }
      .merging(environment) { $1 }
    let output = try ChildOutput(
      of: Self.root.appending(path: "demo/run").path, environment: variables, withErrors: true)
    let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return (output.status, output.text, leftovers)
  }

  @Test func `the demonstration plays to its verdict and leaves nothing behind`() throws {
    // What the user has set must not lead it to the user's daemon.
    let (status, output, leftovers) = try play([
      "NAVD_ENDPOINT": "ipc:///nowhere/navd.sock", "STATE_DIRECTORY": "/nowhere",
      "RUNTIME_DIRECTORY": "/nowhere",
    ])
    #expect(status == 0, "\(output)")
    let verdict = output.split(separator: "\n").last ?? ""
    #expect(
      verdict.wholeMatch(of: /all mirrors equal: rev 10 digest [0-9a-f]{24}/) != nil, "\(output)")
    #expect(!output.contains("demo/run:"), "bash has a remark")
    #expect(leftovers == [])
  }

  @Test func `the demonstration shows what its captions promise`() throws {
    let (_, output, _) = try play()
    let lines = output.split(separator: "\n").map(String.init)
    func views(_ who: String, _ revision: Int) -> [String] {
      lines.compactMap { line in
        let words = line.split(separator: " ", maxSplits: 4)
        guard words.count == 5, words[0] == who, words[1] == "rev" else { return nil }
        guard words[2] == "\(revision)" else { return nil }
        return words[4].trimmingCharacters(in: .whitespaces)
      }
    }

    // A page: a back button with a title of its own and a button beside it, a prompt, a toolbar.
    #expect(views("header", 3).contains { $0.contains("[< Network Help") }, "\(output)")
    #expect(lines.contains { $0.contains("Applies to everyone at home") })
    #expect(lines.contains { $0.contains("[Forget]") && $0.contains("[Share]") })

    // The veto: nothing happened, and the remote was told so.
    #expect(views("shell", 4) == ["channel 11 -> 36, not saved"])
    let refusal = try #require(lines.firstIndex { $0.contains("refused: vetoed") }, "\(output)")
    #expect(lines[..<refusal].contains { $0.contains("asked: may wifi go, by api? no") })
    #expect(views("remote", 4).count == 1)
    #expect(lines[refusal...].contains { $0.contains("rev 5  ") })

    // The PIN is above the stack, and gone again.
    #expect(views("remote", 5) == ["home > network > wifi + pin  didPresent"])
    #expect(lines.contains { $0.contains("◆ pin") })
    #expect(views("shell", 6) == ["channel 36"])

    // The swipe that was cancelled left the stack as it was, and nothing was popped.
    #expect(views("remote", 7) == ["home > network > wifi  transitionBegan"])
    #expect(views("remote", 8) == ["home > network > wifi  transitionEnded"])
    #expect(lines.contains { $0.contains("asked: may wifi go, by gesture? yes") })
    #expect(lines.contains { $0.contains("didPop never came") })
    #expect(views("remote", 9) == ["home > network  didPop didHide didShow"])

    // The double pop, and the way back after the kill.
    #expect(lines.count { $0.contains("refused: desync of top") } == 1)
    #expect(lines.count { $0.contains(" popped wifi, rev 9") } == 1)
    for who in ["shell", "header", "remote"] {
      #expect(lines.count { $0.contains(who) && $0.contains("connected: rev 9 of epoch") } == 1)
    }
  }

  @Test func `the output fits a terminal of 80 columns, and has no colours without one`() throws {
    let (_, output, _) = try play()
    #expect(!output.contains("\u{1b}"))
    for line in output.split(separator: "\n") {
      #expect(line.count <= 80, "\(line)")
    }
  }

  @Test func `without the programs it says what to run`() throws {
    let (status, output, leftovers) = try play(programs: "/nowhere")
    #expect(status == 2)
    #expect(output == "demo/run: no navd in /nowhere; run `make demo`\n")
    #expect(leftovers == [])
  }

  @Test func `a player that ends early fails the demonstration`() throws {
    let directory = FileManager.default.temporaryDirectory
      .appending(path: "navd-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    for (name, target) in [
      ("navd", Self.programs.path + "/navd"), ("navctl", Self.programs.path + "/navctl"),
      ("navd-demo", "/bin/false"),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: directory.appending(path: name).path, withDestinationPath: target)
    }
    let (status, output, leftovers) = try play(programs: directory.path)
    #expect(status == 1)
    #expect(output.hasSuffix("demo failed: shell has ended\n"), "\(output)")
    #expect(leftovers == [])
  }
}
