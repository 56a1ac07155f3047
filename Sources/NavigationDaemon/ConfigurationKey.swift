import NavigationCore
import RuntimePaths

/// One key of the configuration; the parser, the example file and all messages use this entry.
struct ConfigurationKey: Sendable {
  typealias NumberPath = any WritableKeyPath<Configuration, Int> & Sendable

  /// The text form of a value, and its check.
  struct Value: Sendable {
    /// The accepted form, for messages and the example file.
    var expected: String
    /// Stores a text in the configuration; returns the reason if it refuses the text, else nil.
    ///
    /// An empty reason stands for the accepted form.
    var store: @Sendable (inout Configuration, String) -> String?
    /// Writes the value of a configuration as text.
    var show: @Sendable (Configuration) -> String
    /// Writes one text for each line of a key that can be repeated; nil for any other key.
    ///
    /// Each line adds to the list, and an empty value clears it.
    var list: (@Sendable (Configuration) -> [String])?
    /// Computes the value that an empty text stands for; nil if there is no such rule.
    var valueIfEmpty: (@Sendable (PathRules) -> String?)?
    /// The key path, unit and range of a number; nil for a value of another kind.
    var number: (path: NumberPath, unit: Unit, range: ClosedRange<Int>)?
  }

  /// The time at which a value that a reload has changed takes effect.
  enum Change: Sendable {
    case atOnce
    /// Immediately, if it is not above the value at the start; navd refuses a larger one.
    case atOnceUpToStartValue
    /// At the next start; navd refuses a reload that changes it.
    case atStart
  }

  /// The name of the section without brackets.
  var section: String
  /// The name of the key, unique within its section.
  var name: String
  var value: Value
  /// One or two sentences about its effect, for the example file.
  var documentation: String
  var change = Change.atOnce

  /// Whether the key can have several lines.
  var isRepeatable: Bool { value.list != nil }

  /// The environment variable that takes precedence over all files, such as `NAVD_LIMITS_DEPTH`.
  var environmentVariable: String {
    String("NAVD_\(section)_\(name)".uppercased().map { $0 == "-" ? "_" : $0 })
  }

  /// The values that lines of a file need to give this key its value; empty for an empty list.
  func values(in configuration: Configuration) -> [String] {
    value.list?(configuration) ?? [value.show(configuration)]
  }

  /// The accepted form of the value, with its unit, range and default.
  var expectation: String {
    value.expected + (defaultText.isEmpty ? "" : "; default \(defaultText)")
  }

  /// The default as it stands in a file; empty if a rule computes it.
  var defaultText: String { value.show(Configuration()) }

  /// Checks and stores a value; returns the reason if it refuses the value, else nil.
  func store(_ text: String, in configuration: inout Configuration) -> String? {
    value.store(&configuration, text).map { $0.isEmpty ? expectation : $0 }
  }

  static func find(_ section: String, _ name: String) -> ConfigurationKey? {
    all.first { $0.section == section && $0.name == name }
  }

  /// The section whose keys are names that the administrator chooses.
  static let classesSection = "classes"

  /// The names of all sections, in the order of the example file.
  static let sections = [
    "daemon", "cluster", "access", "limits", "history", "backup", "session", "classes",
    "log",
  ]
}
