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
    var changes: [ConfigurationChange] = []
    for key in ConfigurationKey.all {
      let (before, after) = (key.values(in: self), key.values(in: other))
      guard before != after else { continue }
      changes.append(
        ConfigurationChange(
          key: "\(key.section).\(key.name)", before: before.joined(separator: ", "),
          after: after.joined(separator: ", ")))
    }
    if classes != other.classes {
      changes.append(
        ConfigurationChange(
          key: ConfigurationKey.classesSection, before: Self.text(of: classes),
          after: Self.text(of: other.classes)))
    }
    return changes
  }

  private static func text(of classes: [DeclaredClass]) -> String {
    classes.map { "\($0.name)=\($0.base.rawValue)" }.joined(separator: ", ")
  }

  /// The reason why a running daemon cannot apply another configuration; nil if it can.
  ///
  /// It names the first key that needs a restart, with both values. `first` is the configuration at
  /// the start of the daemon.
  func reasonAgainstReload(_ other: Configuration, startedWith first: Configuration) -> String? {
    for key in ConfigurationKey.all {
      let (before, after) = (key.values(in: self), key.values(in: other))
      guard before != after, key.isTooLate(from: first, to: other) else { continue }
      let old = ConfigurationChange.quoted(before.joined(separator: ", "))
      let new = ConfigurationChange.quoted(after.joined(separator: ", "))
      return "[\(key.section)] \(key.name) is \(old) and would be \(new), which needs a restart"
    }
    return nil
  }
}

extension ConfigurationKey {
  /// Whether the new value of this key needs a restart.
  fileprivate func isTooLate(from first: Configuration, to other: Configuration) -> Bool {
    switch change {
    case .atOnce: false
    case .atOnceUpToFirst:
      value.number.map { other[keyPath: $0.path] > first[keyPath: $0.path] } ?? true
    case .atStart: true
    }
  }
}
