/// A place in one line of a script.
struct ScriptCursor {
  let text: [Character]
  var position = 0

  struct Unreadable: Error { var text: String }

  init(_ text: some StringProtocol) { self.text = Array(text) }

  var isAtEnd: Bool {
    var copy = self
    copy.skipSpaces()
    return copy.position == text.count
  }

  /// What follows, without spaces at both ends.
  mutating func rest() -> String {
    skipSpaces()
    defer { position = text.count }
    return String(text[position...])
  }

  mutating func skipSpaces() {
    while position < text.count, text[position] == " " { position += 1 }
  }

  /// The next character that is not a space.
  var next: Character? {
    var copy = self
    copy.skipSpaces()
    return copy.position < text.count ? text[copy.position] : nil
  }

  /// A run of characters without a space.
  mutating func word() throws(Unreadable) -> String {
    skipSpaces()
    let start = position
    while position < text.count, text[position] != " " { position += 1 }
    guard position > start else { throw Unreadable(text: "a word is missing") }
    return String(text[start..<position])
  }

  /// The next word, if it is this one.
  mutating func take(_ wanted: String) -> Bool {
    var copy = self
    guard let found = try? copy.word(), found == wanted else { return false }
    self = copy
    return true
  }

  /// A JSON value with placeholders: everything up to the end of its brackets or its word.
  mutating func json() throws(Unreadable) -> String {
    skipSpaces()
    let start = position
    var depth = 0
    var isQuoted = false
    while position < text.count {
      let character = text[position]
      if isQuoted {
        if character == "\\" { position += 1 } else if character == "\"" { isQuoted = false }
      } else if character == "\"" {
        isQuoted = true
      } else if "{[".contains(character) {
        depth += 1
      } else if "}]".contains(character) {
        depth -= 1
      } else if character == " ", depth == 0 {
        break
      }
      position += 1
    }
    guard position > start, depth == 0, !isQuoted else {
      throw Unreadable(text: "a JSON value is missing or not closed")
    }
    return String(text[start..<min(position, text.count)])
  }

  /// A list in brackets, split at the commas outside parentheses; `A1...A9` is a range.
  mutating func list() throws(Unreadable) -> [String] {
    guard next == "[" else { throw Unreadable(text: "a list in brackets is missing") }
    let inner = try json().dropFirst().dropLast()
    var names: [String] = []
    var current = ""
    var depth = 0
    for character in inner {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if character == ",", depth == 0 {
        names.append(current)
        current = ""
      } else if character != " " {
        current.append(character)
      }
    }
    if !current.isEmpty || !names.isEmpty { names.append(current) }
    var expanded: [String] = []
    for name in names { expanded += try Self.expand(name) }
    return expanded
  }

  private static func expand(_ name: String) throws(Unreadable) -> [String] {
    guard !name.isEmpty else { throw Unreadable(text: "an empty name in a list") }
    guard let dots = name.firstRange(of: "...") else { return [name] }
    let from = name[..<dots.lowerBound], to = name[dots.upperBound...]
    let prefix = from.prefix { !$0.isNumber }
    guard to.hasPrefix(prefix), let first = Int(from.dropFirst(prefix.count)),
      let last = Int(to.dropFirst(prefix.count)), first <= last
    else { throw Unreadable(text: "\(name) is not a range") }
    return (first...last).map { "\(prefix)\($0)" }
  }
}
