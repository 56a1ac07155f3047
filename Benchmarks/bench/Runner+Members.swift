import Foundation
import PostgresServer

// The processor time of an operation, with one, two and four daemons of a cluster.

extension Runner {
  private static let (inFlight, navs) = (64, 16)

  /// Runs clusters of one, two and four daemons, and four of one daemon, in random order; each daemon
  /// has a client with navs of its own.
  ///
  /// - Parameters:
  ///   - isEach: whether 64 operations are in flight at each daemon, on 16 navs, or altogether.
  ///   - operations: the number of operations of all clients.
  ///   - setup: the configuration of the daemons.
  /// - Returns: processor times of an operation, and the ratios to those with one daemon.
  /// - Throws: the failure of a program.
  func members(isEach: Bool, operations: Int, _ setup: Setup) throws -> Numbers {
    var numbers: Numbers = [:]
    let cases = [("one", 1, false), ("two", 2, false), ("four", 4, false), ("apart", 4, true)]
    for (name, count, isApart) in cases.shuffled() {
      let part = isEach ? 1 : count
      let found = try servers.clustering(count, apart: isApart, setup) { daemons, postgres in
        if !isApart { try place(Self.navs / part, on: daemons) }
        return try load(
          daemons, postgres, navs: Self.navs / part, window: Self.inFlight / part, operations)
      }
      for (metric, value) in found { numbers["\(name)_\(metric)"] = value }
      // A commit of more operations moves work from the server to the daemon, so both count together.
      numbers["\(name)_total_us_op"] =
        try Self.number("cpu_us_op", of: found) + Self.number("database_us_op", of: found)
    }
    func ratio(_ name: String, _ metric: String, to other: String = "one") throws -> Double {
      try Self.number("\(name)_\(metric)", of: numbers)
        / Self.number("\(other)_\(metric)", of: numbers)
    }
    // As many processes in both: with fewer, the processors are not busy, and an instruction takes
    // less time.
    numbers["cpu_ratio"] = try ratio("four", "total_us_op", to: "apart")
    numbers["four_cpu_ratio"] = try ratio("four", "total_us_op")
    numbers["two_cpu_ratio"] = try ratio("two", "total_us_op")
    numbers["daemon_ratio"] = try ratio("four", "cpu_us_op")
    numbers["database_ratio"] = try ratio("four", "database_us_op")
    return numbers
  }

  /// Measures the load of a client for each daemon.
  private func load(
    _ daemons: [Server], _ postgres: PostgresServer, navs: Int, window: Int, _ operations: Int
  ) throws -> Numbers {
    let before = try processorTimes(daemons, postgres)
    var numbers = try programs.numbers(
      of: "bench-load",
      [
        "run", "endpoint=\(daemons.map(\.endpoint).joined(separator: ","))",
        "processes=\(daemons.count)", "navs=\(navs)", "window=\(window)",
        "ops=\(operations / daemons.count)",
      ])
    let after = try processorTimes(daemons, postgres)
    let microseconds = 1_000_000 / Double(operations)
    numbers["cpu_us_op"] = (after.daemons - before.daemons) * microseconds
    numbers["database_us_op"] = (after.database - before.database) * microseconds
    return numbers
  }

  /// Moves the shards of the navs of each client to its daemon.
  private func place(_ navs: Int, on daemons: [Server]) throws {
    guard daemons.count > 1 else { return }
    // Daemons that join are given shards first.
    Thread.sleep(forTimeInterval: 1)
    for nav in 0..<navs * daemons.count {
      _ = try programs.text(
        of: programs.path(of: "navctl"),
        [
          "-e", daemons[0].endpoint, "cluster", "move", String(format: "b.%06d", nav),
          "m\(nav / navs)",
        ])
    }
    Thread.sleep(forTimeInterval: 1)
  }

  /// Reads the processor time of all daemons, and that of the server with its processes, in seconds.
  private func processorTimes(
    _ daemons: [Server], _ postgres: PostgresServer
  ) throws -> (daemons: Double, database: Double) {
    let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
    let file = try String(
      contentsOfFile: "\(postgres.directory)/data/postmaster.pid", encoding: .utf8)
    guard let server = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw BenchError("no process in \(file)")
    }
    var database = 0
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc") {
      // A process can end meanwhile; its time is then that of a child of the server.
      guard let process = pid_t(name), let times = Self.times(of: process) else { continue }
      if process == server { database += times.own + times.ended }
      if times.parent == server { database += times.own }
    }
    let own = try daemons.reduce(0) { sum, daemon in
      guard let times = Self.times(of: daemon.process) else { throw BenchError("a daemon ended") }
      return sum + times.own
    }
    return (Double(own) / ticks, Double(database) / ticks)
  }

  /// The parent of a process, its processor time, and that of its children that have ended, in ticks.
  private static func times(of process: pid_t) -> (parent: pid_t, own: Int, ended: Int)? {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      // The name in parentheses may contain anything.
      let end = stat.lastIndex(of: ")")
    else { return nil }
    // The state is the third field of the file, and the first one here.
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    guard fields.count > 14, let parent = pid_t(fields[1]) else { return nil }
    let numbers = fields[11...14].compactMap { Int($0) }
    guard numbers.count == 4 else { return nil }
    return (parent, numbers[0] + numbers[1], numbers[2] + numbers[3])
  }
}
