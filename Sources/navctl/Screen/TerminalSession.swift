import CLinux
import NavigationCore
import RuntimePaths

/// The identity of the terminal session in which a command runs.
///
/// The system reuses the numbers of terminal devices and of sessions. With the start time of the
/// session and the id of the boot they are unique.
struct TerminalSession: Hashable, Sendable {
  /// The random id of the machine's boot.
  var boot: String
  /// The device number of the controlling terminal, 0 without one.
  var device: Int64
  /// The session id, which is the process id of the session's leader.
  var session: Int64
  /// When the leader of the session started, in clock ticks since the boot.
  var start: UInt64

  /// The session of this process; nil if the leader has ended, because its start time is then
  /// unknown.
  static func current(_ environment: ProcessEnvironment) -> TerminalSession? {
    let number = getsid(0)
    do throws(SystemError) {
      guard number > 0, let own = try ProcessStatus.read("/proc/self/stat"),
        let leader = try ProcessStatus.read("/proc/\(number)/stat"), leader.session == Int64(number)
      else { return nil }
      return TerminalSession(
        boot: try bootID(environment: environment), device: own.terminal,
        session: Int64(number), start: leader.start)
    } catch {
      // A leader that has ended has no entry in /proc.
      return nil
    }
  }

  /// The identity as text; equal texts mean the same session.
  var text: String { "\(boot) \(device) \(session) \(start)" }
}

/// The fields of `/proc/PID/stat` that identify a terminal session.
struct ProcessStatus: Hashable, Sendable {
  var session: Int64
  /// The device number of the controlling terminal, 0 without one.
  var terminal: Int64
  /// When the process started, in clock ticks since the boot.
  var start: UInt64

  /// Reads the text of `/proc/PID/stat`; nil if it is not one.
  init?(_ text: String) {
    // The name of the process stands in parentheses and can itself contain some; the last one ends
    // it.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // The first field after the name is field 3 of proc_pid_stat(5).
    guard fields.count > 19, let session = Int64(fields[3]), let terminal = Int64(fields[4]),
      let start = UInt64(fields[19])
    else { return nil }
    self.session = session
    self.terminal = terminal
    self.start = start
  }

  static func read(_ path: String) throws(SystemError) -> ProcessStatus? {
    ProcessStatus(String(decoding: try readSmallFile(path), as: UTF8.self))
  }
}
