import NavigationCore

/// One key whose value a reload changes, for the log.
struct ConfigurationChange: Hashable, Sendable {
  /// The section and the name, such as "limits.depth".
  var key: String
  var before: String
  var after: String

  /// The change as text, such as "limits.depth 64 to 32".
  var description: String { "\(key) \(Self.quoted(before)) to \(Self.quoted(after))" }

  static func quoted(_ value: String) -> String { value.isEmpty ? "(empty)" : value }
}

extension Configuration {
  /// The keys whose values differ, in the order of the example file.
  func changes(to other: Configuration) -> [ConfigurationChange] {
    var changes = changedKeys(to: other).map(\.change)
    if classes != other.classes {
      changes.append(
        ConfigurationChange(
          key: ConfigurationKey.classesSection, before: Self.text(of: classes),
          after: Self.text(of: other.classes)))
    }
    return changes
  }

  private func changedKeys(
    to other: Configuration
  ) -> [(key: ConfigurationKey, change: ConfigurationChange)] {
    ConfigurationKey.all.compactMap { key in
      let (before, after) = (key.values(in: self), key.values(in: other))
      guard before != after else { return nil }
      let change = ConfigurationChange(
        key: "\(key.section).\(key.name)", before: before.joined(separator: ", "),
        after: after.joined(separator: ", "))
      return (key, change)
    }
  }

  private static func text(of classes: [DeclaredClass]) -> String {
    classes.map { "\($0.name)=\($0.base.rawValue)" }.joined(separator: ", ")
  }

  /// The reason why a running daemon cannot apply another configuration; nil if it can.
  ///
  /// It names the first key that needs a restart, with both values. `first` is the configuration at
  /// the start of the daemon.
  func reasonAgainstReload(_ other: Configuration, startedWith first: Configuration) -> String? {
    let late = changedKeys(to: other).first { key, _ in
      switch key.change {
      case .atOnce: false
      case .atOnceUpToStartValue:
        key.value.number.map { other[keyPath: $0.path] > first[keyPath: $0.path] } ?? true
      case .atStart: true
      }
    }
    return late.map { key, change in
      "[\(key.section)] \(key.name) is \(ConfigurationChange.quoted(change.before)) and would be "
        + "\(ConfigurationChange.quoted(change.after)), which needs a restart"
    }
  }
}
