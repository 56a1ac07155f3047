/// A name of at most eight bytes as one number, so that a `switch` over names compares numbers.
struct ShortName: Equatable, ExpressibleByStringLiteral {
  /// The bytes, the first one lowest; 0 for any other name, which thus equals no literal.
  let bits: UInt64

  /// Always inlined, whereby a literal becomes a constant.
  @inline(__always)
  init(stringLiteral name: StaticString) {
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

  /// The bytes of a text in `range`, none of which is 0.
  @inline(__always)
  init(_ text: Span<UInt8>, _ range: Range<Int>) {
    let start = range.lowerBound
    guard range.count <= 8 else {
      bits = 0
      return
    }
    guard start + 8 > text.count else {
      bits = ByteWord(text, at: start).bits & ~(UInt64.max << (range.count * 8))
      return
    }
    var bits: UInt64 = 0
    for index in range.reversed() { bits = bits << 8 | UInt64(text[index]) }
    self.bits = bits
  }

  /// A name that was written with escapes, which may stand for any character.
  init(unescaped name: String) {
    let bytes = Array(name.utf8)
    self.init(bytes.span, 0..<(bytes.contains(0) ? 0 : bytes.count))
  }
}
