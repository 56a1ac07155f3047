import Foundation
import PostgresServer

/// The reason why a run or the command failed.
struct BenchError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// The numbers of one run, by name.
typealias Numbers = [String: Double]

/// Runs one workload against one target, with a new server in a new directory.
struct Runner {
  /// Starts the servers.
  let servers: Servers
  var programs: Programs { servers.programs }

  /// Runs a workload once; returns the numbers of one run, or of several that are cheaper to
  /// measure together.
  func run(_ workload: Workload, _ target: Target) throws -> [Numbers] {
    func serving(_ body: (Server) throws -> Numbers) throws -> Numbers {
      try servers.serving(target, workload.setup, body)
    }
    func loads(_ variants: [String: [String]]) throws -> [String: Numbers] {
      // In random order, because the first variant may find the machine in another state than the
      // later ones.
      var found: [String: Numbers] = [:]
      for (name, arguments) in variants.shuffled() {
        found[name] = try serving { try load($0, arguments) }
      }
      return found
    }
    switch workload.kind {
    case .load(let arguments): return [try serving { try load($0, arguments) }]
    case .pair(let first, let second):
      return [try Self.pair(try turns(["first": first, "second": second], target, workload.setup))]
    case .stalled(let common):
      let variants = [
        "idle": common, "reading": common + ["idle-watchers=1"],
        "stopped": common + ["idle-watchers=1", "stopped=1"],
      ]
      return [try Self.stalled(try turns(variants, target, workload.setup))]
    case .many(let common):
      return [
        try Self.many(
          try loads([
            "none": common, "one": common + ["watchers=1", "all=1"],
            "thousand": common + ["watchers=1000", "own=1"],
          ]))
      ]
    case .members(let isEach, let operations):
      return [try members(isEach: isEach, operations: operations, workload.setup)]
    case .command(let arguments, let navs, let runs):
      return [try serving { try command($0, arguments, navs, runs) }]
    case .restart(let navs, let operations, let starts):
      return try servers.restarting(
        target, workload.setup, starts: starts, revision: operations
      ) { try fill($0, navs, operations) }
    case .behind(let revisions):
      return [try serving { try behind($0, "behind", revisions) }]
    case .replay(let revisions):
      return [try serving { try behind($0, "replay", revisions) }]
    case .memory(let navs): return [try serving { try memory($0, navs) }]
    case .unused(let navs, let operations):
      return [try serving { try unused($0, navs, operations) }]
    case .paging(let navs, let operations):
      return [try serving { try paging($0, navs, operations) }]
    case .idle(let seconds): return [try serving { try idle($0, seconds) }]
    }
  }

  private func load(_ server: Server, _ arguments: [String]) throws -> Numbers {
    if let postgres = server.postgres {
      let window = arguments.first { $0.hasPrefix("window=") }.flatMap { Int($0.dropFirst(7)) }
      let rate = try postgres.insertions(bytes: 120, inFlight: window ?? 1, seconds: 3)
      return ["ops_s": rate, "p50_us": 1_000_000 / rate]
    }
    return try programs.numbers(
      of: "bench-load",
      ["run", "endpoint=\(server.endpoint)", "server=\(server.process)"] + arguments)
  }

  /// Runs variants at the same time, each on a server of its own; the variants write in turn.
  ///
  /// So other load on the machine affects all of them alike. The names of the numbers begin with
  /// the name of the variant.
  private func turns(
    _ variants: [String: [String]], _ target: Target, _ setup: Setup
  ) throws -> Numbers {
    func add(_ rest: ArraySlice<(key: String, value: [String])>, _ plans: [String]) throws
      -> Numbers
    {
      guard let (name, arguments) = rest.first else {
        return try programs.numbers(of: "bench-load", ["turns", "100"] + plans)
      }
      return try servers.serving(target, setup) { server in
        let plan = [
          ",", "prefix=\(name)_", "endpoint=\(server.endpoint)", "server=\(server.process)",
        ]
        return try add(rest.dropFirst(), plans + plan + arguments)
      }
    }
    return try add(variants.shuffled()[...], [])
  }

  private static func pair(_ found: Numbers) throws -> Numbers {
    var numbers = found
    numbers["cost_ratio"] =
      try number("first_ops_s", of: found) / number("second_ops_s", of: found)
    numbers["cpu_ratio"] =
      try number("second_cpu_us_op", of: found) / number("first_cpu_us_op", of: found)
    return numbers
  }

  private static func stalled(_ found: Numbers) throws -> Numbers {
    var numbers = found
    let stopped = try number("stopped_ops_s", of: found)
    for name in ["idle", "reading"] {
      numbers["of_\(name)"] = try stopped / number("\(name)_ops_s", of: found)
    }
    for name in ["caught_up_ms", "lost", "skipped"] {
      numbers[name] = try number("stopped_\(name)", of: found, isZeroGood: true)
    }
    return numbers
  }

