import CLinux
import Glibc
import NavigationCore
import RuntimePaths
import Synchronization

enum Output {
  /// Whether navctl writes text in ASCII alone, by `--ascii` or the locale.
  static let isASCII = Mutex(false)

  private static func octets(_ text: String) -> [UInt8] {
    Array((isASCII.withLock { $0 } ? TerminalText.ascii(text) : text).utf8)
  }

  /// Writes a line to stdout; a terminal gets a line that is too wide as several, indented by four.
  static func line(_ text: String) throws {
    guard let columns = terminalSize?.columns, TerminalText.width(text) > columns,
      !text.contains("\u{1B}")
    else { return try line(octets(text)) }
    for part in TerminalText.indentWrapped(text, columns: columns) { try line(octets(part)) }
  }

  static func lines(_ texts: [String]) throws { for text in texts { try line(text) } }

  private static func line(_ bytes: [UInt8]) throws { try data(bytes + [0x0A]) }

  /// Writes JSON as one line to stdout; for a terminal, it escapes control characters.
  static func json(_ bytes: [UInt8]) throws {
    try line(isTerminal ? Array(TerminalText.json(bytes).utf8) : bytes)
  }

  static func json(_ value: JSONValue, columns: Int) throws {
    let isASCII = isASCII.withLock { $0 }
    for text in value.lines(columns: columns, isASCII: isASCII) { try line(text) }
  }

  static func record(_ record: JSONRecord) throws { try json(record.bytes) }

  /// Writes the result of a change; a failed write gets the status 9, since navd made the change.
  static func writeChangeResult(_ write: () throws -> Void) throws {
    // SIGPIPE would end navctl before it can end with status 9.
    signal(SIGPIPE, SIG_IGN)
    do {
      try write()
    } catch let failure as PlainFailure {
      throw PlainFailure(
        lines: failure.lines + ["the change was made; see it: navctl show NAV"],
        status: ErrorText.changedButUnprintedStatus)
    }
  }

  static func text(_ text: String) throws { try data(octets(text)) }

  static func data(_ bytes: [UInt8]) throws {
    guard writeAll(bytes, to: 1) else {
      throw PlainFailure("output: cannot write to stdout: \(SystemError.text(of: navd_errno()))")
    }
  }

  /// Writes one line to stderr; ignores errors, since there is nowhere else to report them.
  static func error(_ text: String) {
    let parts = size(of: 2).map { TerminalText.indentWrapped(text, columns: $0.columns) } ?? [text]
    for part in parts { _ = writeAll(octets(part) + [0x0A], to: 2) }
  }

  /// stdout if it is a pipe, which poll(2) reports as soon as its reader has gone; else nil.
  ///
  /// It is nil for a pipe that this process can read too, since such a pipe always has a reader.
  static var stdoutPipe: Int32? {
    var status = stat()
    return unsafe fstat(1, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
      && fcntl(1, F_GETFL) & O_ACCMODE == O_WRONLY ? 1 : nil
  }

  static var hasLostReader: Bool {
    var entry = pollfd(fd: stdoutPipe ?? -1, events: 0, revents: 0)
    return unsafe poll(&entry, 1, 0) > 0
  }

  static var isTerminal: Bool { isatty(1) == 1 }

  /// The size of the terminal at stdout; nil if stdout is no terminal or does not report it.
  static var terminalSize: (columns: Int, rows: Int)? { size(of: 1) }

  private static func size(of descriptor: Int32) -> (columns: Int, rows: Int)? {
    var size = winsize()
    let result = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
    guard result == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }
}
