import Foundation
import NavigationCore
import RuntimePaths
import Testing

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
