import CLinux
import NavigationCore
import RuntimePaths

/// Reads lines of standard input, and serves a connection while none arrives.
struct InputLines {
  /// The maximum time of one wait for input, in milliseconds; then `idle` runs again.
  private static let turnMilliseconds: Int32 = 500
  /// The longest accepted line; a missing line break must not fill the memory.
  private static let maximumBytes = 65_536

  private var buffer = LineBuffer()

  /// Waits for the next line, without its line break, and removes it from the buffer; nil at the
  /// end of the input.
  ///
  /// It calls `idle` before each wait, so at least twice a second, and throws its error.
  mutating func next(idle: () throws -> Void) throws -> String? {
    while true {
      if let line = buffer.next() { return line }
      if buffer.isAtEnd { return nil }
      try require(
        buffer.bytes.count < Self.maximumBytes,
        "a line of stdin is longer than \(Self.maximumBytes) octets")
      try idle()
      try read()
    }
  }

  /// The text of a file, or of standard input for `-`.
  ///
  /// What is not UTF-8 is refused: with a sign in place of an octet, it would be another text.
  static func text(of file: String, remedy: String) throws(UsageError) -> String {
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try readSmallFile(file == "-" ? "/dev/stdin" : file)
    } catch {
      throw UsageError("\(error)", remedy: remedy)
    }
    return try require(
      String(validating: bytes, as: UTF8.self), "\(file) is not UTF-8", remedy: remedy)
  }

  private mutating func read() throws {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&entry, 1, Self.turnMilliseconds)
    if ready == 0 || ready < 0 && navd_errno() == EINTR { return }
    guard let bytes = readOnce(0, atMost: 4096) else {
      throw PlainFailure("input: cannot read stdin: \(SystemError.text(of: navd_errno()))")
    }
    buffer.append(bytes)
  }
}
