import NavigationCore
import RuntimePaths

/// A configuration with the origin of each value.
package struct LoadedConfiguration: Hashable, Sendable {
  package var configuration: Configuration
  /// The origins by "SECTION.NAME": one for each line that contributes to the value.
  var origins: [Text: [ConfigurationOrigin]]
  /// The environment variables that navd ignores, because an orchestrator of containers made them.
  var ignoredVariables: [String] = []

  /// The origins of a key's value, at least one.
  func origins(of section: String, _ name: String) -> [ConfigurationOrigin] {
    origins[Text("\(section).\(name)")] ?? [.initial]
  }

  /// The fault of a key's value, with the origin of the line with this index, or of the last line.
  package func refusal(
    _ section: String, _ name: String, _ reason: String, line: Int = .max
  ) -> ConfigurationError {
    let origins = origins(of: section, name)
    let origin = line < origins.count ? origins[line] : origins.last ?? .initial
    return origin.refusal("[\(section)] \(name): \(reason)")
  }

  /// The text of `navd --print-config`: all keys with their values, and their origins as comments,
  /// in the form of a configuration file.
  func text(_ rules: PathRules) -> String {
    var lines: [(setting: String, origin: ConfigurationOrigin?)] = []
    for section in ConfigurationKey.sections {
      if !lines.isEmpty { lines.append(("", nil)) }
      lines.append(("[\(section)]", nil))
      for key in ConfigurationKey.all where key.section == section {
        lines += values(of: key, rules).map { value, origin in
          (value.isEmpty ? "\(key.name) =" : "\(key.name) = \(value)", origin)
        }
      }
      if section == ConfigurationKey.classesSection {
        lines += classes.map { name, base, origin in ("\(name) = \(base)", origin) }
      }
    }
    let width = 40
    return lines.map { line in
      guard let origin = line.origin else { return line.setting + "\n" }
      let gap = String(repeating: " ", count: max(1, width - line.setting.count))
      return "\(line.setting)\(gap); \(Self.printable(origin.description))\n"
    }.joined()
  }

  /// All keys with their values and origins, as a JSON array of `{key,value,origin}`.
  ///
  /// A key that can be repeated has an element for each of its lines.
  func json(_ rules: PathRules) -> [UInt8] {
    let keys = ConfigurationKey.all.flatMap { key in
      values(of: key, rules).map { ("\(key.section).\(key.name)", $0, $1) }
    }
    let declared = classes.map { ("\(ConfigurationKey.classesSection).\($0)", $1, $2) }
    return OpaqueJSON.array(
      (keys + declared).map { key, value, origin in
        .object([
          "key": .string(key), "value": .string(value),
          "origin": .string((origin ?? .initial).description),
        ])
      }
    ).bytes
  }

  private var classes: [(name: String, base: String, origin: ConfigurationOrigin?)] {
    configuration.classes.map {
      ($0.name, $0.base.rawValue, origins(of: ConfigurationKey.classesSection, $0.name).last)
    }
  }

  private func values(
    of key: ConfigurationKey, _ rules: PathRules
  ) -> [(value: String, origin: ConfigurationOrigin?)] {
    let origins = origins(of: key.section, key.name)
    let stated = key.values(in: configuration)
    // An empty value leaves the choice to a rule, even if a line sets the empty value.
    if stated.allSatisfy(\.isEmpty) {
      if let value = key.value.valueIfEmpty?(rules), !value.isEmpty { return [(value, .initial)] }
      return [("", origins.first)]
    }
    return stated.enumerated().map { index, value in
      (value, index < origins.count ? origins[index] : origins.last)
    }
  }

  /// The name of an origin without newlines, which a path can contain and which would end a
  /// comment.
  private static func printable(_ text: String) -> String {
    String(text.map { $0.isNewline || $0 == "\0" ? "?" : $0 })
  }
}

/// The origin of a value; a later case takes precedence over an earlier one.
enum ConfigurationOrigin: Hashable, Sendable, CustomStringConvertible {
  /// The default.
  case initial
  /// A line of a file, from 1; the last of several files takes precedence.
  case file(String, line: Int)
  case variable(String)
  /// A command-line option, with its dashes.
  case option(String)

  /// The origin as text: "default", "FILE:LINE", "NAVD_LOG_LEVEL" or "--state".
  var description: String {
    switch self {
    case .initial: "default"
    case .file(let file, let line): "\(file):\(line)"
    case .variable(let name), .option(let name): name
    }
  }

  /// Makes the fault for a refused value of this origin.
  func refusal(_ message: String) -> ConfigurationError {
    switch self {
    case .file(let file, let line): ConfigurationError(file: file, line: line, message: message)
    case .initial, .variable, .option:
      ConfigurationError(file: description, line: nil, message: message)
    }
  }
}
