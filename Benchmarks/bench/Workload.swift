/// What is measured: how the load generator is called, and which of its numbers counts.
struct Workload {
  /// How a workload is run.
  enum Kind {
    /// The load generator drives a server.
    case load(arguments: [String])
    /// The load generator drives two servers, and the second run must not cost more.
    case pair(first: [String], second: [String])
    /// The writer's rate beside no watcher, one that reads, and one that has stopped.
    case stalled(arguments: [String])
    /// What the deliveries to one connection with a thousand watches cost, and those to a thousand
    /// connections with one.
    case many(arguments: [String])
    /// A whole process pushes a screen.
    case command(runs: Int)
    /// A whole process prints its help, beside one that does nothing.
    case help(runs: Int)
    /// The time from start to readiness with a journal of that many navs and operations, after the
    /// server was killed.
    case restart(navs: Int, operations: Int, starts: Int)
    /// A watch that ends so many revisions behind, until it is at the head: by a snapshot.
    case behind(revisions: Int)
    /// The same, by every diff.
    case replay(revisions: Int)
    /// What navs of 5 screens take of memory.
    case memory(navs: Int)
    /// What a server does that has nothing to do.
    case idle(seconds: Int)
  }

  /// When a workload is measured without being named.
  enum Weight {
    case light
    /// Not with `--quick`.
    case heavy
    /// Never.
    case named
  }

  /// The name on the command line.
  var name: String
  /// What it is, in the table.
  var title: String
  var kind: Kind
  /// The number that counts, and those that have rows of their own in the table.
  var metric: String
  var also: [String] = []
  /// Who is measured: the peers too, if they can do it.
  var targets: [Target] = [.navd]
  var setup = Setup()
  var weight = Weight.light
  /// How often it is measured at most.
  var mostRounds = Int.max
}

/// How servers are started.
struct Setup {
  /// Whether answers may come before what they answer is stored.
  var isRelaxed = false
  /// Whether the first peer keeps operations in memory, to send them again.
  var keepsLog = false
  /// What navd is allowed beyond its defaults: names of its configuration and numbers.
  var limits: [String: Int] = [:]
  /// A command that runs navd.
  var wrapper: [String] = []
}

/// A server that is measured.
enum Target: String, CaseIterable {
  /// libzmq alone.
  case echo
  /// libzmq and SQLite.
  case sqlite
  /// Redis with a script, synced before each answer; left out where it is not installed.
  case redis
  /// What this repository makes.
  case navd
}
