import CLinux
import Glibc
import NavctlSupport
import RuntimePaths

/// Where text goes: data to stdout, everything else to stderr.
enum Output {
  /// Writes one line of data, at once.
  static func line(_ text: String) throws { try line(Array(text.utf8)) }

  /// Writes one line of data, at once.
  static func line(_ bytes: [UInt8]) throws { try data(bytes + [0x0A]) }

  /// Writes text that has its own line breaks, at once.
  static func text(_ text: String) throws { try data(Array(text.utf8)) }

  /// Writes text to stdout before the end, where nobody can be told that it did not arrive.
  static func lastText(_ text: String) { _ = write(Array(text.utf8), to: 1) }

  private static func data(_ bytes: [UInt8]) throws {
    guard write(bytes, to: 1) else {
      throw PlainFailure(
        lines: ["output: cannot write to stdout: \(SystemError.text(of: navd_errno()))"], status: 1)
    }
  }

  /// Writes one line for people to stderr; where there is no stderr there is nobody to tell.
  static func error(_ text: String) { _ = write(Array(text.utf8) + [0x0A], to: 2) }

  /// Writes a line of stderr over, which is a terminal; an empty text leaves none.
  static func progress(_ text: String) { _ = write(Array("\r\(text)\u{1B}[K".utf8), to: 2) }

  /// Whether stdout is a terminal.
  static var isTerminal: Bool { isatty(1) == 1 }

  /// How many columns the terminal has that stdout is; nil where it is none, or does not tell.
  static var terminalColumns: Int? { terminalSize?.columns }

  /// The size of the terminal that stdout is; nil where it is none, or does not tell.
  static var terminalSize: (columns: Int, rows: Int)? {
    var size = winsize()
    let result = unsafe ioctl(1, UInt(TIOCGWINSZ), &size)
    guard result == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var offset = 0
    while offset < bytes.count {
      let start = offset
      let count = unsafe bytes.withUnsafeBytes { buffer in
        unsafe CLinux.write(
          descriptor, buffer.baseAddress?.advanced(by: start), buffer.count - start)
      }
      if count < 0 && navd_errno() == EINTR { continue }
      guard count > 0 else { return false }
      offset += count
    }
    return true
  }
}
