/// A time in UTC, in the form of file names and of the log.
package enum Timestamp {
  /// Formats milliseconds since 1970 by RFC 3339, as `2026-11-21T17:43:45.120Z`.
  package static func rfc3339(ofMilliseconds milliseconds: UInt64) -> String {
    text(Int(milliseconds / 1000), "-", ":") + ".\(padded(Int(milliseconds % 1000), 3))Z"
  }

  /// Formats seconds since 1970 by RFC 3339, as `2026-11-21T17:43:45Z`.
  package static func rfc3339(ofSeconds seconds: Int) -> String { text(seconds, "-", ":") + "Z" }

  /// Formats seconds since 1970 for file names, as `20261121T174345Z`.
  package static func text(ofSeconds seconds: Int) -> String { text(seconds, "", "") + "Z" }

  /// Reads seconds since 1970 from the form of file names; nil for any other text.
  package static func seconds(of text: String) -> Int? {
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
    let days = days(year, month, day)
    // A day such as 31 February is another day when it is written.
    guard date(ofDays: days) == (year, month, day) else { return nil }
    return days * 86_400 + hour * 3600 + minute * 60 + second
  }

  /// The days from 1 January 1970 to a Gregorian date.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func text(_ seconds: Int, _ dash: String, _ colon: String) -> String {
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let (year, month, day) = date(ofDays: days)
    let time = seconds - days * 86_400
    return padded(year, 4) + dash + padded(month, 2) + dash + padded(day, 2) + "T"
      + padded(time / 3600, 2) + colon + padded(time / 60 % 60, 2) + colon + padded(time % 60, 2)
  }

  /// Returns the Gregorian date that is `days` days after 1 January 1970.
  private static func date(ofDays days: Int) -> (year: Int, month: Int, day: Int) {
    // The years begin in March, so that the leap day is the last day. Each era has 400 years.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
