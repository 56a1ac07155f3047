import RuntimePaths

extension ConfigurationKey {
  /// The keys of section `[access]`.
  static let accessKeys: [ConfigurationKey] = [
    ConfigurationKey(
      section: "access", name: "role", value: .text(roles),
      documentation: "Who has which role: the first line that names a peer decides. Empty forgets "
        + "them."),
    ConfigurationKey(
      section: "access", name: "grant", value: .text(grants),
      documentation: "Who may do what on which navs: all lines that name a peer count. Empty "
        + "forgets them."),
    ConfigurationKey(
      section: "access", name: "keys", value: .text(keyDirectory),
      documentation: "The directory of the keys that may connect over tcp, see navctl key."),
    ConfigurationKey(
      section: "access", name: "secret-key", value: .text(secretKey),
      documentation: "The file of the daemon's own secret key, which tcp needs.",
      change: .atStart),
  ]

  private static let maximumLines = 4096

  private static let roles = TextValue(
    expected: Configuration.Access.RoleLine.expected,
    store: { configuration, text in
      if text.isEmpty {
        configuration.access.roles = []
        return nil
      }
      guard let line = Configuration.Access.RoleLine(text) else { return "" }
      guard configuration.access.roles.count < maximumLines else {
        return "at most \(maximumLines) lines"
      }
      configuration.access.roles.append(line)
      return nil
    }, show: { $0.access.roles.map(\.text).joined(separator: ", ") },
    list: { $0.access.roles.map(\.text) })

  private static let grants = TextValue(
    expected: Configuration.Access.GrantLine.expected,
    store: { configuration, text in
      if text.isEmpty {
        configuration.access.grants = []
        return nil
      }
      guard let line = Configuration.Access.GrantLine(text) else { return "" }
      guard configuration.access.grants.count < maximumLines else {
        return "at most \(maximumLines) lines"
      }
      configuration.access.grants.append(line)
      return nil
    }, show: { $0.access.grants.map(\.text).joined(separator: ", ") },
    list: { $0.access.grants.map(\.text) })

  private static let keyDirectory = TextValue(
    expected: "an absolute path",
    store: { configuration, text in
      guard text.hasPrefix("/") else { return "" }
      configuration.access.keyDirectory = text
      return nil
    }, show: { $0.access.keyDirectory })

  private static let secretKey = TextValue(
    expected: "an absolute path, or empty for the credential navd.key of the service manager",
    store: { configuration, text in
      guard text.isEmpty || text.hasPrefix("/") else { return "" }
      configuration.access.secretKeyFile = text.isEmpty ? nil : text
      return nil
    }, show: { $0.access.secretKeyFile ?? "" })
}
