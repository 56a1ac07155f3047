import CLinux
import NavctlSupport
import RuntimePaths

/// The lines of standard input, waited for without losing sight of a connection.
struct InputLines {
  /// How long nothing else is looked at.
  private static let turnMilliseconds: Int32 = 500
  /// A longer line is none that anybody typed.
  private static let maximumBytes = 65_536

  private var buffer: [UInt8] = []
  private var isAtEnd = false

  /// Takes the next line.
  ///
  /// - Parameter idle: done every now and then while nothing comes.
  /// - Returns: the line without its end; nil at the end of the input.
  /// - Throws: that it is too long or cannot be read, or what `idle` throws.
  mutating func next(idle: () throws -> Void) throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        defer { buffer.removeFirst(end + 1) }
        return String(decoding: buffer[..<end], as: UTF8.self)
      }
      if isAtEnd {
        defer { buffer = [] }
        return buffer.isEmpty ? nil : String(decoding: buffer, as: UTF8.self)
      }
      guard buffer.count < Self.maximumBytes else {
        throw UsageError("a line of stdin is longer than \(Self.maximumBytes) octets")
      }
      try idle()
      try read()
    }
  }

  private mutating func read() throws {
    var entry = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    let ready = unsafe poll(&entry, 1, Self.turnMilliseconds)
    if ready == 0 || ready < 0 && navd_errno() == EINTR { return }
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe CLinux.read(0, $0.baseAddress, $0.count)
    }
    if count < 0 {
      guard navd_errno() == EINTR else {
        throw PlainFailure(
          lines: ["input: cannot read stdin: \(SystemError.text(of: navd_errno()))"], status: 1)
      }
      return
    }
    isAtEnd = count == 0
    buffer += chunk[..<count]
  }
}
