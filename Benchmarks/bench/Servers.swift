import ChildProcess
import Foundation
import PostgresServer

/// A running server.
struct Server {
  let endpoint: String
  /// The process id.
  let process: pid_t
  /// The PostgreSQL server, of the target `pgbench`.
  var postgres: PostgresServer?

  /// Reads the resident memory, and the number of voluntary context switches of all threads.
  func state() throws -> (kibibytes: Int, switches: Int) {
    let tasks = "/proc/\(process)/task"
    var kibibytes = 0
    var switches = 0
    for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
      let status = try String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
      for line in status.split(separator: "\n") {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard words.count > 1, let number = Int(words[1]) else { continue }
        if words[0] == "VmRSS:" { kibibytes = number }
        if words[0] == "voluntary_ctxt_switches:" { switches += number }
      }
    }
    return (kibibytes, switches)
  }
}

/// Starts and stops servers, each in a directory of its own.
struct Servers {
  let programs = Programs()
  /// The directory in which each run makes its own.
  let root: URL
  /// The path of redis-server; nil if it is not installed.
  let redis = Programs.installed("redis-server")
  /// The settings of glibc, as `NAME=VALUE`, with which the service runs.
  let tunables: String

  /// Reads the unit of the service.
  ///
  /// - Throws: an error if the working directory is not the top of the repository.
  init(options: Options) throws {
    root = URL(filePath: options.directory)
    let unit = "systemd/navd.service"
    let key = "Environment=GLIBC_TUNABLES="
    guard let text = try? String(contentsOfFile: unit, encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) })
    else { throw BenchError("\(unit) has no \(key): start bench at the top of the repository") }
    tunables = String(line.dropFirst("Environment=".count))
  }

  /// Whether the program of a target is installed.
  func has(_ target: Target) -> Bool {
    switch target {
    case .redis: redis != nil
    case .cluster, .pgbench: PostgresServer.isInstalled
    case .echo, .sqlite, .navd: true
    }
  }

  /// Calls `body` while a server of the target runs.
  func serving<Result>(
    _ target: Target, _ setup: Setup, _ body: (Server) throws -> Result
  ) throws -> Result {
    try inDirectory { directory in
      var place = Place(directory)
      guard target.needsPostgres else { return try serving(target, setup, place, body) }
      let postgres = try PostgresServer()
      defer { postgres.remove() }
      place.postgres = postgres
      return try serving(target, setup, place, body)
    }
  }

  /// Calls `body` while some daemons run, named m0, m1 and so on: those of one cluster, or if they are
  /// apart, each alone in one, with a database of its own on the same server.
  func clustering<Result>(
    _ members: Int, apart: Bool, _ setup: Setup, _ body: ([Server], PostgresServer) throws -> Result
  ) throws -> Result {
    try inDirectory { directory in
      let postgres = try PostgresServer()
      defer { postgres.remove() }
      func start(_ running: [Server]) throws -> Result {
        guard running.count < members else { return try body(running, postgres) }
        var place = Place(directory.appending(path: "m\(running.count)"))
        place.postgres = postgres
        if apart { place.database = try postgres.makeDatabase() }
        try FileManager.default.createDirectory(
          at: place.data, withIntermediateDirectories: true)
        return try serving(.cluster, setup, place) { try start(running + [$0]) }
      }
      return try start([])
    }
  }

  /// Calls `body` while a server runs, kills the server, and measures `starts` restarts from copies
  /// of its files.
  ///
  /// A restart ends when the first nav is at `revision` again.
  func restarting(
    _ target: Target, _ setup: Setup, starts: Int, revision: Int, _ body: (Server) throws -> Void
  ) throws -> [Numbers] {
    try inDirectory { directory in
      let place = Place(directory)
      try serving(target, setup, place, isKilled: true, body)
      return try (0..<starts).map { _ in
        var copy = place
        copy.data = directory.appending(path: "copy")
        try FileManager.default.copyItem(at: place.data, to: copy.data)
        defer { try? FileManager.default.removeItem(at: copy.data) }
        // The copy is on the disk before the clock starts.
        sync()
        var line = try command(target, setup, copy)
        if target == .redis { line += ["--supervised", "systemd"] }
        return try programs.numbers(
          of: "bench-load", ["start", endpoint(target, place), "\(revision)"] + line)
      }
    }
  }

  /// The socket and the files of a server.
  private struct Place {
    let directory: URL
    var data: URL
    /// The server with the journal of `navd-cluster`.
    var postgres: PostgresServer?
    /// The database of that server.
    var database = "postgres"
    var socket: String { directory.appending(path: "s").path }

    init(_ directory: URL) {
      self.directory = directory
      data = directory.appending(path: "data")
    }
  }

  private func inDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
    // Short, because the path of a socket has at most 107 bytes.
    let directory = root.appending(path: "navd-bench-\(UInt32.random(in: .min ... .max))")
    try Cleanup.shared.add(directory: directory)
    defer {
      try? FileManager.default.removeItem(at: directory)
      Cleanup.shared.remove(directory: directory)
    }
    try FileManager.default.createDirectory(
      at: Place(directory).data, withIntermediateDirectories: false)
    return try body(directory)
  }

  private func endpoint(_ target: Target, _ place: Place) -> String {
    (target == .redis ? "redis:" : "ipc://") + place.socket
  }

  private func command(_ target: Target, _ setup: Setup, _ place: Place) throws -> [String] {
    let peer = programs.path(of: "echo-peer")
    switch target {
    case .echo: return [peer, place.socket] + (setup.keepsLog ? ["log"] : [])
    case .sqlite: return [peer, place.socket, place.data.appending(path: "log.db").path]
    case .redis:
      return [
        redis ?? "redis-server", "--unixsocket", place.socket, "--port", "0", "--dir",
        place.data.path, "--appendonly", "yes", "--appendfsync",
        "always", "--save", "",
      ]
    case .cluster:
      let conninfo = place.postgres?.conninfo(place.database) ?? ""
      return [
        "/usr/bin/env", tunables, "NAVD_CLUSTER_DATABASE=\(conninfo)",
        "NAVD_CLUSTER_MEMBER=\(place.directory.lastPathComponent)",
        programs.path(of: "navd-cluster"), "--listen", "ipc://\(place.socket)",
      ] + (try configuration(setup, place.directory))
    case .pgbench: throw BenchError("pgbench is no server")
    case .navd:
      let state = place.data.appending(path: "state").path
      let navd = programs.path(of: "navd")
      // env executes the rest in its own process.
      return ["/usr/bin/env", tunables] + setup.wrapper
        + [navd, "--listen", "ipc://\(place.socket)", "--state", state]
        + (try configuration(setup, place.directory))
    }
  }

  /// Writes navd's limits to a configuration file, if there are any; returns the options to read
  /// it.
  private func configuration(_ setup: Setup, _ directory: URL) throws -> [String] {
    guard !setup.limits.isEmpty else { return [] }
    let file = directory.appending(path: "navd.conf")
    let lines = setup.limits.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
    try Data("[limits]\n\(lines)".utf8).write(to: file)
    return ["--config", file.path]
  }

  private func serving<Result>(
    _ target: Target, _ setup: Setup, _ place: Place, isKilled: Bool = false,
    _ body: (Server) throws -> Result
  ) throws -> Result {
    if target == .pgbench {
      return try body(Server(endpoint: "", process: getpid(), postgres: place.postgres))
    }
    let line = try command(target, setup, place)
    let process = try programs.start(line, output: .null, errors: .null)
    defer {
      process.signal(isKilled ? SIGKILL : SIGTERM)
      programs.awaitEnd(process)
    }
    let deadline = ContinuousClock.now + .seconds(60)
    while !FileManager.default.fileExists(atPath: place.socket) {
      guard process.isRunning, ContinuousClock.now < deadline else {
        throw BenchError("\(target.rawValue) does not serve: \(line.joined(separator: " "))")
      }
      Thread.sleep(forTimeInterval: 0.005)
    }
    let result = try body(
      Server(endpoint: endpoint(target, place), process: process.pid))
    guard process.isRunning else { throw BenchError("\(target.rawValue) ended during the run") }
    return result
  }
}
