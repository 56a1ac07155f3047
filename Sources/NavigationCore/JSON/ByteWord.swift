// Words as they are read from JSON.

extension ByteWord {
  /// The eight lower-case hex digits of a number in ASCII, the highest first.
  @inline(__always)
  init(hexDigitsOf number: UInt32) {
    // One nibble a byte, the highest in the lowest byte.
    var spread = UInt64(number.byteSwapped)
    spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
    spread = spread >> 4 & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
    // 1 in every byte that is 10 or more; these become letters from 'a' on.
    let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    bits = spread + 0x3030_3030_3030_3030 + letters * 0x27
  }

  subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (index * 8)) }

  /// A number whose bytes in memory are these bytes in order, whatever the processor's byte order.
  var littleEndian: UInt64 { bits.littleEndian }

  /// The bytes as a number, whose highest byte is the first one.
  package var bigEndian: UInt64 { bits.byteSwapped }

  /// The value of the last `count` bytes, which must be 1 to 8 decimal digits.
  @inline(__always)
  func number(ofLastDigits count: Int) -> UInt64 {
    // The bytes before the digits, in the lowest bits, become zeros.
    let others = UInt64(64 - count * 8)
    var value = ((bits & (Self.oneInEachByte &* 0x0F)) &>> others) &<< others
    // Pairs of digits become one number in 16 bits, pairs of these one in 32 bits, and those the
    // result.
    value = (value &* 10 &+ value &>> 8) & 0x00FF_00FF_00FF_00FF
    value = (value &* 100 &+ value &>> 16) & 0x0000_FFFF_0000_FFFF
    return (value &* 10_000 &+ value &>> 32) & 0xFFFF_FFFF
  }

  /// The number of spaces (0x20) at the start.
  @inline(__always)
  var leadingSpaceCount: Int { (bits ^ Self.oneInEachByte &* 0x20).trailingZeroBitCount / 8 }

  /// Marks quotes, backslashes and control characters by their highest bit.
  ///
  /// A byte that is not ASCII may be marked too. A byte above a marked one may be marked wrongly,
  /// because a subtraction can borrow from it.
  @inline(__always)
  private var uncheckedEscapeMarks: UInt64 {
    // With this bit flipped, the code of the quote is next to those of the control characters.
    let quotes = (bits ^ Self.oneInEachByte &* 0x02) &- Self.oneInEachByte &* 0x21
    let slashes = (bits ^ Self.oneInEachByte &* 0x5C) &- Self.oneInEachByte
    return quotes | slashes
  }

  /// Marks the bytes that need an escape in JSON by their highest bit; only the lowest mark is
  /// reliable.
  @inline(__always)
  var escapeMarks: UInt64 { uncheckedEscapeMarks & ~bits & Self.highBits }

  /// Marks the bytes that need an escape or are not ASCII by their highest bit; only the lowest
  /// mark is reliable.
  @inline(__always)
  var escapeOrNonASCIIMarks: UInt64 { (uncheckedEscapeMarks | bits) & Self.highBits }

  /// The bytes before the first quote as a number, the first byte lowest, and their count.
  ///
  /// The result is nil if the word holds no quote with a colon after it, or if an escape or a byte
  /// that is not ASCII comes before the quote.
  @inline(__always)
  var nameBeforeColon: (bits: UInt64, byteCount: Int)? {
    // Without a marked byte this is 57, where too few bits are left for a quote and a colon.
    let place = escapeOrNonASCIIMarks.trailingZeroBitCount &- 7
    guard bits &>> UInt64(truncatingIfNeeded: place) & 0xFFFF == 0x3A22 else { return nil }
    return (bits & ~(.max &<< UInt64(truncatingIfNeeded: place)), place &>> 3)
  }

  /// The number of decimal digits at the start.
  @inline(__always)
  var leadingDigitCount: Int {
    // Digits become 0 to 9. Only the lowest mark is reliable, because a marked byte can carry.
    let values = bits ^ Self.oneInEachByte &* 0x30
    let others = (values &+ Self.oneInEachByte &* 0x76 | values) & Self.highBits
    return others.trailingZeroBitCount &>> 3
  }

  /// Returns the index of the first byte from `start` on that needs an escape, or `text.count`.
  @inline(__always)
  static func firstToEscape(in text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index + 8 <= text.count {
      let marks = ByteWord(text, at: index).escapeMarks
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { break }
      index += 1
    }
    return index
  }

  /// Returns the index of the first byte from `start` on that needs an escape or is not ASCII.
  ///
  /// Bytes that need an escape are quotes, backslashes and control characters. The text must end in
  /// eight zeros, so such a byte exists.
  @inline(__always)
  static func firstToEscapeOrNonASCII(inPadded text: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      let marks = ByteWord(text, at: index).escapeOrNonASCIIMarks
      if marks != 0 { return index &+ marks.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
  }
}

// Words as they are written: texts that may need escapes, and digits.

extension ByteWord {
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
    self.init(bits: bits | 0x2020_2020_2020_2020 &<< (size &* 8))
  }

  /// The eight decimal digits of a number below 100,000,000 in ASCII, the highest first.
  @inline(__always)
  init(digitsOf number: UInt64) {
    self.init(bits: Self.digitValues(of: number) | 0x3030_3030_3030_3030)
  }

  /// The digits of a number below 100,000,000 without leading zeros, and how many they are.
  @inline(__always)
  static func trimmedDigits(of number: UInt64) -> (word: ByteWord, count: Int) {
    let values = digitValues(of: number)
    // The last digit stays, even if it is 0.
    let zeros = (values | 1 &<< 56).trailingZeroBitCount / 8
    let digits = values | 0x3030_3030_3030_3030
    return (ByteWord(bits: digits &>> (zeros &* 8)), 8 &- zeros)
  }

  /// The values of the eight decimal digits, each in one byte, the highest digit lowest.
  @inline(__always)
  private static func digitValues(of number: UInt64) -> UInt64 {
    assert(number < 100_000_000)
    // First two halves of four digits in 32 bits each, then pairs in 16 bits, then digits in 8
    // bits. The products are scaled quotients, exact for numbers of this size.
    let halves = number / 10_000 | (number % 10_000) &<< 32
    let hundreds = (halves &* 10_486) &>> 20 & 0x0000_007F_0000_007F
    let pairs = hundreds | (halves &- hundreds &* 100) &<< 16
    let tens = (pairs &* 103) &>> 10 & 0x000F_000F_000F_000F
    return tens | (pairs &- tens &* 10) &<< 8
  }
}
