package import RuntimePaths

/// A configuration, and where each of its values comes from.
package struct LoadedConfiguration: Hashable, Sendable {
  /// The values.
  package var configuration: Configuration
  /// By "SECTION.NAME", one for each line that the value is made of.
  var origins: [String: [ConfigurationOrigin]]

  /// Where the lines come from that a key's value is made of, at least one.
  package func origins(of section: String, _ name: String) -> [ConfigurationOrigin] {
    origins["\(section).\(name)"] ?? [.initial]
  }

  /// Every key with its value and its origin, as a file that means the same.
  ///
  /// - Parameter rules: they decide a place that is not configured.
  /// - Returns: the lines, each with its newline.
  package func text(_ rules: PathRules) -> String {
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

  private func settings(
    of key: ConfigurationKey, _ rules: PathRules
  ) -> [(setting: String, origin: ConfigurationOrigin?)] {
    let origins = origins(of: key.section, key.name)
    let stated = key.values(in: configuration)
    // A rule decides where an empty value leaves it open, also if a line says so.
    let isOpen = stated.allSatisfy(\.isEmpty)
    let values = isOpen ? [key.value(by: rules) ?? ""] : stated
    if isOpen, values != [""] { return [("\(key.name) = \(values[0])", .initial)] }
    return values.enumerated().map { index, value in
      let setting = value.isEmpty ? "\(key.name) =" : "\(key.name) = \(value)"
      return (setting, index < origins.count ? origins[index] : origins.last)
    }
  }

  /// A path may hold a newline, which would end the remark that it stands in.
  private static func printable(_ text: String) -> String {
    String(text.map { $0.isNewline || $0 == "\0" ? "?" : $0 })
  }
}
