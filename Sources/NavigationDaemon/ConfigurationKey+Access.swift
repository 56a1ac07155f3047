import RuntimePaths

extension ConfigurationKey {
  static let accessKeys: [ConfigurationKey] = [
    text(
      "access", "role", roles,
      "Gives a role to clients. The first line that names a client decides. An empty value removes "
        + "the lines before it."),
    text(
      "access", "grant", grants,
      "Gives rights on navs to clients. All lines that name a client apply. An empty value removes "
        + "the lines before it."),
    text(
      "access", "gateways", gateways,
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

  private static let roles = lines(
    Configuration.Access.RoleLine.expected, \.access.roles, \.text
  ) { Configuration.Access.RoleLine($0) }

  private static let grants = lines(
    Configuration.Access.GrantLine.expected, \.access.grants, \.text
  ) { Configuration.Access.GrantLine($0) }

  private static let gateways = lines(
    Configuration.Access.GatewayLine.expected, \.access.gateways, \.text
  ) { Configuration.Access.GatewayLine($0) }

  /// A value for a key that can be repeated: each line adds to the list, an empty one clears it.
  private static func lines<Line>(
    _ expected: String, _ path: any WritableKeyPath<Configuration, [Line]> & Sendable,
    _ text: any KeyPath<Line, String> & Sendable, read: @escaping @Sendable (String) -> Line?
  ) -> TextValue {
    TextValue(
      expected: expected,
      store: { configuration, value in
        if value.isEmpty {
          configuration[keyPath: path] = []
          return nil
        }
        guard let line = read(value) else { return "" }
        guard configuration[keyPath: path].count < maximumLines else {
          return "at most \(maximumLines) lines"
        }
        configuration[keyPath: path].append(line)
        return nil
      }, show: { $0[keyPath: path].map { $0[keyPath: text] }.joined(separator: ", ") },
      list: { $0[keyPath: path].map { $0[keyPath: text] } })
  }

  private static let keyDirectory = TextValue(
    expected: "an absolute path",
    store: { configuration, text in
      guard text.hasPrefix("/") else { return "" }
      configuration.access.keyDirectory = text
      return nil
    }, show: { $0.access.keyDirectory })

  private static let secretKey = TextValue.path(
    \.access.secretKeyFile,
    "an absolute path, or empty for the credential navd.key of the service manager",
    rule: { rules in rules.environment["CREDENTIALS_DIRECTORY"].map { $0 + "/navd.key" } })
}
