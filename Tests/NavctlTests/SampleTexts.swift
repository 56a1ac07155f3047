import NavigationCore

/// Texts as people write them: narrow, wide, of several scalars, and of other clients' malice.
struct SampleTexts {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  static let narrow = ["a", "Z", "7", " ", "-", "é", "e\u{301}", "ﬁ", "ｱ", "—", "‹"]
  static let wide = ["长", "语", "한", "ア", "，", "🏠", "👩‍👩‍👧", "❤️", "👍🏽"]
  static let steering = ["\u{1B}", "\n", "\u{7F}", "\u{9B}", "\u{202E}", "\u{2066}", "\u{2028}"]

  mutating func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// A text of at most so many characters, without any that steer a terminal.
  mutating func text(atMost count: Int) -> String {
    (0..<below(count + 1)).map { _ in
      below(3) == 0 ? pick(Self.wide) : pick(Self.narrow)
    }.joined()
  }

  /// The columns of a text, counted by the lists above.
  static func columns(_ text: String) -> Int {
    text.reduce(0) { $0 + (wide.contains(String($1)) ? 2 : 1) }
  }

  /// The naive cut: characters go from the end until the rest and an ellipsis fit.
  static func cut(_ text: String, to limit: Int) -> String {
    guard columns(text) > limit else { return text }
    guard limit > 0 else { return "" }
    var rest = text
    while columns(rest) > limit - 1 { rest.removeLast() }
    return rest + "…"
  }
}

/// A text as a JSON string.
func quoted(_ text: String) -> String {
  String(decoding: JSONWriter.value { $0.string(text) }, as: UTF8.self)
}
