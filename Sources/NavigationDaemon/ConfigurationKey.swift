package import RuntimePaths

/// One key of the configuration: the parser, the example file and every message come from it.
package struct ConfigurationKey: Sendable {
  /// How a value is written, checked and stored.
  package enum Value: Sendable {
    /// A whole number in a range.
    case number(any WritableKeyPath<Configuration, Int> & Sendable, Unit, ClosedRange<Int>)
    /// Anything else: says what is expected, takes a text, and shows the value as text.
    case text(TextValue)
  }

  /// A value that is not a number.
  package struct TextValue: Sendable {
    /// What may stand there, for messages and the example file.
    package var expected: String
    /// Stores a text; returns why it is refused, `nil` when it is not.
    package var store: @Sendable (inout Configuration, String) -> String?
    /// The text that stands for the configuration's value.
    package var show: @Sendable (Configuration) -> String
    /// The value of each line, of a key that may be repeated; nil for any other.
    ///
    /// Each line adds to those before, and an empty value forgets them.
    package var list: (@Sendable (Configuration) -> [String])?
    /// What an empty value stands for; nil where it stands for nothing, or a rule does not say.
    package var rule: (@Sendable (PathRules) -> String?)?
  }

  /// When a new value counts that a reload finds.
  package enum Change: Sendable {
    /// As soon as it is read.
    case atOnce
    /// As soon as it is read unless it is above the one of the start.
    case atOnceUpToFirst
    /// At the next start; a reload that finds another one is refused.
    case atStart
  }

  /// The section's name without brackets.
  package var section: String
  /// The key's name.
  package var name: String
  /// How its value is written.
  package var value: Value
  /// What it decides, one sentence.
  package var documentation: String
  /// When a new value counts that a reload finds.
  package var change = Change.atOnce

  /// Whether it may stand several times.
  package var isRepeatable: Bool {
    if case .text(let text) = value { text.list != nil } else { false }
  }

  /// The variable of the environment that decides it before any file does.
  package var variable: String {
    String("NAVD_\(section)_\(name)".uppercased().map { $0 == "-" ? "_" : $0 })
  }

  /// The values of the lines that stand for the configuration's value; none for an empty list.
  func values(in configuration: Configuration) -> [String] {
    switch value {
    case .number(let path, let unit, _): [unit.text(of: configuration[keyPath: path])]
    case .text(let text): text.list?(configuration) ?? [text.show(configuration)]
    }
  }

  /// What may stand as this key's value, with unit, range and default.
  package var expectation: String {
    let shown = defaultText.isEmpty ? "" : "; default \(defaultText)"
    switch value {
    case .number(_, let unit, let range):
      return "\(unit.expectation(range))\(shown)"
    case .text(let text):
      return text.expected + shown
    }
  }

  /// The default as it would be written, empty where a rule decides.
  package var defaultText: String {
    switch value {
    case .number(let path, let unit, _): unit.text(of: Configuration()[keyPath: path])
    case .text(let text): text.show(Configuration())
    }
  }

  /// The value that a rule gives where none is configured; nil if there is no such rule.
  func value(by rules: PathRules) -> String? {
    guard case .text(let text) = value else { return nil }
    return text.rule?(rules)
  }

  /// Stores a value; returns why it is refused, `nil` when it is not.
  func store(_ text: String, in configuration: inout Configuration) -> String? {
    switch value {
    case .number(let path, let unit, let range):
      guard let number = unit.parse(text), range.contains(number) else { return expectation }
      configuration[keyPath: path] = number
      return nil
    case .text(let value):
      return value.store(&configuration, text).map { reason in
        reason.isEmpty ? expectation : reason
      }
    }
  }

  /// The key of a section and a name, `nil` when there is none.
  static func find(_ section: String, _ name: String) -> ConfigurationKey? {
    all.first { $0.section == section && $0.name == name }
  }

  /// The section whose keys the administrator invents.
  static let classesSection = "classes"

  /// The sections, in the order of the example file.
  package static let sections = [
    "daemon", "access", "limits", "history", "session", "classes", "log",
  ]
}
