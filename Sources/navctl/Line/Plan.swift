import CommandLineOptions
import NavigationClient
import NavigationCore

/// A plan of `navctl apply`: guards and operations, which make one revision or nothing.
///
/// A line is an operation in JSON, such as `{"pop":{}}`, or a command without the nav, such as
/// `push wifi --title Wi-Fi`. The first line can be `if` with conditions, as JSON or as options.
/// Empty lines and lines that begin with `#` are ignored.
struct OperationPlan: Sendable {
  enum Step: Sendable {
    case operation(NavigationOperation)
    /// The words of a command, of which the first is its name.
    case command([String])
  }

  /// The conditions, as the options of a command line; nil if there is no `if` line.
  private(set) var conditions: Conditions?
  private(set) var steps: [(line: Int, step: Step)] = []

  enum Conditions: Sendable {
    case words([String])
    case options([ParsedCommandLine.Occurrence])
  }

  /// The highest number of operations in one message (protocol §9).
  static let maximumOperations = 16

  /// Reads a plan; an error names the line, and the file by `name`.
  init(_ text: String, name: String) throws(UsageError) {
    var number = 0
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      number += 1
      let line = String(
        line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
      if line.isEmpty || line.hasPrefix("#") { continue }
      try UsageError.located("\(name):\(number)") { () throws(UsageError) in
        try readLine(line, number)
      }
    }
    try require(
      !steps.isEmpty, "\(name) has no operation", remedy: "a line such as: push wifi --title Wi-Fi")
  }

  private mutating func readLine(_ line: String, _ number: Int) throws(UsageError) {
    if line.hasPrefix("{") {
      let value = try ArgumentReader.object(line, what: "the line")
      if let conditions = value["if"] {
        try require(
          value.members.count == 1, "if stands alone in its line",
          remedy: #"{"if":{"top":"wifi"}}"#)
        return try setConditions(.options(try Self.options(conditions)))
      }
      steps.append((number, .operation(try NavigationOperation(typed: line))))
    } else {
      let words = try Self.words(of: line)
      if words.first == "if" { return try setConditions(.words(Array(words.dropFirst()))) }
      steps.append((number, .command(words)))
    }
    try require(
      steps.count <= Self.maximumOperations,
      "a plan has at most \(Self.maximumOperations) operations, since all of it is one message",
      remedy: "several plans, each guarded by the revision that the one before it made")
  }

  private mutating func setConditions(_ conditions: Conditions) throws(UsageError) {
    try require(
      self.conditions == nil && steps.isEmpty, "if stands once, in the first line",
      remedy: "move the conditions there")
    self.conditions = conditions
  }

  private static func options(
    _ guards: JSONValue
  ) throws(UsageError) -> [ParsedCommandLine.Occurrence] {
    let form = #"{"if":{"top":"wifi"}}"#
    try require(
      guards.kind == .object && !guards.members.isEmpty, "if needs an object with a condition",
      remedy: form)
    var options: [ParsedCommandLine.Occurrence] = []
    for (name, value) in guards.members {
      let option = name == "dig" ? "digest" : name
      switch (name, value.kind) {
      case ("any", .yes): options.append(.init(option))
      case ("top", .string), ("visible", .string), ("epoch", .string), ("dig", .string):
        options.append(.init(option, value.string))
      case ("top", .null), ("visible", .null): options.append(.init(option, ""))
      case ("rev", .integer), ("depth", .integer): options.append(.init(option, value.plainText))
      case ("stack", .array) where value.elements.allSatisfy({ $0.string?.contains(",") == false }):
        options.append(.init(option, value.elements.compactMap(\.string).joined(separator: ",")))
      case ("has", .string): options.append(.init(option, value.string))
      case ("has", .array)
      where !value.elements.isEmpty && value.elements.allSatisfy({ $0.string != nil }):
        options += value.elements.map { .init(option, $0.string) }
      default:
        throw UsageError(
          "if has no condition \(TerminalText.visible(name)) of this form",
          remedy: "one of top, rev, dig, epoch, depth, stack, has, visible, any")
      }
    }
    return options
  }

  /// Splits a line as sh(1) does, without expansion; `#` at the beginning of a word is a comment.
  static func words(of line: String) throws(UsageError) -> [String] {
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
