import CLinux
import Glibc
import NavigationCore

/// What a person asks of a recording that is played.
enum PlayRequest: Hashable {
  case next, back, toggle, faster, slower, quit
  case go(UInt64)
  case unknown(String)

  /// Reads a line, such as `g 42`.
  init(line: String) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("n", 1), (nil, 0): self = .next
    case ("b", 1): self = .back
    case ("p", 1): self = .toggle
    case ("+", 1): self = .faster
    case ("-", 1): self = .slower
    case ("q", 1): self = .quit
    case ("g", 2): self = UInt64(words[1]).map { .go($0) } ?? .unknown(line)
    default: self = .unknown(line)
    }
  }
}

/// Reads requests from stdin: keys of a terminal, or lines.
struct PlayKeys: ~Copyable {
  /// Whether stdin is a terminal, so that each key counts at once.
  private let isTerminal: Bool
  private let former: termios?
  private var buffer: [UInt8] = []
  /// The digits behind `g`; nil without it.
  private var digits: String?
  private(set) var isAtEnd = false

  /// Switches a terminal to single keys without echo; ^C stays a signal.
  init() {
    var settings = termios()
    guard isatty(0) == 1, unsafe tcgetattr(0, &settings) == 0 else {
      (isTerminal, former) = (false, nil)
      return
    }
    former = settings
    isTerminal = true
    settings.c_lflag &= ~tcflag_t(ECHO | ICANON)
    _ = unsafe tcsetattr(0, TCSADRAIN, &settings)
  }

  deinit { if var former { _ = unsafe tcsetattr(0, TCSADRAIN, &former) } }

  /// Reads what stdin has; call it when stdin is readable.
  mutating func read() {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe Glibc.read(0, $0.baseAddress, $0.count)
    }
    if count < 0, navd_errno() == EINTR || navd_errno() == EAGAIN { return }
    guard count > 0 else {
      isAtEnd = true
      return
    }
    buffer += chunk[..<count]
  }

  /// The next request; nil if none is complete.
  mutating func next() -> PlayRequest? {
    guard isTerminal else {
      guard let end = buffer.firstIndex(of: 0x0A) else {
        guard isAtEnd, !buffer.isEmpty else { return nil }
        defer { buffer = [] }
        return PlayRequest(line: String(decoding: buffer, as: UTF8.self))
      }
      defer { buffer.removeFirst(end + 1) }
      return PlayRequest(line: String(decoding: buffer[..<end], as: UTF8.self))
    }
    while !buffer.isEmpty { if let request = key() { return request } }
    return nil
  }

  /// Takes one key; nil if it completes no request.
  private mutating func key() -> PlayRequest? {
    // The arrows are ESC [ C and ESC [ D.
    if buffer.starts(with: [0x1B, 0x5B]), buffer.count >= 3 {
      let last = buffer[2]
      buffer.removeFirst(3)
      return last == UInt8(ascii: "C") ? .next : last == UInt8(ascii: "D") ? .back : nil
    }
    let key = Character(UnicodeScalar(buffer.removeFirst()))
    if let digits {
      if key.isNumber {
        self.digits = digits + String(key)
        return nil
      }
      self.digits = nil
      return key == "\n" ? UInt64(digits).map { .go($0) } : nil
    }
    switch key {
    case " ", "n": return .next
    case "b": return .back
    case "p", "\n": return .toggle
    case "+": return .faster
    case "-": return .slower
    case "q": return .quit
    case "g":
      digits = ""
      return nil
    default: return nil
    }
  }
}
