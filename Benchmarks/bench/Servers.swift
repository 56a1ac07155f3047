import Foundation

/// A server that runs.
struct Server {
  let endpoint: String
  fileprivate let process: Process

  /// The memory it occupies, and how often its threads have waited.
  func state() throws -> (kibibytes: Int, switches: Int) {
    let tasks = "/proc/\(process.processIdentifier)/task"
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

/// Starts and ends servers, each in a directory of its own.
struct Servers {
  let programs = Programs()
  /// Where the directories of the runs are made.
  let root: URL
  /// Where Redis is, if it is installed.
  let redis = Programs.installed("redis-server")

  init(options: Options) { root = URL(filePath: options.directory) }

  /// Whether there is a program for it.
  func has(_ target: Target) -> Bool { target != .redis || redis != nil }

  /// Calls `body` while a server of the target runs.
  func serving<Result>(
    _ target: Target, _ setup: Setup, _ body: (Server) throws -> Result
  ) throws -> Result {
    try inDirectory { try serving(target, setup, $0, body) }
  }

  /// Calls `body` while a server runs, ends it, and measures how long it takes to come back.
  func restarting(
    _ target: Target, _ setup: Setup, _ body: (Server) throws -> Void
  ) throws -> Numbers {
    try inDirectory { directory in
      try serving(target, setup, directory, body)
      var line = try command(target, setup, directory)
      if target == .redis { line += ["--supervised", "systemd"] }
      return try programs.numbers(of: "bench-load", ["start"] + line)
    }
  }

  private func inDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
    // Short, for the path of a socket is at most 107 bytes.
    let directory = root.appending(path: "navd-bench-\(UInt32.random(in: .min ... .max))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    return try body(directory)
  }

  private func command(_ target: Target, _ setup: Setup, _ directory: URL) throws -> [String] {
    let socket = directory.appending(path: "s").path
    let peer = programs.path(of: "echo-peer")
    switch target {
    case .echo: return [peer, socket]
    case .sqlite: return [peer, socket, directory.appending(path: "log.db").path]
    case .redis:
      return [
        redis ?? "redis-server", "--unixsocket", socket, "--port", "0", "--dir", directory.path,
        "--appendonly", "yes", "--appendfsync", setup.isRelaxed ? "everysec" : "always",
        "--save", "",
      ]
    case .navd:
      let state = directory.appending(path: "state").path
      let navd = programs.path(of: "navd")
      return [navd, "--listen", "ipc://\(socket)", "--state", state]
        + (setup.isRelaxed ? ["--durability", "relaxed"] : [])
        + (try configuration(setup, directory))
    }
  }

  /// Writes what navd is allowed beyond its defaults, if there is anything; says how it is read.
  private func configuration(_ setup: Setup, _ directory: URL) throws -> [String] {
    guard !setup.limits.isEmpty else { return [] }
    let file = directory.appending(path: "navd.conf")
    let lines = setup.limits.map { "\($0.key) = \($0.value)\n" }.sorted().joined()
    try Data("[limits]\n\(lines)".utf8).write(to: file)
    return ["--config", file.path]
  }

  private func serving<Result>(
    _ target: Target, _ setup: Setup, _ directory: URL, _ body: (Server) throws -> Result
  ) throws -> Result {
    let socket = directory.appending(path: "s").path
    let line = setup.wrapper + (try command(target, setup, directory))
    let process = Process()
    process.executableURL = URL(filePath: line[0])
    process.arguments = Array(line.dropFirst())
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    let deadline = ContinuousClock.now + .seconds(60)
    while !FileManager.default.fileExists(atPath: socket) {
      guard process.isRunning, ContinuousClock.now < deadline else {
        throw BenchError("\(target.rawValue) does not serve: \(line.joined(separator: " "))")
      }
      Thread.sleep(forTimeInterval: 0.005)
    }
    let scheme = target == .redis ? "redis:" : "ipc://"
    let result = try body(Server(endpoint: scheme + socket, process: process))
    guard process.isRunning else { throw BenchError("\(target.rawValue) ended during the run") }
    return result
  }
}
