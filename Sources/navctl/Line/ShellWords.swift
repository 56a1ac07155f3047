import NavigationCore

/// The words of a line, as a shell splits them.
enum ShellWords {
  /// Splits a line at spaces and tabs; quotes and backslashes work as in sh(1), nothing is expanded.
  ///
  /// `#` at the beginning of a word begins a comment. A quote that is not closed is an error.
  static func split(_ line: String) throws(UsageError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in line {
      if isEscaped {
        // In double quotes a backslash stays before what it does not protect.
        if quote == "\"", !["\"", "\\", "$", "`"].contains(character) { word?.append("\\") }
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if let open = quote {
        if character == open { quote = nil } else { word?.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character == " " || character == "\t" {
        if let whole = word { words.append(whole) }
        word = nil
      } else if character == "#", word == nil {
        break
      } else {
        word = (word ?? "") + String(character)
      }
    }
    try require(quote == nil && !isEscaped, "a quote is not closed: \(TerminalText.visible(line))")
    return words + (word.map { [$0] } ?? [])
  }
}
