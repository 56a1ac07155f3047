extension Workload {
  /// All workloads; with `isQuick` they take about a fifth of the time and are less exact.
  static func all(isQuick: Bool) -> [Workload] {
    let scale = isQuick ? 5 : 1
    return writing(scale) + observed(scale) + clusters(scale) + members(scale) + windows(scale)
      + fanOut(scale)
      + watches(scale)
      + sizes(scale)
      + ratios(scale) + processes(scale) + states(scale)
  }

  /// The numbers of operations in flight for the throughput series.
  static let windowSizes = [1, 4, 16, 64, 256]
  /// The numbers of watchers.
  static let watcherCounts = [1, 10, 100, 1000]
  /// The numbers of navs.
  static let navCounts = [1, 100, 10_000, 100_000]
  /// The depths of stacks; a stack has at most 64 screens, and a push needs room for one.
  static let depths = [2, 4, 8, 16, 32, 63]

  private static func load(
    _ name: String, _ title: String, _ settings: String, operations: Int, metric: String
  ) -> Workload {
    let arguments = words(settings) + ["ops=\(operations)"]
    return Workload(
      name: name, title: title, kind: .load(arguments: arguments), metric: metric,
      targets: Target.onOneMachine)
  }

  private static func pair(
    _ name: String, _ title: String, _ common: String, _ first: String, _ second: String
  ) -> Workload {
    Workload(
      name: name, title: title,
      kind: .pair(first: words(common + " " + first), second: words(common + " " + second)),
      metric: "cost_ratio", also: ["cpu_ratio"])
  }

  private static func words(_ text: String) -> [String] {
    text.split(separator: " ").map(String.init)
  }

  private static func writing(_ scale: Int) -> [Workload] {
    [
      load(
        "w1", "one durable operation at a time", "warm=200 seconds=3", operations: 6000 / scale,
        metric: "p50_us"),
      load(
        "w2a", "one connection, 64 in flight, 16 navs", "window=64 navs=16 warm=4000 seconds=3",
        operations: 80_000 / scale, metric: "ops_s"),
      load(
        "w2b", "four processes, each 64 in flight, 16 navs",
        "processes=4 window=64 navs=16 warm=2000 seconds=3", operations: 40_000 / scale,
        metric: "ops_s"),
    ]
  }

  /// `w2a` while an administrator observes: one connection of each kind, beside one run without it.
  private static func observed(_ scale: Int) -> [Workload] {
    [
      ("observed-none", "nothing", 0), ("observed-heads", "$heads", 1),
      ("observed-trace", "the messages of all clients", 2),
      ("observed-nav", "the messages about one nav", 3),
    ].map {
      name, what, kind in
      var workload = load(
        name, "one connection, 64 in flight, 16 navs; another observes \(what)",
        "window=64 navs=16 warm=4000 seconds=3 observes=\(kind)", operations: 80_000 / scale,
        metric: "ops_s")
      workload.targets = [.navd]
      return workload
    }
  }

  /// Operations with one, two and four daemons of a cluster.
  private static func members(_ scale: Int) -> [Workload] {
    [("members", true, "at each"), ("members-shared", false, "altogether")].map {
      name, isEach, place in
      var workload = Workload(
        name: name, title: "a cluster of four daemons : four alone, 64 in flight \(place)",
        kind: .members(isEach: isEach, operations: 160_000 / scale),
        metric: "cpu_ratio",
        also: [
          "four_cpu_ratio", "two_cpu_ratio", "daemon_ratio", "database_ratio", "one_cpu_us_op",
          "one_database_us_op",
        ],
        targets: [.cluster])
      workload.weight = .heavy
      return workload
    }
  }

  /// The same as `w1` and `w2a`, with the journal in PostgreSQL.
  private static func clusters(_ scale: Int) -> [Workload] {
    [
      ("cluster1", "one durable operation at a time", "window=1 navs=1 warm=200", 6000, "p50_us"),
      (
        "cluster64", "one connection, 64 in flight, 16 navs", "window=64 navs=16 warm=4000",
        80_000, "ops_s"
      ),
    ].map { name, title, settings, operations, metric in
      var workload = load(
        name, title + ", PostgreSQL", settings + " seconds=3", operations: operations / scale,
        metric: metric)
      workload.targets = [.navd, .cluster, .pgbench]
      return workload
    }
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

  /// The limits that 1,000 connections of one user need.
  private static let thousandConnections = [
    "connections-per-principal": 2048, "remembered-clients-per-principal": 4096,
  ]

  private static func fanOut(_ scale: Int) -> [Workload] {
    let rates = [1: (1000, 1500), 100: (200, 400), 1000: (20, 60)]
    let operations = [1: 20_000, 10: 10_000, 100: 4000, 1000: 1000]
    return watcherCounts.flatMap { count -> [Workload] in
      let noun = count == 1 ? "watcher" : "watchers"
      var found: [Workload] = []
      if let (rate, operations) = rates[count] {
        found.append(
          load(
            "fan\(count)-rate", "\(count) \(noun), \(rate) operations a second",
            "watchers=\(count) rate=\(rate) warm=\(max(rate / 10, 5))",
            operations: operations / scale, metric: "last_p50_us"))
      }
      var full = load(
        "fan\(count)", "\(count) \(noun), 64 in flight",
        "watchers=\(count) window=64 warm=\(max(500 / count, 64))",
        operations: operations[count, default: 1000] / scale, metric: "deliveries_s")
      full.also = ["deliveries_cpu_s"]
      found.append(full)
      if count >= 100 {
        var barred = load(
          "fan\(count)-bar", "the same, with what the bar shows",
          "watchers=\(count) window=64 warm=\(max(500 / count, 64)) bar=1",
          operations: operations[count, default: 1000] / scale, metric: "deliveries_s")
        barred.targets = [.navd]
        found.append(barred)
      }
      for index in found.indices {
        found[index].weight = count == 1 || count == 100 ? .light : .heavy
        if count >= 1000 { found[index].setup.limits = thousandConnections }
      }
      return found
    }
  }

  private static func watches(_ scale: Int) -> [Workload] {
    var many = Workload(
      name: "many", title: "one connection with 1000 watches : 1000 connections with one",
      kind: .many(arguments: words("navs=1000 window=64 ops=\(240_000 / scale)")),
      metric: "of_thousand", also: ["deliveries_cpu_s", "net_of_thousand"],
      targets: Target.onOneMachine, weight: .heavy)
    many.setup.limits = thousandConnections
    let stalled = Workload(
      name: "stalled", title: "the writer beside a watcher that has stopped for 5 s",
      kind: .stalled(arguments: words("window=64 warm=2000 seconds=5 ops=1000000")),
      metric: "of_idle", also: ["of_reading", "lost", "caught_up_ms"], weight: .heavy)
    return [many, stalled]
  }

  /// Throughput by the number of navs, and by the number of screens on a stack.
  private static func sizes(_ scale: Int) -> [Workload] {
    let navs = navCounts.map { count in
      var workload = load(
        "navs\(count)", "one connection, 64 in flight, \(count) navs",
        "navs=\(count) window=64 warm=\(max(4000, count)) seconds=2",
        operations: 80_000 / scale, metric: "ops_s")
      workload.targets = [.sqlite, .redis, .navd]
      workload.weight = count >= 100_000 ? .named : .heavy
      return workload
    }
    let depths = depths.map { depth in
      var workload = load(
        "depth\(depth)", "push and pop on \(depth) screens, 64 in flight, 16 navs",
        "depth=\(depth) window=64 navs=16 warm=4000 seconds=2", operations: 80_000 / scale,
        metric: "ops_s")
      workload.targets = [.redis, .navd]
      workload.weight = .heavy
      return workload
    }
    return navs + depths
  }

  private static func ratios(_ scale: Int) -> [Workload] {
    let common = "window=64 navs=16 warm=4000 seconds=3 ops=\(80_000 / scale)"
    let growing = "window=64 seconds=3 ops=\(80_000 / scale)"
    var growth = pair(
      "growth", "10,000 navs : 1", growing, "navs=1 warm=20000", "navs=10000 warm=20000")
    growth.weight = .heavy
    var most = pair(
      "growth100k", "100,000 navs : 1", growing, "navs=1 warm=20000", "navs=100000 warm=200000")
    most.weight = .heavy
    most.mostRounds = 3
    return [
      pair("depth-push", "push and pop, 64 screens : 3", common, "depth=2", "depth=63"),
      pair(
        "depth-top", "edits of the top item, 64 screens : 2", common, "edits=1 depth=2",
        "edits=1 depth=64"),
      pair(
        "depth-root", "edits of the root item, 64 screens : 2", common, "edits=2 depth=2",
        "edits=2 depth=64"),
      growth, most,
    ]
  }

  /// Commands of navctl as whole processes, each beside a start of `/bin/true`.
  private static func processes(_ scale: Int) -> [Workload] {
    [
      ("navctl", "navctl push", ["-e", "ENDPOINT", "push", "bench", "--title", "Wi-Fi"], 1, 40),
      ("navctl-help", "navctl --help", ["--help"], 1, 200 / scale),
      (
        "navctl-complete", "completion of a nav among 10,000",
        ["completion", "bash", "--", "-e", "ENDPOINT", "show", ""], 10_000, 200 / scale
      ),
    ].map { name, title, arguments, navs, runs in
      Workload(
        name: name, title: "\(title), a whole process",
        kind: .command(arguments: arguments, navs: navs, runs: runs), metric: "mean_us",
        also: ["p95_us", "true_mean_us", "cost_ratio"])
    }
  }

  private static func states(_ scale: Int) -> [Workload] {
    func restart(_ name: String, _ navs: Int, starts: Int, _ weight: Weight) -> Workload {
      Workload(
        name: name, title: "killed with \(navs) navs of 10 operations, and ready again",
        kind: .restart(navs: navs, operations: 10, starts: starts), metric: "ready_ms",
        targets: [.sqlite, .redis, .navd], weight: weight)
    }
    var replay = Workload(
      name: "replay", title: "a watch 10,000 revisions behind, by all of them",
      kind: .replay(revisions: 10_000), metric: "p50_us", targets: Target.onOneMachine)
    replay.setup.keepsLog = true
    replay.setup.limits = [
      "resume-revisions": 16_384, "resume-bytes": 32 << 20, "resume-total-bytes": 256 << 20,
    ]
    var most = restart("restart100k", 100_000, starts: 2, .heavy)
    most.mostRounds = 2
    var million = Workload(
      name: "million", title: "memory with 1,000,000 navs of 5 screens",
      kind: .memory(navs: 1_000_000), metric: "rss_kib", also: ["bytes_per_nav"],
      targets: [.redis, .navd], weight: .named, mostRounds: 1)
    million.setup.limits = ["navs": 1_000_000]
    var unused = Workload(
      name: "unused", title: "memory of a nav that nobody uses",
      kind: .unused(navs: 20_000 / scale, operations: 40), metric: "bytes_per_nav",
      also: ["used_bytes_per_nav"], targets: [.navd])
    unused.setup.limits = ["nav-idle-seconds": 3]
    var paging = Workload(
      name: "paging", title: "an operation while another client's nav of 1,000 rows is read",
      kind: .paging(navs: 80 / scale, operations: 1000), metric: "p50_us",
      also: ["alone_p50_us", "get_p50_us"])
    paging.setup.limits = ["nav-idle-seconds": 1]
    return [
      Workload(
        name: "behind", title: "a watch 10,000 revisions behind, by a snapshot",
        kind: .behind(revisions: 10_000), metric: "p50_us", targets: [.redis, .navd]),
      replay,
      restart("restart1k", 1000, starts: scale == 1 ? 3 : 1, .light),
      restart("restart", 10_000 / scale, starts: scale == 1 ? 3 : 1, .light), most,
      Workload(
        name: "memory", title: "memory of a nav of 5 screens", kind: .memory(navs: 20_000),
        metric: "bytes_per_nav", targets: [.redis, .navd]),
      million, unused, paging,
      Workload(
        name: "idle", title: "an idle server", kind: .idle(seconds: 10 / scale),
        metric: "switches", also: ["rss_kib"], targets: Target.onOneMachine),
    ]
  }
}
