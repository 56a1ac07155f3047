import Foundation
import NavigationCore
import RuntimePaths
import Testing

@testable import Journal

/// The buffer of a group, against an array.
@Suite struct ScratchBufferTests {
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

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `it holds what was appended, in whatever order and however much`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var buffer = ScratchBuffer(capacity: 16)
    var twin: [UInt8] = []
    for _ in 0..<200 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0...3:
        let count = Int.random(in: 1...9, using: &random)
        buffer.makeRoom(numbers: count)
        for _ in 0..<count {
          let number =
            UInt64.random(in: 0...(.max), using: &random)
            >> UInt64.random(in: 0...63, using: &random)
          buffer.append(number: number)
          twin += digits(number)
        }
      case 4...6:
        let bytes = (0..<Int.random(in: 0..<50, using: &random)).map {
          UInt8(truncatingIfNeeded: $0)
        }
        buffer.append(bytes.span)
        twin += bytes
      case 7:
        buffer.append(word: 0x0807_0605_0403_0201)
        twin += 1...8
      default:
        guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
        buffer.clear()
        twin = []
      }
      let bytes = [UInt8](copying: buffer.bytes)
      #expect(bytes == twin && buffer.count == twin.count)
    }
  }

  @Test(
    arguments: [
      (0, 1), (127, 1), (128, 2), (16_383, 2), (16_384, 3), (1 << 63, 10), (.max, 10),
    ] as [(UInt64, Int)])
  func `a number takes one byte for seven bits`(number: UInt64, count: Int) {
    var buffer = ScratchBuffer(capacity: 16)
    buffer.makeRoom(numbers: 1)
    buffer.append(number: number)
    let bytes = [UInt8](copying: buffer.bytes)
    #expect(bytes.count == count && bytes == digits(number))
  }
}

/// Times in UTC, against the C library.
@Suite struct TimestampTests {
  /// The year, the month from 1, the day, the hour, the minute and the second.
  private func broken(_ seconds: Int) -> [Int32] {
    var time = time_t(seconds)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    return unsafe [
      parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min,
      parts.tm_sec,
    ]
  }

  private func padded(_ number: Int32, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: width - digits.count) + digits
  }

  @Test(arguments: 0..<4 as Range<UInt64>)
  func `a moment of ten thousand years is written as the C library counts it`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var texts: [(text: String, name: String, seconds: Int)] = []
    for _ in 0..<100 {
      let seconds = Int.random(in: 0...253_402_300_799, using: &random)
      let milliseconds = UInt64(seconds) * 1000 + UInt64.random(in: 0...999, using: &random)
      let text = Timestamp.rfc3339(ofMilliseconds: milliseconds)
      let parts = broken(seconds)
      let day = [padded(parts[0], 4), padded(parts[1], 2), padded(parts[2], 2)]
      let time = parts[3...].map { padded($0, 2) }
      let fraction = padded(Int32(milliseconds % 1000), 3)
      #expect(
        text == day.joined(separator: "-") + "T" + time.joined(separator: ":") + ".\(fraction)Z")
      let name = Timestamp.fileName(ofSeconds: seconds)
      #expect(name == day.joined() + "T" + time.joined() + "Z")
      texts.append((text, name, seconds))
    }
    // Names of backups and lines of logs are in order where their times are.
    texts.sort { $0.seconds < $1.seconds }
    for (one, other) in zip(texts, texts.dropFirst()) where one.seconds < other.seconds {
      #expect(one.text < other.text && one.name < other.name)
    }
  }
}
