import NavigationCore
import RuntimePaths

/// A configuration with the origin of each value.
package struct LoadedConfiguration: Hashable, Sendable {
  package var configuration: Configuration
  /// The origins by "SECTION.NAME": one for each line that contributes to the value.
  var origins: [Text: [ConfigurationOrigin]]
  /// The variables in navd's sections that an orchestrator of containers made for a service.
  var ignored: [String] = []

  /// The origins of a key's value, at least one.
  func origins(of section: String, _ name: String) -> [ConfigurationOrigin] {
    origins[Text("\(section).\(name)")] ?? [.initial]
  }

  /// The text of `navd --print-config`: all keys with their values, and their origins as comments,
  /// in the form of a configuration file.
  func text(_ rules: PathRules) -> String {
    var lines: [(setting: String, origin: ConfigurationOrigin?)] = []
    for section in ConfigurationKey.sections {
      if !lines.isEmpty { lines.append(("", nil)) }
      lines.append(("[\(section)]", nil))
      for key in ConfigurationKey.all where key.section == section {
        lines += settings(of: key, rules).map { ($0, $1) }
      }
      if section == ConfigurationKey.classesSection {
        for declared in configuration.classes {
          let setting = "\(declared.name) = \(declared.base.rawValue)"
          lines.append((setting, origins(of: section, declared.name).last))
        }
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
    var elements: [OpaqueJSON] = []
    for key in ConfigurationKey.all {
      for (setting, origin) in settings(of: key, rules) {
        let value = setting.split(separator: "=", maxSplits: 1).dropFirst().first ?? ""
        elements.append(
          .object([
            "key": .string("\(key.section).\(key.name)"),
            "value": .string(String(value.drop { $0 == " " })),
            "origin": .string((origin ?? .initial).description),
          ]))
      }
    }
    for declared in configuration.classes {
      let origin = origins(of: ConfigurationKey.classesSection, declared.name).last
      elements.append(
        .object([
          "key": .string("\(ConfigurationKey.classesSection).\(declared.name)"),
          "value": .string(declared.base.rawValue),
          "origin": .string((origin ?? .initial).description),
        ]))
    }
    return OpaqueJSON.array(elements).bytes
  }

  private func settings(
    of key: ConfigurationKey, _ rules: PathRules
  ) -> [(setting: String, origin: ConfigurationOrigin?)] {
    let origins = origins(of: key.section, key.name)
    let stated = key.values(in: configuration)
    // An empty value leaves the choice to a rule, even if a line sets the empty value.
    let isOpen = stated.allSatisfy(\.isEmpty)
    let values = isOpen ? [key.value(by: rules) ?? ""] : stated
    if isOpen, values != [""] { return [("\(key.name) = \(values[0])", .initial)] }
    return values.enumerated().map { index, value in
      let setting = value.isEmpty ? "\(key.name) =" : "\(key.name) = \(value)"
      return (setting, index < origins.count ? origins[index] : origins.last)
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