  private static func many(_ found: [String: Numbers]) throws -> Numbers {
    let one = try number("deliveries_cpu_s", of: found["one"])
    let thousand = try number("deliveries_cpu_s", of: found["thousand"])
    var numbers: Numbers = [
      "deliveries_cpu_s": one, "thousand_deliveries_cpu_s": thousand, "of_thousand": one / thousand,
    ]
    // The operations cost the same in each run. Without their cost, the cost of the deliveries
    // remains.
    let writing = try number("cpu_s", of: found["none"])
    let own = try number("cpu_s", of: found["one"]) - writing
    let other = try number("cpu_s", of: found["thousand"]) - writing
    numbers["net_one_cpu_s"] = own
    numbers["net_thousand_cpu_s"] = other
    // A difference below 3 % of the writing is noise, so it counts as 3 %.
    numbers["net_of_thousand"] = other / max(own, writing * 0.03)
    return numbers
  }

  static func number(
    _ name: String, of numbers: Numbers?, isZeroGood: Bool = false
  ) throws -> Double {
    guard let value = numbers?[name], value > 0 || isZeroGood else {
      throw BenchError("bench-load printed no \(name)")
    }
    return value
  }

  private func command(
    _ server: Server, _ arguments: [String], _ navs: Int, _ runs: Int
  ) throws -> Numbers {
    let navctl = programs.path(of: "navctl")
    let line = [navctl] + arguments.map { $0 == "ENDPOINT" ? server.endpoint : $0 }
    _ = try programs.text(
      of: navctl, ["-e", server.endpoint, "create", "bench", "--title", "Home"])
    if navs > 1 {
      _ = try programs.text(
        of: programs.path(of: "bench-load"),
        ["create", "endpoint=\(server.endpoint)", "navs=\(navs - 1)", "depth=1"])
    }
    // A command that finds nothing would be fast.
    let lines = try programs.text(of: navctl, Array(line.dropFirst())).count { $0 == "\n" }
    guard lines >= navs else { throw BenchError("navctl printed \(lines) of \(navs) lines") }
    var numbers = try programs.numbers(of: "bench-load", ["spawn", "\(runs)"] + line)
    numbers["cost_ratio"] =
      try Self.number("p50_us", of: numbers) / Self.number("true_p50_us", of: numbers)
    return numbers
  }

  /// Fills a journal: creates the navs, and performs `operations` − 1 operations on each.
  private func fill(_ server: Server, _ navs: Int, _ operations: Int) throws {
    let processes = navs % 4 == 0 ? 4 : 1
    let each = navs / processes
    _ = try load(
      server,
      [
        "processes=\(processes)", "navs=\(each)", "window=64", "mixed=1",
        "ops=\(each * (operations - 1))",
      ])
  }

  private func behind(_ server: Server, _ command: String, _ revisions: Int) throws -> Numbers {
    _ = try load(server, ["window=64", "ops=\(revisions)"])
    return try programs.numbers(of: "bench-load", [command, server.endpoint, "\(revisions)"])
  }

  private func memory(_ server: Server, _ navs: Int) throws -> Numbers {
    let before = try server.state().kibibytes
    let processes = navs % 4 == 0 ? 4 : 1
    _ = try programs.text(
      of: programs.path(of: "bench-load"),
      [
        "create", "endpoint=\(server.endpoint)", "processes=\(processes)",
        "navs=\(navs / processes)", "depth=5",
      ])
    let after = try server.state().kibibytes
    return [
      "bytes_per_nav": Double(after - before) * 1024 / Double(navs), "rss_kib": Double(after),
    ]
  }

  private func unused(_ server: Server, _ navs: Int, _ operations: Int) throws -> Numbers {
    let before = try server.state().kibibytes
    try fill(server, navs, operations)
    let used = try server.state().kibibytes
    // The sweep gives up memory in steps, so that what remains is known only when it stays the same.
    var unused = used
    let end = Date(timeIntervalSinceNow: 60)
    while Date() < end {
      Thread.sleep(forTimeInterval: 2)
      let now = try server.state().kibibytes
      if now == unused, now < (before + used) / 2 { break }
      unused = now
    }
    return [
      "bytes_per_nav": Double(unused - before) * 1024 / Double(navs),
      "used_bytes_per_nav": Double(used - before) * 1024 / Double(navs),
    ]
  }

  private func paging(_ server: Server, _ navs: Int, _ operations: Int) throws -> Numbers {
    try fill(server, navs, operations)
    return try programs.numbers(of: "bench-load", ["paging", server.endpoint, "\(navs)"])
  }

  private func idle(_ server: Server, _ seconds: Int) throws -> Numbers {
    // The work after a start does not count as idle.
    Thread.sleep(forTimeInterval: 1)
    let before = try server.state()
    Thread.sleep(forTimeInterval: Double(seconds))
    let after = try server.state()
    let switches = Double(after.switches - before.switches)
    return [
      "rss_kib": Double(after.kibibytes),
      "switches": seconds > 0 ? switches * 10 / Double(seconds) : 0,
    ]
  }
}
