/// Reads the binary values of journal rows: numbers in base 128, texts and words.
///
/// After an unreadable value `isBroken` is true, and what is read then is of no use.
package struct ByteReader: Sendable {
  package private(set) var offset = 0
  package var isBroken = false

  package init() {}

  /// Reads a number with seven bits in each byte, the least significant first.
  @inline(__always)
  package mutating func number(in bytes: Span<UInt8>) -> UInt64 {
    guard offset < bytes.count, bytes[offset] < 0x80 else { return longNumber(in: bytes) }
    defer { offset += 1 }
    return UInt64(bytes[offset])
  }

  private mutating func longNumber(in bytes: Span<UInt8>) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while offset < bytes.count, shift < 64 {
      let byte = bytes[offset]
      offset += 1
      value |= UInt64(byte & 0x7F) << shift
      guard byte >= 0x80 else { return value }
      shift += 7
    }
    isBroken = true
    return 0
  }

  /// Reads the size of a text, and its bytes.
  @_lifetime(copy bytes)
  package mutating func text(in bytes: Span<UInt8>) -> Span<UInt8> {
    text(of: number(in: bytes), in: bytes)
  }

  /// Reads a number of bytes.
  @_lifetime(copy bytes)
  package mutating func text(of size: UInt64, in bytes: Span<UInt8>) -> Span<UInt8> {
    let count = Int(clamping: size)
    guard !isBroken, count <= bytes.count - offset else {
      isBroken = true
      return bytes.extracting(first: 0)
    }
    defer { offset += count }
    return bytes.extracting(offset..<offset + count)
  }

  /// Reads a number of 8 bytes, the least significant first.
  package mutating func word(in bytes: Span<UInt8>) -> UInt64 {
    let word = text(of: 8, in: bytes)
    return word.indices.reduce(0) { $0 | UInt64(word[$1]) << UInt64(8 * $1) }
  }
}

extension String {
  /// Makes a text of bytes, which should be UTF-8.
  package init(copying bytes: Span<UInt8>) {
    self = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
  }
}
