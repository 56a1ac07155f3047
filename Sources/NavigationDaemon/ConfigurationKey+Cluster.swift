import RuntimePaths

extension ConfigurationKey {
  static let clusterKeys: [ConfigurationKey] = [
    text(
      "cluster", "database", database,
      "The PostgreSQL database with the journal, for navd-cluster. The daemons that name it divide "
        + "the navs among themselves; see docs/cluster.md.", change: .atStart),
    text(
      "cluster", "member", name(\.cluster.member, emptyStandsFor: "the host name"),
      "The name of this daemon in the cluster, which no other daemon has.", change: .atStart),
    text(
      "cluster", "host", name(\.cluster.host, emptyStandsFor: "member"),
      "The name of this machine in the names of its users, uid:N@HOST. Daemons on one machine have "
        + "the same, so that a client can follow a nav from one to the other.", change: .atStart),
    text(
      "cluster", "announce", announce,
      "The address at which clients of other daemons reach this one, if it is not the first "
        + "listen: behind a translation of addresses.", change: .atStart),
    text(
      "cluster", "web", web,
      "The address of the navd-web that serves this daemon to browsers.", change: .atStart),
    number(
      "cluster", "lease", \.cluster.leaseMilliseconds[.milliseconds], .milliseconds, 1000...60_000,
      "How long after the last sign of life of a daemon another one takes over.", change: .atStart),
  ]

  // navd-cluster has libpq check the rest.
  private static let database = Value.optional(
    \.cluster.database, "a connection string of libpq without a password, or empty"
  ) { $0.contains("=") || $0.contains("://") }

  private static let announce = Value.optional(
    \.cluster.announcedAddress,
    "an address such as tcp://192.0.2.11:7117, or empty for the first listen"
  ) { $0.hasPrefix("ipc://") || $0.hasPrefix("tcp://") }

  private static let web = Value.optional(
    \.cluster.gatewayAddress, "an address such as https://kiosk.example:7180, or empty for none"
  ) { $0.hasPrefix("http://") || $0.hasPrefix("https://") }

  /// The value of a key for the name of a daemon or machine; `other` is the name if it is empty.
  private static func name(
    _ path: any WritableKeyPath<Configuration, String?> & Sendable, emptyStandsFor other: String
  ) -> Value {
    .optional(path, "a name of up to 64 letters, digits and - . _, or empty for \(other)") {
      $0.utf8.count <= 64
        && $0.utf8.allSatisfy { $0.isLetterOrDigit || "-._".utf8.contains($0) }
    }
  }
}
