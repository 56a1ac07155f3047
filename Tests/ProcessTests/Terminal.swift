import Foundation

/// A shell on a terminal of its own, for what navctl remembers between the commands of a terminal.
///
/// navctl remembers nothing where the leader of the session has ended, as in a job of a service
/// manager. So a test of that memory needs a session of its own.
final class Terminal {
  private let shell: Child
  private var count = 0

  init(_ daemon: TestDaemon) throws {
    shell = try Child(
      "/usr/bin/script", ["-q", "-f", "-c", "/bin/sh", "/dev/null"],
      environment: [
        "HOME": daemon.directory.path, "NAVD_ENDPOINT": daemon.endpoint, "TERM": "dumb",
        "PS1": "", "NAVCTL": Binaries.path("navctl"),
      ])
  }

  deinit { shell.kill(SIGKILL) }

  /// Runs navctl and returns its exit status.
  func run(_ command: String) throws -> Int32 {
    count += 1
    // The quotes keep the terminal's echo of this line from looking like its answer.
    try shell.tell("\"$NAVCTL\" \(command); echo 'sta''tus' \(count)=$?.")
    let marker = "status \(count)="
    try shell.says(".", after: marker)
    let text = shell.standardOutput.components(separatedBy: marker).last ?? ""
    guard let status = Int32(text.prefix { $0.isNumber }) else {
      throw Failure(shell.transcript)
    }
    return status
  }

  /// What the terminal shows, everything so far.
  var transcript: String { shell.transcript }
}
