import CLinux
import Glibc

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

/// Bytes that have been read, and the lines in them.
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

/// Lets a terminal at stdin pass each key on at once and without echo; `deinit` restores it.
struct KeyMode: ~Copyable {
  private let former: termios?

  /// Switches the terminal if that is wanted; with `takesSignals`, ^C and the like are keys too.
  init(isWanted: Bool = true, takesSignals: Bool = false) {
    var settings = termios()
    let isTerminal = unsafe isWanted && tcgetattr(0, &settings) == 0
    former = isTerminal ? settings : nil
    guard isTerminal else { return }
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON | (takesSignals ? ISIG : 0))
    _ = unsafe tcsetattr(0, TCSADRAIN, &settings)
  }

  var isOn: Bool { former != nil }

  deinit { if var former { _ = unsafe tcsetattr(0, TCSADRAIN, &former) } }
}
