@testable import NavigationCore
import Testing

/// The binary values of journal rows: `JSONWriter` against an array, and `ByteReader` against both.
@Suite struct BinaryValueTests {
  private enum Value: Equatable {
    case number(UInt64)
    case word(UInt64)
    case text([UInt8])
  }

  /// A number in base 128, the slow way.
  private func digits(_ number: UInt64) -> [UInt8] {
    var digits: [UInt8] = []
    var rest = number
    repeat {
      digits.append(UInt8(rest % 128))
      rest /= 128
    } while rest > 0
    return digits.enumerated().map { $0 < digits.count - 1 ? $1 + 128 : $1 }
  }

  private func bytes(_ value: Value) -> [UInt8] {
    switch value {
    case .number(let number): digits(number)
    case .word(let word): (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    case .text(let text): digits(UInt64(text.count)) + text
    }
  }

  private func someValue(_ random: inout SeededGenerator) -> Value {
    switch Int.random(in: 0..<4, using: &random) {
    case 0, 1:
      .number(
        UInt64.random(in: 0...(.max), using: &random) >> UInt64.random(in: 0...63, using: &random))
    case 2: .word(.random(in: 0...(.max), using: &random))
    default:
      // Among them the byte of a comma, which a writer of JSON would remove at the end.
      .text(
        (0..<Int.random(in: 0..<300, using: &random)).map { _ in
          UInt8.random(in: 0x20...0x2F, using: &random)
        })
    }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `what is written is read again, in whatever order and however much`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var writer = JSONWriter(reserving: 0)
    for count in 0..<60 {
      let values = (0..<count).map { _ in someValue(&random) }
      writer.removeAll()
      for value in values {
        switch value {
        case .number(let number): writer.binary(number)
        case .word(let word): writer.binary(word: word)
        case .text(let text): writer.binary(text.span)
        }
      }
      let written = [UInt8](copying: writer.writtenWithComma)
      #expect(written == values.flatMap(bytes))
      var reader = ByteReader()
      for value in values {
        switch value {
        case .number(let number): #expect(reader.number(in: written.span) == number)
        case .word(let word): #expect(reader.word(in: written.span) == word)
        case .text(let text): #expect([UInt8](copying: reader.text(in: written.span)) == text)
        }
      }
      #expect(!reader.isBroken && reader.offset == written.count)
      _ = reader.number(in: written.span)
      #expect(reader.isBroken)
    }
  }

  @Test(
    arguments: [
      (0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (1 << 63, 10), (.max, 10),
    ] as [(UInt64, Int)])
  func `a number takes one byte for seven bits`(number: UInt64, count: Int) {
    var writer = JSONWriter()
    writer.binary(number)
    let written = [UInt8](copying: writer.writtenWithComma)
    #expect(written.count == count && written == digits(number))
    for size in 0..<count {
      var reader = ByteReader()
      _ = reader.number(in: written.span.extracting(first: size))
      #expect(reader.isBroken, "the number ends after \(size) bytes")
    }
  }
}
