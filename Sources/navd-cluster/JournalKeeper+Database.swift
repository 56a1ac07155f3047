import Journal
import NavigationCore
import NavigationDaemon
import NavigationHub
import PostgresJournal

extension JournalKeeper {
  /// Keeps the journal in the database that `[cluster] database` names.
  ///
  /// The declaration is not in main.swift, because code there is isolated to the main actor.
  static let database = JournalKeeper(
    program: "navd-cluster", qualify: checkPostgresServer,
    configurationFault: { loaded in
      let cluster = loaded.configuration.cluster
      guard cluster.database != nil else {
        return loaded.refusal(
          "cluster", "database", "is empty: navd-cluster keeps its journal in a database")
      }
      guard loaded.configuration.daemon.durability == .sync else {
        return loaded.refusal(
          "daemon", "durability",
          "is relaxed: a cluster confirms what its server has stored")
      }
      do throws(JournalError) {
        _ = try postgresPlace(
          loaded.configuration, ClusterMember(name: "", endpoint: "", leaseLeft: 0)
        ) { _ in }
        return nil
      } catch {
        return loaded.refusal("cluster", "database", error.description)
      }
    },
    optionRefusal: { option in
      option == "restore"
        ? DaemonError(
          "navd-cluster restores nothing: recover the database server to a point in time, or "
            + "restore a dump", .usage)
        : DaemonError(
          "navd-cluster has no journal in a directory: it brings the tables in the schema navd to "
            + "its version when it starts; back the database up before with pg_dump", .usage)
    },
    makeClusterPlace: { configuration, member, warn throws(JournalError) in
      try postgresPlace(configuration, member, warn)
    })

  private static func postgresPlace(
    _ configuration: Configuration, _ member: ClusterMember,
    _ warn: @escaping @Sendable (String) -> Void
  ) throws(JournalError) -> any ClusterPlace {
    try PostgresPlace(
      conninfo: configuration.cluster.database ?? "", member: member,
      lease: configuration.cluster.leaseMilliseconds, warn: warn)
  }
}
