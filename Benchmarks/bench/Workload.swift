/// A workload: the calls of the load generator, and the metrics that count.
struct Workload {
  /// The way in which a workload runs.
  enum Kind {
    /// One, two and four daemons of a cluster, each with a client, perform this many operations in
    /// all; the results are processor times of an operation. 64 are in flight, at each daemon or
    /// altogether.
    case members(isEach: Bool, operations: Int)
    /// The load generator drives a server.
    case load(arguments: [String])
    /// Two variants of the load in turn, on a server each; the result is the cost of the second
    /// divided by the cost of the first.
    case pair(first: [String], second: [String])
    /// Measures the writer's rate beside no watcher, a reading watcher, and a stopped one.
    case stalled(arguments: [String])
    /// Compares the cost of deliveries to one connection with 1,000 watches and to 1,000
    /// connections with one watch each.
    case many(arguments: [String])
    /// Measures a process of navctl with these arguments, which prints a line or more for each of this
    /// many navs. `ENDPOINT` stands for the daemon's. `/bin/true` runs before each run.
    case command(arguments: [String], navs: Int, runs: Int)
    /// Measures the time from start to readiness after a kill, with a journal of this many navs and
    /// of operations for each nav.
    case restart(navs: Int, operations: Int, starts: Int)
    /// Measures a watch that is this many revisions behind, until a snapshot brings it up to date.
    case behind(revisions: Int)
    /// Measures the same watch, until all diffs bring it up to date.
    case replay(revisions: Int)
    /// Measures the memory of navs with 5 screens each.
    case memory(navs: Int)
    /// Measures the memory of navs with this many operations each, in use and a while after.
    case unused(navs: Int, operations: Int)
    /// Measures the operations of a client, while another one uses navs of this many operations
    /// that are not in memory.
    case paging(navs: Int, operations: Int)
    /// Measures a server without work: its memory and its wake-ups.
    case idle(seconds: Int)
  }

  /// Whether a workload runs without being named on the command line.
  enum Weight {
    case light
    /// Runs, except with `--quick`.
    case heavy
    /// Runs only if it is named.
    case named
  }

  /// The name on the command line.
  var name: String
  /// The description in the table.
  var title: String
  var kind: Kind
  /// The metric that counts, and the further metrics with rows of their own in the table.
  var metric: String
  var also: [String] = []
  /// The measured targets: navd, and the peers that can run the workload.
  var targets: [Target] = [.navd]
  var setup = Setup()
  var weight = Weight.light
  /// The maximum number of runs.
  var mostRounds = Int.max
}

/// The configuration of the servers.
struct Setup {
  /// Whether the echo peer keeps operations in memory, to send them again.
  var keepsLog = false
  /// The limits that navd needs above its defaults, by their names in its configuration.
  var limits: [String: Int] = [:]
  /// A command that runs navd.
  var wrapper: [String] = []
}

/// A measured server.
enum Target: String, CaseIterable {
  /// libzmq alone.
  case echo
  /// libzmq and SQLite.
  case sqlite
  /// Redis with a script; it syncs each write. It is omitted if it is not installed.
  case redis
  /// The navd of this repository.
  case navd
  /// navd-cluster, with its journal in a PostgreSQL server of its own.
  case cluster
  /// That server alone: pgbench inserts rows of the size of an operation, as many in a pipeline and
  /// a transaction as `window` says.
  case pgbench

  /// The targets that need no PostgreSQL.
  static let onOneMachine: [Target] = [.echo, .sqlite, .redis, .navd]

  var needsPostgres: Bool { self == .cluster || self == .pgbench }
}
