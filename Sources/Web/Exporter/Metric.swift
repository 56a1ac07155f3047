import NavigationCore

/// One metric: its name, its help text, and the function that reads it from the statistics.
struct Metric: Sendable {
  /// The type of a metric in the sense of Prometheus.
  enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  /// The function that reads the metric, by the shape of its result.
  enum Value: Sendable {
    case number(@Sendable (DaemonStatistics) -> Double)
    /// A number for each value of a label; `always` lists the label values that appear even with 0.
    case byLabel(
      String, always: [String], @Sendable (DaemonStatistics) -> [String: UInt64])
    /// A histogram; its values divided by `scale` are in the unit of the metric.
    case histogram(scale: Double, @Sendable (DaemonStatistics) -> Histogram?)
    /// The constant 1 with labels that contain text.
    case information(@Sendable (DaemonStatistics) -> [(label: String, value: String)])
  }

  /// The name in Prometheus, such as `navd_navs`.
  let name: String
  let kind: Kind
  /// The text of the `# HELP` line: one sentence without a full stop.
  let help: String
  let value: Value

  private init(_ name: String, _ kind: Kind, _ help: String, _ value: Value) {
    self.name = name
    self.kind = kind
    self.help = help
    self.value = value
  }

  private static func counter(
    _ name: String, _ help: String, _ read: @escaping @Sendable (DaemonStatistics) -> UInt64
  ) -> Metric {
    Metric(name, .counter, help, .number { Double(read($0)) })
  }

  private static func gauge(
    _ name: String, _ help: String, _ read: @escaping @Sendable (DaemonStatistics) -> UInt64
  ) -> Metric {
    Metric(name, .gauge, help, .number { Double(read($0)) })
  }

  /// All metrics, in the order of the page.
  static let all: [Metric] = state + storage + work + times

  private static let state = [
    Metric(
      "navd_build_info", .gauge, "The versions of the daemon and of libzmq, as labels of a 1",
      .information { [("server", $0.server), ("libzmq", $0.libzmq)] }),
    Metric(
      "navd_uptime_seconds", .gauge, "Time since the daemon started",
      .number { Double($0.uptime) / 1000 }),
    gauge("navd_serving", "Whether the daemon accepts sessions") { $0.isServing == false ? 0 : 1 },
    gauge("navd_navs", "Navs that exist") { $0.navs },
    gauge("navd_navs_loaded", "Navs in memory; the others are in the journal only") {
      $0.loadedNavs
    },
    gauge("navd_connections", "Open connections of clients") { $0.connections },
    gauge("navd_connections_limit", "Connections at which the daemon accepts no more") {
      $0.connectionLimit
    },
    Metric(
      "navd_principal_connections", .gauge, "Connections of the users and keys with the most",
      .byLabel("principal", always: []) { statistics in
        Dictionary(
          statistics.principals.map { ($0.principal, $0.count) }, uniquingKeysWith: { $0 + $1 })
      }),
    gauge("navd_principal_connections_max", "Connections of the user or key with the most") {
      $0.principals.first?.count ?? 0
    },
    gauge(
      "navd_principal_connections_limit",
      "Connections of one user or key at which the daemon accepts no more of it"
    ) {
      $0.principalLimit
    },
    counter(
      "navd_connection_differences_total",
      "Connections whose count was wrong for more than 2 s: counted and not open, or the reverse"
    ) {
      $0.connectionDifferences
    },
    gauge("navd_descriptors_limit", "File descriptors that the daemon can open") {
      $0.descriptorLimit
    },
    gauge("navd_sessions", "Open sessions") { $0.sessions },
    gauge(
      "navd_sessions_stalled", "Sessions without flow-control credit, to which nothing can be sent"
    ) {
      $0.stalledSessions
    },
    gauge("navd_watches", "Watches of navs") { $0.watches },
    gauge("navd_watches_behind", "Watches to which the newest revision has not been sent") {
      $0.watchesBehind
    },
    gauge("navd_watch_lag_revisions", "Sum of the revisions that each watch is behind") { $0.lag },
    gauge("navd_watch_lag_revisions_max", "Revisions that the slowest watch is behind") {
      $0.largestLag
    },
    gauge(
      "navd_remembered_clients", "Clients whose answers the daemon keeps for repeated operations"
    ) {
      $0.rememberedClients
    },
    gauge("navd_resume_bytes", "Bytes of diffs in memory for clients that reconnect") {
      $0.resumeBytes
    },
  ]

