import CLinux
import Glibc
import NavctlSupport
import NavigationClient
import RuntimePaths

/// A navd of this process alone, in a directory of its own; both go with this value.
struct PrivateDaemon: ~Copyable {
  /// The directory, which only this user can enter.
  let directory: String
  private let process: Subprocess
  /// The address for clients.
  var endpoint: String { "ipc://\(directory)/navd.sock" }

  /// Starts navd, from the directory of navctl or from `PATH`.
  ///
  /// - Throws: why it cannot start.
  static func start() throws -> PrivateDaemon {
    let environment = ProcessEnvironment.current()
    let base = environment["TMPDIR"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
    // mkdtemp(3) replaces the six X. The terminating zero counts for the slash before the socket.
    var template = Array("\(base)/navd-play-XXXXXX".utf8CString)
    let limit = PathRules.maximumSocketPathBytes
    guard template.count + PathRules.socketName.utf8.count <= limit else {
      throw PlainFailure(
        lines: [
          "command: TMPDIR is too long: a socket in it would have a path of more than \(limit) octets",
          "try: TMPDIR=/tmp navctl play FILE",
        ], status: 1)
    }
    guard unsafe mkdtemp(&template) != nil else {
      throw SystemError("make a directory in", base, code: navd_errno())
    }
    let directory = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // mkdtemp(3) leaves out the bits of the umask.
    unsafe chmod(directory, 0o700)
    // No variable of the caller configures this navd, and its log goes to a file.
    let script = #"""
      log=$1; shift
      # It ends with navctl, also if that is killed.
      if setpriv --pdeathsig TERM true 2>/dev/null; then set -- setpriv --pdeathsig TERM "$@"; fi
      exec "$@" >"$log" 2>&1
      """#
    let path = environment["PATH"] ?? "/usr/bin:/bin"
    do {
      let process = try Subprocess(
        [
          "env", "-i", "PATH=\(path)", "sh", "-c", script, "sh", "\(directory)/navd.log",
          RunningProgram.path(of: "navd"), "--listen", "ipc://\(directory)/navd.sock",
          "--state", "\(directory)/state", "--durability", "relaxed",
        ], input: [], isGroup: true)
      return PrivateDaemon(directory, process)
    } catch {
      remove(directory)
      throw error
    }
  }

  /// The status with which it ended, which the kernel reports once.
  private final class Ended { var status: Int32? }
  private let ended = Ended()

  private init(_ directory: String, _ process: Subprocess) {
    (self.directory, self.process) = (directory, process)
  }

  /// Connects to it, when it listens.
  func connect() throws -> NavigationConnection {
    let end = SystemClock.monotonicMilliseconds() + 10_000
    while true {
      if FileStatus.probe("\(directory)/navd.sock") != nil {
        return try NavigationConnection.connect(to: endpoint, name: "navctl play")
      }
      guard !hasEnded, SystemClock.monotonicMilliseconds() < end else {
        throw failure
      }
      usleep(5000)
    }
  }

  /// Whether it has ended; its number may belong to another process then.
  private var hasEnded: Bool {
    if ended.status == nil { ended.status = process.endedStatus() }
    return ended.status != nil
  }

  private var failure: PlainFailure {
    let log = (try? readSmallFile("\(directory)/navd.log")) ?? []
    let last = String(decoding: log, as: UTF8.self).split(separator: "\n").suffix(3)
    return PlainFailure(
      lines: ["command: navd does not start"] + last.map(String.init)
        + ["try: install navd beside navctl, or put its directory into PATH"], status: 127)
  }

  deinit {
    if !hasEnded { process.kill(SIGTERM) }
    let end = SystemClock.monotonicMilliseconds() + 5000
    while !hasEnded, SystemClock.monotonicMilliseconds() < end { usleep(5000) }
    if !hasEnded {
      process.kill(SIGKILL)
      _ = process.waitForEnd()
    }
    Self.remove(directory)
  }

  /// Removes a directory with its files and directories; links are removed, not followed.
  private static func remove(_ path: String) {
    if let stream = unsafe opendir(path) {
      while let entry = unsafe readdir(stream) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        guard name != ".", name != ".." else { continue }
        let inner = "\(path)/\(name)"
        if FileStatus.probe(inner)?.kind == .directory {
          remove(inner)
        } else {
          unsafe unlink(inner)
        }
      }
      unsafe closedir(stream)
    }
    unsafe rmdir(path)
  }
}
