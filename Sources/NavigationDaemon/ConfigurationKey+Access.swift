import RuntimePaths

extension ConfigurationKey {
  static let accessKeys: [ConfigurationKey] = [
    text(
      "access", "role", lines(\.access.roles),
      "Gives a role to clients. The first line that names a client decides. An empty value removes "
        + "the lines before it."),
    text(
      "access", "grant", lines(\.access.grants),
      "Gives rights on navs to clients. All lines that name a client apply. An empty value removes "
        + "the lines before it."),
    text(
      "access", "gateways", lines(\.access.gateways),
      "Clients that speak for others, such as navd-web for pages; root and the user of the daemon "
        + "may too. A gateway can do nothing in its own name. An empty value removes the lines "
        + "before it."),
    text(
      "access", "keys", keyDirectory,
      "The directory of the keys that can connect over tcp; see navctl key."),
    text(
      "access", "secret-key", secretKey,
      "The file of the daemon's own secret key, which tcp needs. It belongs to root or the user of "
        + "navd, and only the group of navd may read root's. A credential navd.key comes first.",
      change: .atStart),
  ]

  private static let maximumLines = 4096

  private static func lines<Line: Configuration.Access.Line>(
    _ path: any WritableKeyPath<Configuration, [Line]> & Sendable
  ) -> Value {
    Value(
      expected: Line.expected,
      store: { configuration, value in
        if value.isEmpty {
          configuration[keyPath: path] = []
          return nil
        }
        guard let line = Line(value) else { return "" }
        guard configuration[keyPath: path].count < maximumLines else {
          return "at most \(maximumLines) lines"
        }
        configuration[keyPath: path].append(line)
        return nil
      }, show: { $0[keyPath: path].map(\.text).joined(separator: ", ") },
      list: { $0[keyPath: path].map(\.text) })
  }

  private static let keyDirectory = Value(
    expected: "an absolute path",
    store: { configuration, text in
      guard text.hasPrefix("/") else { return "" }
      configuration.access.keyDirectory = text
      return nil
    }, show: { $0.access.keyDirectory })

  private static let secretKey = Value.path(
    \.access.secretKeyFile,
    "an absolute path, or empty for the credential navd.key of the service manager",
    valueIfEmpty: { rules in rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd.key" } })
}
