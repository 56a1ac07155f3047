import Journal
import NavigationDaemon
import PostgresJournal

extension JournalKeeper {
  /// Keeps the journal in the database that `[cluster] database` names.
  ///
  /// It is a file of its own, because code in main.swift is bound to the main actor.
  static let database = JournalKeeper(
    program: "navd-cluster", qualify: { Qualification.run($0) },
    fault: { loaded in
      let cluster = loaded.configuration.cluster
      guard cluster.database != nil else {
        return loaded.refusal(
          "cluster", "database", "is empty: navd-cluster keeps its journal in a database")
      }
      guard loaded.configuration.daemon.durability == .sync else {
        return loaded.refusal(
          "daemon", "durability",
          "is relaxed: in a cluster, set synchronous_commit of the server instead, which navd "
            + "requires to be on")
      }
      do throws(JournalError) {
        _ = try place(loaded.configuration) { _ in }
        return nil
      } catch {
        return loaded.refusal("cluster", "database", error.description)
      }
    },
    restoreRefusal: .notRestored(
      "navd-cluster restores nothing: recover the database server to a point in time, then run "
        + "UPDATE navd.shard SET restored = true", .usage),
    place: { configuration, warn throws(JournalError) in try place(configuration, warn) })

  private static func place(
    _ configuration: Configuration, _ warn: @escaping @Sendable (String) -> Void
  ) throws(JournalError) -> any JournalPlace {
    try PostgresPlace(
      conninfo: configuration.cluster.database ?? "", owner: configuration.cluster.memberName,
      lease: UInt64(configuration.cluster.leaseMilliseconds), warn: warn)
  }
}
