import Foundation

/// A directory under /tmp with a short name, for a socket's path must be short.
final class TestDirectory {
  let path: String

  init() throws {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    path = "/tmp/navd-t-\(name)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  func write(_ name: String, _ text: String) throws -> String {
    let file = "\(path)/\(name)"
    try text.write(toFile: file, atomically: false, encoding: .utf8)
    return file
  }
}

/// A navd in a directory of its own, which can be killed and started again.
final class TestDaemon {
  let directory: TestDirectory
  let endpoint: String
  let state: String
  private let options: [String]
  private let environment: [String: String]
  /// How many descriptors it may open, if fewer than usual.
  private let descriptors: Int?
  /// The name of the program.
  private let program: String
  /// The network namespace in which it runs, if not that of the tests.
  private let namespace: String?
  /// The cluster of a `navd-cluster`.
  var cluster: Cluster?
  private(set) var child: Child

  /// Starts a daemon and waits until it serves.
  init(
    _ options: [String] = [], environment: [String: String] = [:], configuration: String? = nil,
    descriptors: Int? = nil, program: String = "navd",
    namespace: String? = nil, until said: String = "serving "
  ) throws {
    self.program = program
    self.namespace = namespace
    directory = try TestDirectory()
    endpoint = "ipc://\(directory.path)/op"
    state = "\(directory.path)/state"
    var all = ["--listen", endpoint, "--state", state] + options
    if let configuration {
      all += ["--config", try directory.write("navd.conf", configuration)]
    }
    self.options = all
    self.environment = ["HOME": directory.path].merging(environment) { $1 }
    self.descriptors = descriptors
    child = try Self.start(
      Binaries.path(program), self.options, self.environment, descriptors, namespace, said)
  }

  private static func start(
    _ navd: String, _ options: [String], _ environment: [String: String], _ descriptors: Int?,
    _ namespace: String?, _ said: String
  ) throws -> Child {
    let child =
      if let namespace {
        // The program replaces ip, and has its process number.
        try Child(
          ClusterNetwork.ip, ["netns", "exec", namespace, navd] + options,
          environment: environment)
      } else if let descriptors {
        try Child(
          "/bin/sh", ["-c", "ulimit -n \(descriptors); exec \"$0\" \"$@\"", navd] + options,
          environment: environment)
      } else {
        try Child(navd, options, environment: environment)
      }
    try child.complains(said)
    return child
  }

  /// Starts a daemon again that has ended.
  func start(_ more: [String] = [], until said: String = "serving ") throws {
    child = try Self.start(
      Binaries.path(program), options + more, environment, descriptors, namespace, said)
  }

  /// Ends it without any warning.
  func kill() throws {
    child.kill(SIGKILL)
    try child.ended()
  }

  /// Stops it in order; returns the exit status.
  func stop() throws -> Int32 {
    child.kill(SIGTERM)
    return try child.ended()
  }

  /// Runs navctl to its end.
  func navctl(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> (status: Int32, output: String, errors: String) {
    let child = try startNavctl(arguments, environment: environment)
    child.closeInput()
    let status = try child.ended()
    return (status, child.standardOutput, child.standardError)
  }

  /// Starts navctl.
  func startNavctl(
    _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Child {
    let base = ["HOME": directory.path, "NAVD_ENDPOINT": endpoint]
    return try Child(
      Binaries.path("navctl"), arguments, environment: base.merging(environment) { $1 })
  }
}
