import CLinux
import NavigationCore

enum PlayRequest: Hashable {
  case next, back, togglePause, faster, slower, quit
  case goTo(UInt64)
  case unknown(String)

  init(line: String) {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.count) {
    case ("n", 1), (nil, 0): self = .next
    case ("b", 1): self = .back
    case ("p", 1): self = .togglePause
    case ("+", 1): self = .faster
    case ("-", 1): self = .slower
    case ("q", 1): self = .quit
    case ("g", 2): self = UInt64(words[1]).map { .goTo($0) } ?? .unknown(line)
    default: self = .unknown(line)
    }
  }
}

struct PlayKeys: ~Copyable {
  /// The mode of the terminal, in which ^C still sends SIGINT.
  private let mode = CbreakMode()
  private var buffer = LineBuffer()
  /// The digits typed after `g`, the key for a revision; nil without `g`.
  private var typedRevision: String?

  var isAtEnd: Bool { buffer.isAtEnd }

  mutating func read() {
    let bytes = readOnce(0, atMost: 4096)
    if bytes == nil, navd_errno() == EAGAIN { return }
    buffer.append(bytes ?? [])
  }

  mutating func next() -> PlayRequest? {
    guard mode.isOn else { return buffer.next().map { PlayRequest(line: $0) } }
    while !buffer.bytes.isEmpty { if let request = requestOfNextKey() { return request } }
    return nil
  }

  private mutating func requestOfNextKey() -> PlayRequest? {
    // The arrows are ESC [ C and ESC [ D.
    if buffer.bytes.starts(with: [0x1B, 0x5B]), buffer.bytes.count >= 3 {
      let last = buffer.bytes[2]
      buffer.bytes.removeFirst(3)
      return last == UInt8(ascii: "C") ? .next : last == UInt8(ascii: "D") ? .back : nil
    }
    let key = Character(UnicodeScalar(buffer.bytes.removeFirst()))
    if let typedRevision {
      if key.isNumber {
        self.typedRevision = typedRevision + String(key)
        return nil
      }
      self.typedRevision = nil
      return key == "\n" ? UInt64(typedRevision).map { .goTo($0) } : nil
    }
    switch key {
    case "\n": return .togglePause
    case "g":
      typedRevision = ""
      return nil
    default:
      let request = PlayRequest(line: String(key))
      if case .unknown = request { return nil }
      return request
    }
  }
}
