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
  /// Where the programs are: beside this one.
  let programs: URL
  /// Where the directories of the runs are made.
  let root: URL
  /// Where Redis is, if it is installed.
  let redis: String?

  init(options: Options) {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    programs = URL(filePath: own ?? CommandLine.arguments[0]).deletingLastPathComponent()
    root = URL(filePath: options.directory)
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    redis = folders.map { "\($0)/redis-server" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// Whether there is a program for it.
  func has(_ target: Target) -> Bool { target != .redis || redis != nil }

  func run(_ workload: Workload, _ target: Target) throws -> Numbers {
    guard case .pair(let shallow, let deep) = workload.kind else {
      return try run(workload.kind, target)
    }
    // The one that comes first may find another machine than the one behind it.
    let isDeepFirst = Bool.random()
    var rates: [Bool: Double] = [:]
    for isDeep in [isDeepFirst, !isDeepFirst] {
      rates[isDeep] = try run(.load(arguments: isDeep ? deep : shallow), target)["ops_s"]
    }
    guard let few = rates[false], let many = rates[true], many > 0 else {
      throw BenchError("bench-load printed no rate")
    }
    return ["cost_ratio": few / many, "shallow_ops_s": few, "deep_ops_s": many]
  }

  private func run(_ kind: Workload.Kind, _ target: Target) throws -> Numbers {
    // Short, for the path of a socket is at most 107 bytes.
    let name = "navd-bench-\(UInt32.random(in: .min ... .max))"
    let directory = root.appending(path: name)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    switch kind {
    case .pair: throw BenchError("a pair is two runs")
    case .load(let arguments):
      return try serving(target, directory) { endpoint in try load(endpoint, arguments) }
    case .command(let runs):
      return try serving(target, directory) { endpoint in try push(endpoint, runs) }
    case .restart(let navs, let operations):
      try serving(target, directory) { endpoint in
        _ = try load(endpoint, ["navs=\(navs)", "window=64", "ops=\(navs * operations)"])
      }
      return try numbers(of: "bench-load", ["start"] + command(target, directory))
    }
  }

  private func load(_ endpoint: String, _ arguments: [String]) throws -> Numbers {
    try numbers(of: "bench-load", ["run", "endpoint=\(endpoint)"] + arguments)
  }

  private func push(_ endpoint: String, _ runs: Int) throws -> Numbers {
    let navctl = path(of: "navctl")
    _ = try text(of: navctl, ["-e", endpoint, "create", "bench", "--title", "Home"])
    return try numbers(
      of: "bench-load",
      ["spawn", "\(runs)", navctl, "-e", endpoint, "push", "bench", "--title", "Wi-Fi"])
  }

  private func path(of program: String) -> String { programs.appending(path: program).path }

  private func command(_ target: Target, _ directory: URL) -> [String] {
    let socket = directory.appending(path: "s").path
    switch target {
    case .echo: return [path(of: "echo-peer"), socket]
    case .sqlite: return [path(of: "echo-peer"), socket, directory.appending(path: "log.db").path]
    case .redis:
      return [
        redis ?? "redis-server", "--unixsocket", socket, "--port", "0", "--dir", directory.path,
        "--appendonly", "yes", "--appendfsync", "always", "--save", "",
      ]
    case .navd:
      let state = directory.appending(path: "state").path
      return [path(of: "navd"), "--listen", "ipc://\(socket)", "--state", state]
    }
  }

  /// Calls `body` while a server of the target runs.
  private func serving<Result>(
    _ target: Target, _ directory: URL, _ body: (String) throws -> Result
  ) throws -> Result {
    let socket = directory.appending(path: "s").path
    let line = command(target, directory)
    let server = Process()
    server.executableURL = URL(filePath: line[0])
    server.arguments = Array(line.dropFirst())
    server.standardError = FileHandle.nullDevice
    server.standardOutput = FileHandle.nullDevice
    try server.run()
    defer {
      server.terminate()
      server.waitUntilExit()
    }
    let deadline = ContinuousClock.now + .seconds(10)
    while !FileManager.default.fileExists(atPath: socket) {
      guard server.isRunning, ContinuousClock.now < deadline else {
        throw BenchError("\(target.rawValue) does not serve: \(line.joined(separator: " "))")
      }
      Thread.sleep(forTimeInterval: 0.005)
    }
    let result = try body("\(target == .redis ? "redis:" : "ipc://")\(socket)")
    guard server.isRunning else { throw BenchError("\(target.rawValue) ended during the run") }
    return result
  }

  private func numbers(of program: String, _ arguments: [String]) throws -> Numbers {
    let output = try text(of: path(of: program), arguments)
    var numbers: Numbers = [:]
    for pair in output.split(whereSeparator: \.isWhitespace) {
      let parts = pair.split(separator: "=")
      if parts.count == 2, let value = Double(parts[1]) { numbers[String(parts[0])] = value }
    }
    guard !numbers.isEmpty else { throw BenchError("\(program) printed no numbers") }
    return numbers
  }

  /// What a program prints; its errors go to ours.
  private func text(of program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let line = ([program] + arguments).joined(separator: " ")
      throw BenchError("the run is void, status \(process.terminationStatus): \(line)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
