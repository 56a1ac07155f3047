import NavigationCore
import NavigationHub

/// One metric: its name, its help text, and the path of its number in the statistics.
struct Metric: Sendable {
  /// How the value at the path becomes samples.
  enum Conversion: Sendable {
    /// A number divided by `divisor`, 1 for true, or `ifMissing` for anything else.
    case number(divisor: Double = 1, ifMissing: Double = 0)
    /// 1 if there is a text.
    case textPresence
    /// A number for each value of a label; the values in `alwaysShown` appear even with 0.
    case byLabel(String, alwaysShown: [String])
    /// A histogram; its values divided by `divisor` are in the unit of the metric.
    case histogram(divisor: Double)
    /// The constant 1 with labels that contain text, each from a path of its own.
    case infoLabels([(label: String, path: String)])
  }

  /// The name in Prometheus, such as `navd_navs`.
  let name: String
  /// The path in the answer to `get stats`.
  let statisticsPath: String
  /// The text of the `# HELP` line: one sentence without a full stop.
  let help: String
  let conversion: Conversion

  private init(_ name: String, _ path: String, _ help: String, _ value: Conversion = .number()) {
    (self.name, statisticsPath, self.help, self.conversion) = (name, path, help, value)
  }

  /// The type of the metric in Prometheus.
  var prometheusType: String {
    if case .histogram = conversion { return "histogram" }
    return name.hasSuffix("_total") ? "counter" : "gauge"
  }

  static let all: [Metric] = [
    Metric(
      "navd_build_info", "", "The versions of the daemon and of libzmq, as labels of a 1",
      .infoLabels([("server", "server"), ("libzmq", "process.libzmq")])),
    Metric(
      "navd_uptime_seconds", "uptime", "Time since the daemon started", .number(divisor: 1000)),
    Metric("navd_serving", "serving", "Whether the daemon accepts sessions", .number(ifMissing: 1)),
    Metric("navd_navs", "navs", "Navs that exist"),
    Metric("navd_navs_loaded", "loadedNavs", "Navs in memory; the others are in the journal only"),
    Metric("navd_connections", "connections", "Open connections of clients"),
    Metric(
      "navd_connections_limit", "process.connectionLimit",
      "Connections at which the daemon accepts no more"),
    Metric(
      "navd_principal_connections", "principals", "Connections of the users and keys with the most",
      .byLabel("principal", alwaysShown: [])),
    Metric(
      "navd_principal_connections_max", "principals.0.connections",
      "Connections of the user or key with the most"),
    Metric(
      "navd_principal_connections_limit", "process.principalLimit",
      "Connections of one user or key at which the daemon accepts no more of it"),
    Metric(
      "navd_connection_differences_total", "connectionDifferences",
      "Connections whose count was wrong for more than 2 s: counted and not open, or the reverse"),
    Metric(
      "navd_descriptors_limit", "process.descriptorLimit",
      "File descriptors that the daemon can open"),
    Metric("navd_sessions", "sessions", "Open sessions"),
    Metric(
      "navd_sessions_stalled", "lag.stalled",
      "Sessions without flow-control credit, to which nothing can be sent"),
    Metric("navd_watches", "watches", "Watches of navs"),
    Metric(
      "navd_watches_behind", "lag.watches",
      "Watches to which the newest revision has not been sent"),
    Metric("navd_watch_lag_revisions", "lag.sum", "Sum of the revisions that each watch is behind"),
    Metric("navd_watch_lag_revisions_max", "lag.max", "Revisions that the slowest watch is behind"),
    Metric(
      "navd_remembered_clients", "rememberedClients",
      "Clients whose answers the daemon keeps for repeated operations"),
    Metric(
      "navd_resume_bytes", "resumeBytes", "Bytes of diffs in memory for clients that reconnect"),
    Metric(
      "navd_storage_failing", "storageProblem", "Whether the journal accepts no commits",
      .textPresence),
    Metric("navd_journal_sequence", "seq", "Number of the newest row of the journal"),
    Metric("navd_journal_bytes", "journal.bytes", "Size of the journal's file"),
    Metric("navd_journal_wal_bytes", "journal.walBytes", "Size of the journal's write-ahead log"),
    Metric(
      "navd_journal_wal_pages", "journal.walPages",
      "Pages of the write-ahead log that await a checkpoint"),
    Metric(
      "navd_journal_limit_bytes", "journal.limit",
      "Bytes of rows at which the daemon deletes history, 0 for never"),
    Metric(
      "navd_cluster_shards", "cluster.shards",
      "Shards that the daemon serves, 0 outside of a cluster"),
    Metric(
      "navd_cluster_members", "cluster.members",
      "Daemons of the cluster that serve, 0 outside of a cluster"),
    Metric(
      "navd_cluster_unowned_shards", "cluster.unowned",
      "Shards that no daemon serves, whose navs are not available"),
    Metric(
      "navd_backup_interval_seconds", "backups.every",
      "Time between two backups of the daemon's own, 0 for none", .number(divisor: 1000)),
    Metric(
      "navd_backup_overdue", "backups.overdue",
      "Whether a backup of the daemon's own failed, or is an hour late"),
    Metric(
      "navd_backup_retention_failed", "backups.retentionFailed",
      "Whether older backups of the daemon's own could not be removed"),
    Metric("navd_backups_total", "backups.made", "Backups that the daemon made by itself"),
    Metric(
      "navd_backups_failed_total", "backups.failed", "Backups of the daemon's own that failed"),
    Metric("navd_disk_free_bytes", "disk.free", "Free bytes of the journal's file system"),
    Metric("navd_disk_size_bytes", "disk.size", "Size of the journal's file system"),
    Metric(
      "navd_operations_total", "operations", "Operations by outcome",
      .byLabel("outcome", alwaysShown: Outcome.ofOperations.map(\.word))),
    Metric(
      "navd_refusals_total", "refusals", "Refused messages other than operations, by code",
      .byLabel("code", alwaysShown: ErrorCode.allCases.map(\.rawValue))),
    Metric("navd_messages_received_total", "messages.received", "Messages from clients"),
    Metric("navd_messages_sent_total", "messages.sent", "Messages to clients"),
    Metric(
      "navd_diffs_sent_total", "messages.diffs",
      "Revisions sent to watches, counted once for each watch"),
    Metric("navd_snapshots_sent_total", "messages.snapshots", "Complete states sent to watches"),
    Metric("navd_sessions_opened_total", "opened", "Sessions opened"),
    Metric(
      "navd_sessions_ended_total", "ended", "Ended sessions by reason",
      .byLabel("reason", alwaysShown: SessionEndReason.allCases.map(\.rawValue))),
    Metric(
      "navd_commit_seconds", "commit",
      "Time from the start of a commit until its records are durable", .histogram(divisor: 1e9)),
    Metric(
      "navd_fan_out_seconds", "fanOut",
      "Time from the end of a commit until the last message about it is handed to the socket",
      .histogram(divisor: 1e9)),
    Metric("navd_commit_records", "batch", "Records in one commit", .histogram(divisor: 1)),
  ]
}
