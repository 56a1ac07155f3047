import CLinux

/// The commands on stdin and the lines on stdout.
struct Lines {
  private var pending: [UInt8] = []
  /// Whether whoever gave commands is gone.
  private(set) var isClosed = false

  /// Takes the next command that is there, without waiting.
  mutating func next() -> String? {
    var descriptor = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    while !isClosed, unsafe poll(&descriptor, 1, 0) > 0 {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(0, $0.baseAddress, $0.count) }
      if count <= 0 { isClosed = true } else { pending += bytes[..<count] }
    }
    guard let end = pending.firstIndex(of: 0x0A) else { return nil }
    defer { pending.removeSubrange(...end) }
    return String(decoding: pending[..<end], as: UTF8.self)
  }

  /// Writes one line.
  static func write(_ text: String) { write(Array(text.utf8)) }

  /// Writes one line.
  static func write(_ text: [UInt8]) {
    var rest = (text + [0x0A])[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe CLinux.write(1, $0.baseAddress, $0.count) }
      guard count > 0 else { exit(1) }
      rest = rest.dropFirst(count)
    }
  }
}
