extension Workload {
  /// All workloads; the quick ones take about a fifth of the time and are less exact.
  static func all(isQuick: Bool) -> [Workload] {
    let scale = isQuick ? 5 : 1
    return writing(scale) + windows(scale) + fanOut(scale) + ratios(scale) + processes(scale)
      + states(scale)
  }

  /// What windows the throughput is measured at.
  static let windowSizes = [1, 4, 16, 64, 256]

  private static func load(
    _ name: String, _ title: String, _ settings: String, operations: Int, metric: String
  ) -> Workload {
    let arguments = words(settings) + ["ops=\(operations)"]
    return Workload(
      name: name, title: title, kind: .load(arguments: arguments), metric: metric,
      targets: Target.allCases)
  }

  private static func pair(
    _ name: String, _ title: String, _ common: String, _ first: String, _ second: String
  ) -> Workload {
    Workload(
      name: name, title: title,
      kind: .pair(first: words(common + " " + first), second: words(common + " " + second)),
      metric: "cost_ratio")
  }

  private static func words(_ text: String) -> [String] {
    text.split(separator: " ").map(String.init)
  }

  private static func writing(_ scale: Int) -> [Workload] {
    var relaxed = load(
      "w1-relaxed", "one operation at a time, stored later", "warm=200 seconds=3",
      operations: 20_000 / scale, metric: "ops_s")
    relaxed.setup.isRelaxed = true
    relaxed.targets = [.echo, .redis, .navd]
    return [
      load(
        "w1", "one durable operation at a time", "warm=200 seconds=3", operations: 6000 / scale,
        metric: "ops_s"),
      relaxed,
      load(
        "w2a", "one connection, 64 in flight, 16 navs", "window=64 navs=16 warm=4000 seconds=3",
        operations: 80_000 / scale, metric: "ops_s"),
      load(
        "w2b", "four processes, each 64 in flight, 16 navs",
        "processes=4 window=64 navs=16 warm=2000 seconds=3", operations: 40_000 / scale,
        metric: "ops_s"),
    ]
  }

  private static func windows(_ scale: Int) -> [Workload] {
    windowSizes.map { size in
      var workload = load(
        "window\(size)", "one connection, \(size) in flight, 16 navs",
        "window=\(size) navs=16 warm=\(40 * size) seconds=2",
        operations: max(6000, 1200 * size) / scale,
        metric: "ops_s")
      workload.setup.limits = ["inflight": 256, "remembered-ops": 256]
      workload.weight = .heavy
      return workload
    }
  }

  private static func fanOut(_ scale: Int) -> [Workload] {
    var all = [
      load(
        "fan1-rate", "1 watcher, 1000 operations a second", "watchers=1 rate=1000 warm=50",
        operations: 1500 / scale, metric: "last_p50_us"),
      load(
        "fan1", "1 watcher, 64 in flight", "watchers=1 window=64 warm=500",
        operations: 20_000 / scale, metric: "deliveries_s"),
      load(
        "fan100-rate", "100 watchers, 200 operations a second", "watchers=100 rate=200 warm=20",
        operations: 400 / scale, metric: "last_p50_us"),
      load(
        "fan100", "100 watchers, 64 in flight", "watchers=100 window=64 warm=200",
        operations: 4000 / scale, metric: "deliveries_s"),
      load(
        "many", "one connection watches 1000 navs, 64 in flight",
        "watchers=1 all=1 navs=1000 window=64 warm=1000", operations: 20_000 / scale,
        metric: "deliveries_s"),
    ]
    var thousand = [
      load(
        "fan1000-rate", "1000 watchers, 20 operations a second", "watchers=1000 rate=20 warm=5",
        operations: 60 / scale, metric: "last_p50_us"),
      load(
        "fan1000", "1000 watchers, 64 in flight", "watchers=1000 window=64 warm=64",
        operations: 1000 / scale, metric: "deliveries_s"),
    ]
    for index in thousand.indices {
      thousand[index].weight = .heavy
      thousand[index].setup.limits = [
        "connections-per-principal": 2048, "remembered-clients-per-principal": 4096,
      ]
    }
    all.insert(contentsOf: thousand, at: 4)
    return all
  }

  private static func ratios(_ scale: Int) -> [Workload] {
    let common = "window=64 navs=16 warm=4000 seconds=3 ops=\(80_000 / scale)"
    let growing = "window=64 seconds=3 ops=\(80_000 / scale)"
    var stalled = pair(
      "stalled", "a watcher that stops reading for 5 s : one that reads",
      "window=64 warm=2000 seconds=5 ops=1000000", "idle-watchers=1", "idle-watchers=1 stopped=1")
    stalled.weight = .heavy
    var growth = pair(
      "growth", "10,000 navs : 1", growing, "navs=1 warm=20000", "navs=10000 warm=20000")
    growth.weight = .heavy
    var most = pair(
      "growth100k", "100,000 navs : 1", growing, "navs=1 warm=20000", "navs=100000 warm=200000")
    most.weight = .named
    return [
      // A stack holds 64 screens at most, and a push needs room for one.
      pair("depth-push", "push and pop, 64 screens : 3", common, "depth=2", "depth=63"),
      pair(
        "depth-top", "edits of the top item, 64 screens : 2", common, "edits=1 depth=2",
        "edits=1 depth=64"),
      pair(
        "depth-root", "edits of the root item, 64 screens : 2", common, "edits=2 depth=2",
        "edits=2 depth=64"),
      stalled, growth, most,
    ]
  }

  private static func processes(_ scale: Int) -> [Workload] {
    [
      Workload(
        name: "navctl", title: "navctl push, a whole process", kind: .command(runs: 40),
        metric: "p50_us"),
      Workload(
        name: "navctl-help", title: "navctl --help : true, whole processes",
        kind: .help(runs: 200 / scale), metric: "cost_ratio"),
    ]
  }

  private static func states(_ scale: Int) -> [Workload] {
    func restart(_ name: String, _ navs: Int, _ operations: Int, _ weight: Weight) -> Workload {
      Workload(
        name: name, title: "restart with \(navs) navs of \(operations + 1) operations",
        kind: .restart(navs: navs, operations: operations), metric: "ready_ms",
        targets: [.redis, .navd], weight: weight)
    }
    return [
      Workload(
        name: "behind", title: "a watch 10,000 revisions behind, until it is at the head",
        kind: .behind(revisions: 10_000), metric: "p50_us", targets: [.redis, .navd]),
      restart("restart1k", 1000, 9, .light),
      restart("restart", 10_000 / scale, 9, .light),
      restart("restart100k", 100_000, 1, .heavy),
      Workload(
        name: "memory", title: "memory of a nav of 5 screens", kind: .memory(navs: 20_000 / scale),
        metric: "bytes_per_nav", targets: [.redis, .navd]),
      Workload(
        name: "idle", title: "switches of an idle server in 10 s",
        kind: .idle(seconds: 10 / scale), metric: "switches", targets: Target.allCases),
      Workload(
        name: "idle-memory", title: "memory of an idle server", kind: .idle(seconds: 0),
        metric: "rss_kib", targets: Target.allCases),
    ]
  }
}
