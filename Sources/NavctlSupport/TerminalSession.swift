import CLinux
package import RuntimePaths

/// The terminal session a command was typed in, told apart from every other one.
///
/// A terminal device is used again after it is closed, and so is a session's number. Together with
/// the time the session began and the boot of the machine they name one session for ever.
package struct TerminalSession: Hashable, Sendable {
  /// The boot of the machine.
  package var boot: String
  /// The number of the controlling terminal's device, 0 without one.
  package var device: Int64
  /// The session's number.
  package var session: Int64
  /// When its leader started, in ticks since the boot.
  package var start: UInt64

  /// Makes a session from its members.
  package init(boot: String, device: Int64, session: Int64, start: UInt64) {
    self.boot = boot
    self.device = device
    self.session = session
    self.start = start
  }

  /// The session of this process; nil if its leader is gone, for then nothing tells it apart.
  package static func current(_ environment: ProcessEnvironment) -> TerminalSession? {
    let number = getsid(0)
    do throws(SystemError) {
      guard number > 0, let own = try ProcessStatus.read("/proc/self/stat"),
        let leader = try ProcessStatus.read("/proc/\(number)/stat"),
        leader.session == Int64(number)
      else { return nil }
      return TerminalSession(
        boot: try bootID(environment: environment), device: own.terminal,
        session: Int64(number), start: leader.start)
    } catch {
      // A leader that has ended has no entry in /proc.
      return nil
    }
  }

  /// The key as text.
  package var text: String { "\(boot) \(device) \(session) \(start)" }
}

/// What `/proc/PID/stat` says of a process.
package struct ProcessStatus: Hashable, Sendable {
  /// The number of its session.
  package var session: Int64
  /// The number of its controlling terminal's device, 0 without one.
  package var terminal: Int64
  /// When it started, in ticks since the boot.
  package var start: UInt64

  /// Reads the text of `/proc/PID/stat`; nil if it is not one.
  package init?(_ text: String) {
    // The name, in parentheses, may hold anything; it ends at the last one.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(whereSeparator: \.isWhitespace)
    // The first field behind the name is field 3 of proc_pid_stat(5).
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
