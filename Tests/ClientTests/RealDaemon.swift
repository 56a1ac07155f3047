import ChildProcess
import Foundation
import NavigationClient
import Synchronization

/// What was said, in order.
final class Said: Sendable {
  private let lines = Mutex<[String]>([])

  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The daemon that was built together with the tests, in a directory of its own.
final class RealDaemon {
  let directory: TemporaryDirectory
  private var process: ChildProcess?

  init() throws {
    directory = try TemporaryDirectory()
    try start()
  }

  func start() throws {
    let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "navd")
    process = try ChildProcess(
      program.path,
      ["--listen", directory.endpoint, "--state", directory.url.appending(path: "state").path],
      errors: .null)
  }

  /// Kills it, and waits until it is gone.
  func kill() {
    process?.signal(SIGKILL)
    process?.awaitEnd()
  }
}

/// Runs a test with a daemon of its own and a client of it.
func withDaemon(
  _ body: (NavigationClient, RealDaemon) async throws -> Void
) async throws {
  let daemon = try RealDaemon()
  defer { daemon.kill() }
  let client = try await NavigationClient.connect(
    endpoint: daemon.directory.endpoint, name: "guide", timeout: patience)
  defer { client.close() }
  try await body(client, daemon)
}
