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

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
