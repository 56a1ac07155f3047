/// The decimal digits of a number below 10^16, to be written several times.
///
/// The id of an op is in its answer, its diff and its row. It takes 110 instructions to convert it
/// each time, and 20 to copy the digits as they were received.
package struct Digits: Sendable {
  /// The first eight digits, then the others; the bytes after the last digit mean nothing.
  let first: ByteWord
  let second: ByteWord
  /// The number of digits, 1 to 16.
  let count: Int

  /// Takes the digits in a text that the scanner read as an integer.
  ///
  /// At least `JSONScanner.padding` bytes follow them.
  @inline(__always)
  init(_ text: Span<UInt8>, from start: Int, to end: Int) {
    count = end - start
    precondition(count > 0 && count <= 16)
    first = ByteWord(text, at: start)
    second = count > 8 ? ByteWord(text, at: start + 8) : first
  }

  /// Makes the digits of a number, which must be below 10^16.
  package init(_ number: UInt64) {
    precondition(number < 10_000_000_000_000_000, "\(number) has more than 16 digits")
    let (high, low) = number.quotientAndRemainder(dividingBy: 100_000_000)
    guard high > 0 else {
      (first, count) = ByteWord.trimmedDigits(of: low)
      second = first
      return
    }
    let (word, size) = ByteWord.trimmedDigits(of: high)
    let rest = ByteWord(digitsOf: low).bits
    // The last eight digits follow those of `word`; smart shifts give 0 for 64 bits.
    let kept = word.bits & ~(UInt64.max << (size * 8))
    first = ByteWord(bits: kept | rest << (size * 8))
    second = ByteWord(bits: rest >> (64 - size * 8))
    count = size + 8
  }
}
