import CommandLineOptions
import NavigationCore
import NavigationHub
import RuntimePaths

/// Formats numbers with their units in at most nine columns.
enum Figures {
  /// A count with commas; from 10,000,000 in thousands (k), from 10,000,000,000 in millions (M).
  static func count(_ number: UInt64) -> String {
    switch number {
    case 10_000_000_000...: "\(NumberText.grouped(number / 1_000_000))M"
    case 10_000_000...: "\(NumberText.grouped(number / 1000))k"
    default: NumberText.grouped(number)
    }
  }

  /// A count with its noun: "1 session", "12,000 sessions".
  static func counted(_ number: UInt64, _ noun: String) -> String {
    NavigationHub.counted(number, noun, figures: count(number))
  }

  static func rate(_ number: Double) -> String {
    number >= 1000 ? count(UInt64(number.rounded())) : NumberText.decimal(number, digits: 1)
  }

  static func bytes(_ number: UInt64) -> String { NumberText.bytes(Double(number)) }

  static func time(nanoseconds: Double) -> String {
    switch nanoseconds {
    case ..<999_500: "\(NumberText.decimal(nanoseconds / 1e3, digits: 0)) µs"
    case ..<99_950_000: "\(NumberText.decimal(nanoseconds / 1e6, digits: 1)) ms"
    case ..<999_500_000: "\(NumberText.decimal(nanoseconds / 1e6, digits: 0)) ms"
    default: "\(NumberText.decimal(nanoseconds / 1e9, digits: 1)) s"
    }
  }

  /// An age in its two greatest units, such as "3h 12m".
  static func age(milliseconds: UInt64) -> String {
    let seconds = milliseconds / 1000
    switch seconds {
    case ..<60: return "\(seconds)s"
    case ..<3600: return "\(seconds / 60)m \(seconds % 60)s"
    case ..<86_400: return "\(seconds / 3600)h \(seconds / 60 % 60)m"
    default: return "\(seconds / 86_400)d \(seconds / 3600 % 24)h"
    }
  }
}