  private static let storage = [
    gauge("navd_storage_failing", "Whether the journal accepts no commits") {
      $0.storageProblem == nil ? 0 : 1
    },
    gauge("navd_journal_sequence", "Number of the newest row of the journal") {
      $0.sequence
    },
    gauge("navd_journal_bytes", "Size of the journal's file") { $0.journalBytes },
    gauge("navd_journal_wal_bytes", "Size of the journal's write-ahead log") { $0.logBytes },
    gauge("navd_journal_wal_pages", "Pages of the write-ahead log that await a checkpoint") {
      $0.logPages
    },
    gauge(
      "navd_journal_limit_bytes", "Bytes of rows at which the daemon deletes history, 0 for never"
    ) {
      $0.journalLimit
    },
    gauge("navd_cluster_shards", "Shards that the daemon serves, 0 outside of a cluster") {
      $0.cluster?.shards ?? 0
    },
    gauge("navd_cluster_members", "Daemons of the cluster that serve, 0 outside of a cluster") {
      $0.cluster?.members ?? 0
    },
    gauge(
      "navd_cluster_unowned_shards", "Shards that no daemon serves, whose navs are not available"
    ) {
      $0.cluster?.unowned ?? 0
    },
    gauge(
      "navd_backup_interval_seconds", "Time between two backups of the daemon's own, 0 for none"
    ) {
      $0.backupInterval / 1000
    },
    gauge("navd_backup_overdue", "Whether a backup of the daemon's own failed, or is an hour late")
    {
      $0.isBackupOverdue ? 1 : 0
    },
    gauge(
      "navd_backup_retention_failed",
      "Whether older backups of the daemon's own could not be removed"
    ) {
      $0.hasBackupRetentionFailed ? 1 : 0
    },
    counter("navd_backups_total", "Backups that the daemon made by itself") { $0.backupsMade },
    counter("navd_backups_failed_total", "Backups of the daemon's own that failed") {
      $0.backupsFailed
    },
    gauge("navd_disk_free_bytes", "Free bytes of the journal's file system") { $0.diskFree },
    gauge("navd_disk_size_bytes", "Size of the journal's file system") { $0.diskSize },
  ]

  private static let work = [
    Metric(
      "navd_operations_total", .counter, "Operations by outcome",
      .byLabel("outcome", always: Outcome.ofOperations.map(\.word)) { $0.operations }),
    Metric(
      "navd_refusals_total", .counter, "Refused messages other than operations, by code",
      .byLabel("code", always: ErrorCode.allCases.map(\.rawValue)) { $0.refusals }),
    counter("navd_messages_received_total", "Messages from clients") { $0.received },
    counter("navd_messages_sent_total", "Messages to clients") { $0.sent },
    counter("navd_diffs_sent_total", "Revisions sent to watches, counted once for each watch") {
      $0.diffs
    },
    counter("navd_snapshots_sent_total", "Complete states sent to watches") { $0.snapshots },
    counter("navd_sessions_opened_total", "Sessions opened") { $0.opened },
    Metric(
      "navd_sessions_ended_total", .counter, "Ended sessions by reason",
      .byLabel("reason", always: SessionEndReason.allCases.map(\.rawValue)) { $0.endReasons }),
  ]

  private static let times = [
    Metric(
      "navd_commit_seconds", .histogram,
      "Time from the start of a commit until its records are durable",
      .histogram(scale: 1e9) { $0.commit }),
    Metric(
      "navd_fan_out_seconds", .histogram,
      "Time from the end of a commit until the last message about it is handed to the socket",
      .histogram(scale: 1e9) { $0.fanOut }),
    Metric(
      "navd_commit_records", .histogram, "Records in one commit",
      .histogram(scale: 1) { $0.batch }),
  ]
}
