/// What is measured: how the load generator is called, and which of its numbers counts.
struct Workload {
  /// How a workload is run.
  enum Kind {
    /// The load generator drives a server.
    case load(arguments: [String])
    /// The load generator drives navd twice, and the second run must not cost more; navd only.
    case pair(shallow: [String], deep: [String])
    /// A whole process pushes a screen, navd only.
    case command(runs: Int)
    /// The time from start to readiness with a journal of that many navs and operations, navd only.
    case restart(navs: Int, operations: Int)
  }

  /// The name on the command line.
  var name: String
  /// What it is, in the table.
  var title: String
  var kind: Kind
  /// The number that ratios are made of.
  var metric: String
  /// Whether less of it is better.
  var isTime = false

  /// Who is measured: the peers too, if they can do it.
  var targets: [Target] {
    if case .load = kind { Target.allCases } else { [.navd] }
  }

  /// All workloads; the quick ones take about a fifth of the time and are less exact.
  static func all(isQuick: Bool) -> [Workload] {
    let scale = isQuick ? 5 : 1
    func load(
      _ name: String, _ title: String, _ settings: String, operations: Int, metric: String,
      isTime: Bool = false
    ) -> Workload {
      let arguments =
        settings.split(separator: " ").map(String.init) + ["ops=\(operations / scale)"]
      return Workload(
        name: name, title: title, kind: .load(arguments: arguments), metric: metric, isTime: isTime)
    }
    func depth(_ name: String, _ title: String, _ settings: String, deep: Int) -> Workload {
      let common = ["window=64", "navs=16", "warm=4000", "seconds=3", "ops=\(80_000 / scale)"]
      let arguments = common + settings.split(separator: " ").map(String.init)
      return Workload(
        name: name, title: title,
        kind: .pair(shallow: arguments + ["depth=2"], deep: arguments + ["depth=\(deep)"]),
        metric: "cost_ratio", isTime: true)
    }
    return [
      load(
        "w1", "one durable operation at a time", "warm=200 seconds=3", operations: 6000,
        metric: "ops_s"),
      load(
        "w2a", "one connection, 64 in flight, 16 navs", "window=64 navs=16 warm=4000 seconds=3",
        operations: 80_000, metric: "ops_s"),
      load(
        "w2b", "four processes, each 64 in flight, 16 navs",
        "processes=4 window=64 navs=16 warm=2000 seconds=3", operations: 40_000, metric: "ops_s"),
      load(
        "fan1-rate", "1 watcher, 1000 operations a second", "watchers=1 rate=1000 warm=50",
        operations: 1500, metric: "last_p50_us", isTime: true),
      load(
        "fan1", "1 watcher, 64 in flight", "watchers=1 window=64 warm=500", operations: 20_000,
        metric: "deliveries_s"),
      load(
        "fan100-rate", "100 watchers, 200 operations a second", "watchers=100 rate=200 warm=20",
        operations: 400, metric: "last_p50_us", isTime: true),
      load(
        "fan100", "100 watchers, 64 in flight", "watchers=100 window=64 warm=200",
        operations: 4000, metric: "deliveries_s"),
      load(
        "many", "one connection watches 1000 navs, 64 in flight",
        "watchers=1 all=1 navs=1000 window=64 warm=1000", operations: 20_000,
        metric: "deliveries_s"),
      // A stack holds 64 screens at most, and a push needs room for one.
      depth("depth-push", "push and pop, 64 screens : 3", "", deep: 63),
      depth("depth-top", "edits of the top item, 64 screens : 2", "edits=1", deep: 64),
      depth("depth-root", "edits of the root item, 64 screens : 2", "edits=2", deep: 64),
      Workload(
        name: "navctl", title: "navctl push, a whole process", kind: .command(runs: 40),
        metric: "p50_us", isTime: true),
      Workload(
        name: "restart", title: "restart with \(10_000 / scale) navs of 10 operations",
        kind: .restart(navs: 10_000 / scale, operations: 9), metric: "ready_ms", isTime: true),
    ]
  }
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
