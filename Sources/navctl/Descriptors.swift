import CLinux
import Glibc
import NavigationCore
import RuntimePaths

/// Writes all bytes; returns false, with the error in `errno`, if that fails.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var offset = 0
  while offset < bytes.count {
    let start = offset
    let count = unsafe bytes.withUnsafeBytes {
      unsafe write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
    }
    if count < 0, navd_errno() == EINTR { continue }
    guard count > 0 else { return false }
    offset += count
  }
  return true
}

/// Reads once; returns no bytes at the end, and nil, with the error in `errno`, if that fails.
func readOnce(_ descriptor: Int32, atMost count: Int = 65_536) -> [UInt8]? {
  var bytes = [UInt8](repeating: 0, count: count)
  while true {
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0, navd_errno() == EINTR { continue }
    return count < 0 ? nil : Array(bytes[..<count])
  }
}

struct LineBuffer {
  var bytes: [UInt8] = []
  var isAtEnd = false

  mutating func append(_ read: [UInt8]) {
    isAtEnd = read.isEmpty
    bytes += read
  }

  /// Removes the next line, without its line break; nil if none is complete.
  mutating func next() -> String? {
    let isLast = isAtEnd && !bytes.isEmpty
    guard let end = bytes.firstIndex(of: 0x0A) ?? (isLast ? bytes.count : nil) else { return nil }
    defer { bytes.removeFirst(min(end + 1, bytes.count)) }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }
}

/// Puts the terminal at stdin into cbreak mode, without echo; `deinit` restores its settings.
struct CbreakMode: ~Copyable {
  private let savedSettings: termios?

  /// Does nothing unless `isWanted`; with `takesSignals`, ^C and ^Z are keys and send no signal.
  init(isWanted: Bool = true, takesSignals: Bool = false) {
    var settings = termios()
    let isTerminal = unsafe isWanted && tcgetattr(0, &settings) == 0
    savedSettings = isTerminal ? settings : nil
    guard isTerminal else { return }
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON | (takesSignals ? ISIG : 0))
    _ = unsafe tcsetattr(0, TCSADRAIN, &settings)
  }

  var isOn: Bool { savedSettings != nil }

  deinit { if var savedSettings { _ = unsafe tcsetattr(0, TCSADRAIN, &savedSettings) } }
}

/// Reads lines of standard input, and serves a connection while none arrives.
struct InputLines {
  /// The maximum time of one wait for input; then `next` calls `idle` again.
  private static let maximumWaitMilliseconds: Int32 = 500
  /// The longest accepted line; a missing line break must not fill the memory.
  private static let maximumLineBytes = 65_536

  private var buffer = LineBuffer()

  /// The next line without its line break, nil at the end; calls `idle` at least twice a second.
  mutating func next(idle: () throws -> Void) throws -> String? {
    while true {
      if let line = buffer.next() { return line }
      if buffer.isAtEnd { return nil }
      try require(
        buffer.bytes.count < Self.maximumLineBytes,
        "a line of stdin is longer than \(Self.maximumLineBytes) octets")
      try idle()
      try read()
    }
  }

  /// The text of a file, or of stdin for `-`; refuses what is not UTF-8.
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
    let ready = unsafe poll(&entry, 1, Self.maximumWaitMilliseconds)
    if ready == 0 || ready < 0 && navd_errno() == EINTR { return }
    guard let bytes = readOnce(0, atMost: 4096) else {
      throw PlainFailure("input: cannot read stdin: \(SystemError.text(of: navd_errno()))")
    }
    buffer.append(bytes)
  }
}
