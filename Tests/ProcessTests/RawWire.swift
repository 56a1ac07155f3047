import Foundation

/// ZMTP by hand, for peers that do not keep to it.
enum RawWire {
  /// The greeting of version 3 with a mechanism.
  static func greeting(_ mechanism: String, major: UInt8 = 3) -> [UInt8] {
    let name = Array(mechanism.utf8)
    return [0xFF] + Array(repeating: 0, count: 8) + [0x7F, major, 0] + name
      + Array(repeating: 0, count: 20 - name.count + 32)
  }

  /// A command such as READY with its body.
  static func command(_ name: String, _ body: [UInt8] = []) -> [UInt8] {
    let content = [UInt8(name.utf8.count)] + Array(name.utf8) + body
    return [0x04, UInt8(content.count)] + content
  }

  /// A property of READY.
  static func property(_ name: String, _ value: String) -> [UInt8] {
    let count = UInt32(value.utf8.count).bigEndian
    let octets = unsafe withUnsafeBytes(of: count) { unsafe Array($0) }
    return [UInt8(name.utf8.count)] + Array(name.utf8) + octets + Array(value.utf8)
  }

  /// A frame of a message, of less than 256 octets.
  static func frame(_ body: [UInt8], more: Bool = false) -> [UInt8] {
    [more ? 1 : 0, UInt8(body.count)] + body
  }

  static func message(_ verb: String, _ body: String) -> [UInt8] {
    frame(Array("nsp1.\(verb)".utf8), more: true) + frame(Array(body.utf8))
  }

  /// The last whole frame of what a peer of version 3 sent.
  static func lastFrame(of octets: [UInt8]) -> [UInt8]? {
    var (start, last) = (64, 64..<64)
    while start + 2 <= octets.count {
      var (head, length) = (2, Int(octets[start + 1]))
      if octets[start] & 2 != 0 {
        head = 9
        guard start + head <= octets.count else { break }
        length = octets[start + 1..<start + 9].reduce(0) { $0 << 8 | Int($1) }
      }
      guard start + head + length <= octets.count else { break }
      last = start..<start + head + length
      start = last.upperBound
    }
    return last.isEmpty ? nil : Array(octets[last])
  }

  /// Everything that a DEALER without a mechanism says before its first message.
  static func opening(_ properties: [(String, String)] = []) -> [UInt8] {
    let all = [("Socket-Type", "DEALER"), ("Identity", "")] + properties
    return greeting("NULL") + command("READY", all.flatMap { property($0, $1) })
  }
}
