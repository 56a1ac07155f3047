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
    let output = Pipe()
    let process = Process()
    process.executableURL = Self.root.appending(path: "demo/run")
    process.environment = ProcessInfo.processInfo.environment
      .merging(["NAVD_BIN": programs, "TMPDIR": directory.path]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = String(
      decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    return (process.terminationStatus, text, leftovers)
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
      verdict.wholeMatch(of: /all mirrors equal: rev 8 digest [0-9a-f]{8}/) != nil, "\(output)")
    #expect(!output.contains("demo/run:"), "bash has a remark")
    #expect(leftovers == [])
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
