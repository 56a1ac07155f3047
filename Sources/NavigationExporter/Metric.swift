import NavigationSync

/// One metric: its name, its meaning, and how it is read off the statistics.
package struct Metric: Sendable {
  /// What a metric may do.
  package enum Kind: String, Sendable {
    /// It only grows, until the daemon starts again.
    case counter
    /// It goes up and down.
    case gauge
    /// Values counted by their size.
    case histogram
  }

  /// What it amounts to.
  enum Value: Sendable {
    case number(@Sendable (DaemonStatistics) -> Double)
    /// A number for each word of a label, and the words that are always told.
    case byLabel(
      String, always: [String], @Sendable (DaemonStatistics) -> [String: UInt64])
    /// Numbers of the statistics are divided by `scale` for the unit of the metric.
    case histogram(scale: Double, @Sendable (DaemonStatistics) -> Histogram?)
    /// A 1 that carries labels.
    case information(@Sendable (DaemonStatistics) -> [(label: String, value: String)])
  }

  /// The name.
  package let name: String
  /// What it may do.
  package let kind: Kind
  /// What it is, in one sentence without a full stop.
  package let help: String
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

  /// All metrics, in the order in which they are written.
  package static let all: [Metric] = state + storage + work + times

  private static let state = [
    Metric(
      "navd_build_info", .gauge, "The versions of the daemon and of libzmq, as labels of a 1",
      .information { [("server", $0.server), ("libzmq", $0.libzmq)] }),
    Metric(
      "navd_uptime_seconds", .gauge, "Time since the daemon started",
      .number { Double($0.uptime) / 1000 }),
    gauge("navd_serving", "Whether the daemon takes sessions") { $0.isServing == false ? 0 : 1 },
    gauge("navd_navs", "Navs that exist") { $0.navs },
    gauge("navd_connections", "Connections of clients") { $0.connections },
    gauge("navd_connections_limit", "Connections at which no more are accepted") {
      $0.connectionLimit
    },
    Metric(
      "navd_principal_connections", .gauge, "Connections of the users and keys that have the most",
      .byLabel("principal", always: []) { statistics in
        Dictionary(
          statistics.principals.map { ($0.principal, $0.count) }, uniquingKeysWith: { $0 + $1 })
      }),
    gauge("navd_principal_connections_max", "Connections of the user or key that has the most") {
      $0.principals.first?.count ?? 0
    },
    gauge(
      "navd_principal_connections_limit",
      "Connections of one user or key at which no more are accepted"
    ) {
      $0.principalLimit
    },
    counter(
      "navd_connection_differences_total",
      "Connections that were counted and not open, or open and not counted, for more than 2 s"
    ) {
      $0.connectionDifferences
    },
    gauge("navd_descriptors_limit", "Descriptors that the daemon may have") { $0.descriptorLimit },
    gauge("navd_sessions", "Sessions that are open") { $0.sessions },
    gauge("navd_sessions_stalled", "Sessions to which nothing may be sent at the moment") {
      $0.stalledSessions
    },
    gauge("navd_watches", "Watches of navs") { $0.watches },
    gauge("navd_watches_behind", "Watches that have not been sent the newest revision") {
      $0.watchesBehind
    },
    gauge("navd_watch_lag_revisions", "Revisions that all watches together are behind") { $0.lag },
    gauge("navd_watch_lag_revisions_max", "Revisions that the slowest watch is behind") {
      $0.largestLag
    },
    gauge("navd_remembered_clients", "Clients whose operations are remembered") {
      $0.rememberedClients
    },
    gauge("navd_resume_bytes", "Bytes of diffs kept for clients that come back") {
      $0.resumeBytes
    },
  ]

  private static let storage = [
    gauge("navd_storage_failing", "Whether the journal takes no commits") {
      $0.isStorageFailing ? 1 : 0
    },
    gauge("navd_journal_sequence", "The number of the newest row of the journal") {
      $0.sequence
    },
    gauge("navd_journal_bytes", "Size of the journal's file") { $0.journalBytes },
    gauge("navd_journal_wal_bytes", "Size of the file of its write-ahead log") { $0.logBytes },
    gauge("navd_journal_wal_pages", "Pages of the write-ahead log that are not put away yet") {
      $0.logPages
    },
    gauge("navd_journal_limit_bytes", "Bytes of rows at which history is shortened, 0 for never") {
      $0.journalLimit
    },
    gauge("navd_disk_free_bytes", "Free bytes of the journal's file system") { $0.diskFree },
    gauge("navd_disk_size_bytes", "All bytes of the journal's file system") { $0.diskSize },
  ]

  private static let work = [
    Metric(
      "navd_operations_total", .counter, "Operations by what became of them",
      .byLabel("outcome", always: Outcome.ofOperations.map(\.word)) { $0.operations }),
    Metric(
      "navd_refusals_total", .counter, "Messages other than operations that were refused, by code",
      .byLabel("code", always: ErrorCode.allCases.map(\.rawValue)) { $0.refusals }),
    counter("navd_messages_received_total", "Messages of clients") { $0.received },
    counter("navd_messages_sent_total", "Messages to clients") { $0.sent },
    counter("navd_diffs_sent_total", "Revisions sent to watches, each counted by watch") {
      $0.diffs
    },
    counter("navd_snapshots_sent_total", "Whole states sent to watches") { $0.snapshots },
    counter("navd_sessions_opened_total", "Sessions opened") { $0.opened },
    Metric(
      "navd_sessions_ended_total", .counter, "Sessions that ended, by reason",
      .byLabel("reason", always: SessionEndReason.allCases.map(\.rawValue)) { $0.endReasons }),
  ]

  private static let times = [
    Metric(
      "navd_commit_seconds", .histogram, "Time from handing records to the journal until durable",
      .histogram(scale: 1e9) { $0.commit }),
    Metric(
      "navd_fan_out_seconds", .histogram,
      "Time from there until the last message about them was handed to the socket",
      .histogram(scale: 1e9) { $0.fanOut }),
    Metric(
      "navd_commit_records", .histogram, "Records that one commit made durable",
      .histogram(scale: 1) { $0.batch }),
  ]
}
