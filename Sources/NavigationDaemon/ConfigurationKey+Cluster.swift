extension ConfigurationKey {
  /// The keys of section `[cluster]`.
  static let clusterKeys: [ConfigurationKey] = [
    ConfigurationKey(
      section: "cluster", name: "database", value: .text(database),
      documentation: "The PostgreSQL database with the journal, for navd-cluster. One of the "
        + "daemons that name it serves, the others wait to take over; see docs/cluster.md.",
      change: .atStart),
    ConfigurationKey(
      section: "cluster", name: "member", value: .text(member),
      documentation: "The name of this daemon in the cluster, which no other daemon has.",
      change: .atStart),
    ConfigurationKey(
      section: "cluster", name: "lease",
      value: .number(\.cluster.leaseMilliseconds, .milliseconds, 1000...60_000),
      documentation: "How long after the last sign of life of a daemon another one takes over.",
      change: .atStart),
  ]

  private static let database = TextValue(
    expected: "a connection string of libpq without a password, or empty",
    store: { configuration, text in
      // navd-cluster has libpq check the rest.
      guard text.isEmpty || text.contains("=") || text.contains("://") else { return "" }
      configuration.cluster.database = text.isEmpty ? nil : text
      return nil
    }, show: { $0.cluster.database ?? "" })

  private static let member = TextValue(
    expected: "a name of up to 64 letters, digits and - . _, or empty for the host name",
    store: { configuration, text in
      let isName =
        text.utf8.count <= 64
        && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
      guard isName else { return "" }
      configuration.cluster.member = text.isEmpty ? nil : text
      return nil
    }, show: { $0.cluster.member ?? "" })
}
