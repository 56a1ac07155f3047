/// A name of one to eight bytes as one number, so that a `switch` over names compares numbers.
package struct ShortName: Equatable, ExpressibleByStringLiteral {
  /// The bytes of the name, the first one lowest; 0 for any other name, which equals no literal.
  let bits: UInt64

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// Makes a constant of a literal, because it is always inlined.
  @inline(__always)
  package init(stringLiteral name: StaticString) {
    var bits: UInt64 = 0
    var index = name.utf8CodeUnitCount
    assert(index > 0 && index <= 8)
    while index > 0 {
      index -= 1
      // Within the count of the literal.
      bits = bits << 8 | UInt64(unsafe name.utf8Start[index])
    }
    self.bits = bits
  }

  /// The name in the bytes of a text from `start` up to, not including, `end`; none of them is 0.
  @inline(__always)
  init(_ text: Span<UInt8>, from start: Int, to end: Int) {
    let count = end &- start
    guard count > 0, count <= 8 else {
      bits = 0
      return
    }
    guard start > text.count - 8 else {
      bits = ByteWord(text, at: start).bits & (.max &>> UInt64(64 &- count &* 8))
      return
    }
    bits = Self.bits(text, from: start, to: end)
  }

  private static func bits(_ text: Span<UInt8>, from start: Int, to end: Int) -> UInt64 {
    var bits: UInt64 = 0
    for index in (start..<end).reversed() { bits = bits << 8 | UInt64(text[index]) }
    return bits
  }

  /// The name as a string, for error messages.
  package var text: String {
    let count = (64 - bits.leadingZeroBitCount + 7) / 8
    return String(
      decoding: (0..<count).map { UInt8(truncatingIfNeeded: bits >> ($0 * 8)) }, as: UTF8.self)
  }

  /// Takes a name that was written with escapes; a name with U+0000 equals no literal.
  init(unescaped name: String) {
    let bytes = Array(name.utf8)
    self.init(bytes.span, from: 0, to: bytes.contains(0) ? 0 : bytes.count)
  }
}
