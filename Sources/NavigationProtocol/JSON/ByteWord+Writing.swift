// Words as they are written: texts that may need escapes, and digits.

extension ByteWord {
  @inline(__always)
  private init(writing bits: UInt64) { self.bits = bits }

  /// Packs a text of 1 to 7 bytes, the first byte lowest.
  ///
  /// Spaces (0x20) fill the other bytes.
  @inline(__always)
  init(padding text: Span<UInt8>) {
    let size = text.count
    precondition(size > 0 && size < 8)
    var bits: UInt64
    if size >= 4 {
      // In bounds; the second half may overlap the first.
      let first = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self)
      let second = unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: size &- 4, as: UInt32.self)
      bits = UInt64(UInt32(littleEndian: first))
      bits |= UInt64(UInt32(littleEndian: second)) &<< (size &* 8 &- 32)
    } else {
      bits = UInt64(text[0])
      if size > 1 { bits |= UInt64(text[1]) &<< 8 }
      if size > 2 { bits |= UInt64(text[2]) &<< 16 }
    }
    self.bits = bits | 0x2020_2020_2020_2020 &<< (size &* 8)
  }

  /// Whether one of the bytes must be escaped in JSON: a quote, a backslash, a control character.
  @inline(__always)
  var needsEscape: Bool { escapes != 0 }

  /// A bit in the bytes that must be escaped, and perhaps in some behind them.
  @inline(__always)
  var escapes: UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    // With one bit turned over, the quote stands right behind the control characters.
    let low = (bits ^ ones &* 0x02) &- ones &* 0x21
    let slash = (bits ^ ones &* 0x5C) &- ones
    return (low | slash) & ~bits & (ones &* 0x80)
  }

  /// The eight decimal digits of a number below 100,000,000, the highest first.
  @inline(__always)
  init(digitsOf number: UInt64) {
    self.init(writing: Self.decimals(of: number) | 0x3030_3030_3030_3030)
  }

  /// The digits of a number below 100,000,000 without leading zeros, and how many they are.
  @inline(__always)
  static func trimmedDigits(of number: UInt64) -> (word: ByteWord, count: Int) {
    let decimals = decimals(of: number)
    // The last digit stays even if it is 0.
    let zeros = (decimals | 1 &<< 56).trailingZeroBitCount / 8
    let digits = decimals | 0x3030_3030_3030_3030
    return (ByteWord(writing: digits &>> (zeros &* 8)), 8 &- zeros)
  }

  /// The decimal digits as numbers, a byte each.
  @inline(__always)
  private static func decimals(of number: UInt64) -> UInt64 {
    assert(number < 100_000_000)
    // Halves of four digits in 32 bits each, then pairs in 16, then digits in 8; the products are
    // the quotients, scaled, and exact for numbers of that size.
    let halves = number / 10_000 | (number % 10_000) &<< 32
    let hundreds = (halves &* 10_486) &>> 20 & 0x0000_007F_0000_007F
    let pairs = hundreds | (halves &- hundreds &* 100) &<< 16
    let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
    return tens | (pairs &- tens &* 10) &<< 8
  }
}
