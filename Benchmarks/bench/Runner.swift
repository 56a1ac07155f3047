import Foundation

/// Why there is no result.
struct BenchError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

/// The numbers of one run, by name.
typealias Numbers = [String: Double]

/// Runs one workload against one target: a new server in a new directory.
struct Runner {
  /// Starts the servers.
  let servers: Servers
  private var programs: Programs { servers.programs }

  func run(_ workload: Workload, _ target: Target) throws -> Numbers {
    func serving(_ body: (Server) throws -> Numbers) throws -> Numbers {
      try servers.serving(target, workload.setup, body)
    }
    switch workload.kind {
    case .load(let arguments): return try serving { try load($0, arguments) }
    case .pair(let first, let second):
      return try pair { isSecond in try serving { try load($0, isSecond ? second : first) } }
    case .command(let runs): return try serving { try push($0, runs) }
    case .help(let runs): return try help(runs)
    case .restart(let navs, let operations):
      return try servers.restarting(target, workload.setup) { server in
        _ = try load(server, ["navs=\(navs)", "window=64", "ops=\(navs * operations)"])
      }
    case .behind(let revisions):
      return try serving { server in
        _ = try load(server, ["window=64", "ops=\(revisions)"])
        return try programs.numbers(of: "bench-load", ["behind", server.endpoint, "\(revisions)"])
      }
    case .memory(let navs): return try serving { try memory($0, navs) }
    case .idle(let seconds): return try serving { try idle($0, seconds) }
    }
  }

  private func load(_ server: Server, _ arguments: [String]) throws -> Numbers {
    try programs.numbers(of: "bench-load", ["run", "endpoint=\(server.endpoint)"] + arguments)
  }

  private func pair(_ body: (_ isSecond: Bool) throws -> Numbers) throws -> Numbers {
    // The one that comes first may find another machine than the one behind it.
    let isSecondFirst = Bool.random()
    var rates: [Bool: Double] = [:]
    var numbers: Numbers = [:]
    for isSecond in [isSecondFirst, !isSecondFirst] {
      let found = try body(isSecond)
      rates[isSecond] = found["ops_s"]
      if isSecond { numbers["caught_up_ms"] = found["caught_up_ms"] }
    }
    guard let first = rates[false], let second = rates[true], second > 0 else {
      throw BenchError("bench-load printed no rate")
    }
    numbers["cost_ratio"] = first / second
    numbers["first_ops_s"] = first
    numbers["second_ops_s"] = second
    return numbers
  }

  private func push(_ server: Server, _ runs: Int) throws -> Numbers {
    let navctl = programs.path(of: "navctl")
    let endpoint = server.endpoint
    _ = try programs.text(of: navctl, ["-e", endpoint, "create", "bench", "--title", "Home"])
    return try programs.numbers(
      of: "bench-load",
      ["spawn", "\(runs)", navctl, "-e", endpoint, "push", "bench", "--title", "Wi-Fi"])
  }

  private func help(_ runs: Int) throws -> Numbers {
    let command = ["spawn", "\(runs)"]
    let least = try programs.numbers(of: "bench-load", command + ["/bin/true"])
    var numbers = try programs.numbers(
      of: "bench-load", command + [programs.path(of: "navctl"), "--help"])
    guard let own = numbers["p50_us"], let other = least["p50_us"], other > 0 else {
      throw BenchError("bench-load printed no time")
    }
    numbers["true_p50_us"] = other
    numbers["cost_ratio"] = own / other
    return numbers
  }

  private func memory(_ server: Server, _ navs: Int) throws -> Numbers {
    let before = try server.state().kibibytes
    _ = try programs.text(
      of: programs.path(of: "bench-load"),
      ["create", "endpoint=\(server.endpoint)", "navs=\(navs)", "depth=5"])
    let after = try server.state().kibibytes
    return ["bytes_per_nav": Double(after - before) * 1024 / Double(navs)]
  }

  private func idle(_ server: Server, _ seconds: Int) throws -> Numbers {
    // What a server does at first is not idleness.
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
