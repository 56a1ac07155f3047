/// Eight bytes of a text at once; the first one is the lowest.
struct ByteWord {
  /// The bytes as a number, the first one lowest.
  let bits: UInt64

  private init(bits: UInt64) { self.bits = bits }

  /// The bytes of a text from `index` on.
  @inline(__always)
  init(_ text: Span<UInt8>, at index: Int) {
    precondition(index >= 0 && index + 8 <= text.count)
    // In bounds, as just checked, and every pattern of bits is a number.
    bits = UInt64(
      littleEndian: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// The lower-case hex digits of a number, the highest first.
  @inline(__always)
  init(hexDigitsOf number: UInt32) {
    // One nibble a byte, the highest in the lowest byte.
    var spread = UInt64(number.byteSwapped)
    spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
    spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
    spread = spread >> 4 & 0x000F_000F_000F_000F | (spread & 0x000F_000F_000F_000F) << 8
    // 1 in every byte that is ten or more: those go on behind 'a'.
    let letters = (spread + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    bits = spread + 0x3030_3030_3030_3030 + letters * 0x27
  }

  /// One of the bytes.
  subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> (index * 8)) }

  /// The bytes as a number whose memory is these bytes.
  var littleEndian: UInt64 { bits.littleEndian }

  /// The bytes as a number, the first one being the highest.
  var bigEndian: UInt64 { bits.byteSwapped }

  /// A bit in every byte that ends a run of plain text in JSON: a quote, a backslash, a control
  /// character, and anything that is not ASCII if `stopsAtNonASCII`.
  ///
  /// Bits above the lowest one may be wrong, which is why only that one is used.
  @inline(__always)
  private func specials(stopsAtNonASCII: Bool) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let quotes = bits ^ ones &* 0x22
    let slashes = bits ^ ones &* 0x5C
    var marks = (quotes &- ones) & ~quotes
    marks |= (slashes &- ones) & ~slashes
    marks |= (bits &- ones &* 0x20) & ~bits
    if stopsAtNonASCII { marks |= bits }
    return marks & highs
  }

  /// The index of the first byte from `start` on that needs an escape or ends a string; the number
  /// of bytes if there is none.
  @inline(__always)
  static func firstSpecial(
    in text: Span<UInt8>, from start: Int, stopsAtNonASCII: Bool = false
  ) -> Int {
    var index = start
    while index + 8 <= text.count {
      let marks = ByteWord(text, at: index).specials(stopsAtNonASCII: stopsAtNonASCII)
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C || stopsAtNonASCII && byte >= 0x80 { break }
      index += 1
    }
    return index
  }
}
