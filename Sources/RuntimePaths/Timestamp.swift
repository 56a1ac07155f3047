import CLinux

/// Conversions of times in UTC to and from text, for logs and file names.
package enum Timestamp {
  /// Formats milliseconds since 1970 by RFC 3339, as `2026-11-21T17:43:45.120Z`.
  package static func rfc3339(ofMilliseconds milliseconds: UInt64) -> String {
    utcText(Int(milliseconds / 1000), "-", ":") + ".\(padded(Int(milliseconds % 1000), 3))Z"
  }

  /// Formats seconds since 1970 by RFC 3339, as `2026-11-21T17:43:45Z`.
  package static func rfc3339(ofSeconds seconds: Int) -> String { utcText(seconds, "-", ":") + "Z" }

  /// Formats seconds since 1970 for file names, as `20261121T174345Z`.
  package static func fileName(ofSeconds seconds: Int) -> String { utcText(seconds, "", "") + "Z" }

  /// Reads a time as `20261121T174345Z`, in seconds since 1970; nil for any other text.
  package static func seconds(ofFileName text: String) -> Int? {
    let octets = Array(text.utf8)
    guard octets.count == 16, octets[8] == UInt8(ascii: "T"), octets[15] == UInt8(ascii: "Z") else {
      return nil
    }
    func number(_ places: Range<Int>) -> Int? {
      let digits = octets[places]
      guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      return digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
    guard let year = number(0..<4), let month = number(4..<6), let day = number(6..<8),
      let hour = number(9..<11), let minute = number(11..<13), let second = number(13..<15),
      (1...12).contains(month), hour < 24, minute < 60, second < 60
    else { return nil }
    var parts = unsafe tm()
    unsafe parts.tm_year = Int32(year - 1900)
    unsafe parts.tm_mon = Int32(month - 1)
    unsafe parts.tm_mday = Int32(day)
    let days = unsafe timegm(&parts)
    // A day such as 31 February is another day now.
    guard unsafe parts.tm_mday == Int32(day) else { return nil }
    return days + hour * 3600 + minute * 60 + second
  }

  private static func utcText(_ seconds: Int, _ dash: String, _ colon: String) -> String {
    var time = time_t(seconds)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    let date = unsafe [Int(parts.tm_mon) + 1, Int(parts.tm_mday)].map { padded($0, 2) }
    let year = unsafe padded(Int(parts.tm_year) + 1900, 4)
    return unsafe ([year] + date).joined(separator: dash) + "T" + timeOfDay(of: parts, colon)
  }

  static func timeOfDay(of parts: tm, _ colon: String) -> String {
    unsafe [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded(Int($0), 2) }
      .joined(separator: colon)
  }

  static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
