import NavigationCore

/// The general words for a back button without a title, by language tag.
///
/// They are looked up as BCP 47 does (RFC 4647, 3.4): without regard to case, from the whole tag to its
/// first subtag. A Chinese tag without a script stands for the script of its region.
enum BackTitles {
  /// The words of UIKit that navd has; every other language has the English one.
  private static let known: [Text: Text] = ["zh": "返回"]

  /// The word for a locale; `own` has words by canonical tag, which go before those of UIKit.
  static func word(for locale: String, among own: [Text: Text]) -> String {
    if own.isEmpty, locale == Environment().locale { return "Back" }
    let tags = tags(for: locale)
    let word = tags.lazy.compactMap { own[$0] }.first ?? tags.lazy.compactMap { known[$0] }.first
    return word?.string ?? "Back"
  }

  /// A tag in the form in which tags are compared: `zh-cn` for `zh_CN`, and for `zh_CN.UTF-8`.
  static func canonical(_ tag: String) -> String {
    let octets = tag.utf8.prefix { $0 != UInt8(ascii: ".") && $0 != UInt8(ascii: "@") }
    let hyphened = octets.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    return String(decoding: hyphened, as: UTF8.self).lowercased()
  }

  /// The tags under which the word of a locale can stand, the most specific first.
  private static func tags(for locale: String) -> [Text] {
    let subtags = canonical(locale).utf8.split(separator: UInt8(ascii: "-")).map {
      Text(String(decoding: $0, as: UTF8.self))
    }
    var tags = subtags.indices.reversed().map { last in
      Text(subtags[...last].map(\.string).joined(separator: "-"))
    }
    if subtags.first == "zh", subtags.dropFirst().first?.string.utf8.count != 4 {
      let isTraditional = subtags.dropFirst().contains { ["tw", "hk", "mo"].contains($0) }
      tags.insert(isTraditional ? "zh-hant" : "zh-hans", at: max(1, tags.count - 1))
    }
    return tags
  }
}
