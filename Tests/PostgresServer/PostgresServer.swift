public import ChildProcess
import Foundation
import Synchronization

/// A PostgreSQL server of a test's own: Debian's programs, a directory under /tmp, and a Unix socket.
///
/// It ends with this process, however that ends: a shell waits for the end of a pipe and stops it. The
/// server refuses to run as root, so root runs it as the user that Debian's package makes. With
/// NAVD_TEST_POSTGRES=DIRECTORY its programs are those of the Debian in that directory.
public final class PostgresServer: Sendable {
  /// The directory of the socket.
  public let directory: String
  private let data: String
  private let options: [String]
  private let network: Network?
  private let running = Mutex(Running())

  /// A server that all tests of this process share, each with a database of its own.
  public static let shared = Result { try PostgresServer() }

  /// Where a server listens beside its socket: an address in a network namespace of its own.
  public struct Network: Sendable {
    /// The name of the namespace, as `ip netns` lists it.
    public let namespace: String
    /// The address of the server.
    public let address: String
    /// The addresses from which the server accepts everybody.
    public let subnet: String

    /// Names a place in a network.
    public init(namespace: String, address: String, subnet: String) {
      (self.namespace, self.address, self.subnet) = (namespace, address, subnet)
    }

    /// The words that run a program, as root, in the namespace.
    fileprivate var words: [String] { ["/usr/sbin/ip", "netns", "exec", namespace] }
  }

  /// The running server, and the pipe whose end it awaits.
  private struct Running {
    var shell: ChildProcess?
    var life: Pipe?
    /// The processes that `suspend` has stopped.
    var suspended: [pid_t] = []
  }

  /// The server cannot be prepared or started.
  public struct Failure: Error, CustomStringConvertible {
    /// What failed, and how.
    public let description: String
  }

  /// Makes a server and starts it.
  ///
  /// - Parameters:
  ///   - primary: the server of which this one is a standby; nil for none.
  ///   - options: settings, each as `NAME=VALUE`.
  ///   - network: where it listens beside its socket; nil for nowhere.
  /// - Throws: `Failure`, or the error of a program that cannot be started.
  public init(
    standbyOf primary: PostgresServer? = nil, options: [String] = [], on network: Network? = nil
  ) throws {
    directory = "/tmp/np-\(UUID().uuidString.prefix(8))"
    data = directory + "/data"
    self.options = options
    self.network = network
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    if getuid() == 0 { try Self.run("/bin/chown", [Self.user, directory], asRoot: true) }
    if let primary {
      try Self.run(
        Self.program("pg_basebackup"),
        [
          "-h", primary.host, "-U", Self.user, "-D", data, "-R", "-X", "stream", "-c", "fast", "-N",
        ], in: network)
    } else {
      try Self.run(
        Self.program("initdb"),
        [
          "-D", data, "-A", "trust", "-U", Self.user, "-E", "UTF8", "--no-locale",
          "--data-checksums", "--wal-segsize=1", "--no-sync",
        ])
      try network.map(admit)
    }
    try start()
  }

  deinit { remove() }

  /// Kills the server and deletes its files.
  public func remove() {
    kill()
    try? FileManager.default.removeItem(atPath: directory)
  }

  /// Whether Debian's package is installed.
  public static var isInstalled: Bool { (try? program("initdb")) != nil }

  private static let user = getuid() == 0 ? "postgres" : NSUserName()

  /// The directory of the Debian whose server is run, made by Tests/BootedTests/prepare; empty for
  /// this machine's.
  private static let root = ProcessInfo.processInfo.environment["NAVD_TEST_POSTGRES"] ?? ""

  /// The path of a program of the newest installed version, as the programs of that Debian see it.
  private static func program(_ name: String, in root: String = root) throws -> String {
    let base = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root + base)) ?? []
    guard let newest = versions.compactMap({ Int($0) }).max() else {
      throw Failure(description: "there is no \(root)\(base): make test installs PostgreSQL")
    }
    return "\(base)/\(newest)/bin/\(name)"
  }

  /// The path of a program of this machine, which any server understands.
  private static func client(_ name: String) throws -> String { try program(name, in: "") }

  /// The address of the server for a program beside it.
  private var host: String { network?.address ?? directory }

  /// Lets the server accept everybody of a network.
  private func admit(_ network: Network) throws {
    guard let rules = FileHandle(forWritingAtPath: data + "/pg_hba.conf") else {
      throw Failure(description: "no pg_hba.conf in \(data)")
    }
    try rules.seekToEnd()
    let lines = ["all", "replication"].map { "host \($0) all \(network.subnet) trust\n" }
    try rules.write(contentsOf: Data(lines.joined().utf8))
  }

  /// The words that run a program in `root`, with the users, processes and /tmp of this machine.
  private static var inRoot: [String] {
    let script = #"""
      for path in /tmp /proc /dev /etc/passwd /etc/group; do
        mount --rbind "$path" "$0$path" || exit
      done
      exec chroot "$0" "$@"
      """#
    return root.isEmpty ? [] : ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, root]
  }

  /// The words that run a program as the user of the server.
  private static var asUser: [String] {
    inRoot
      + (getuid() == 0
        ? ["/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "--"] : [])
  }

  @discardableResult private static func run(
    _ path: String, _ arguments: [String], asRoot: Bool = false, in network: Network? = nil
  ) throws -> String {
    let words = (network?.words ?? []) + (asRoot ? [] : asUser) + [path] + arguments
    let output = try ChildOutput(of: words[0], Array(words.dropFirst()), withErrors: true)
    guard output.status == 0 else { throw Failure(description: "\(path): \(output.text)") }
    return output.text
  }

  /// Starts the server and waits until it accepts connections.
  public func start() throws {
    let end = Date(timeIntervalSinceNow: 60)
    repeat {
      // After a crash, the old server's last children may still hold its shared memory.
      if running.withLock({ $0.shell?.isRunning }) != true { try launch() }
      guard Date() < end else {
        let text = (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? ""
        throw Failure(description: "PostgreSQL does not start: \(text.suffix(2000))")
      }
      _ = poll(nil, 0, 20)
    } while try ChildOutput(of: Self.client("pg_isready"), ["-q", "-h", directory]).status != 0
  }

  private func launch() throws {
    let life = Pipe()
    guard let log = FileHandle(forWritingAtPath: try Self.file(directory + "/log")) else {
      throw Failure(description: "no log in \(directory)")
    }
    try log.seekToEnd()
    let settings = [
      "listen_addresses=\(network?.address ?? "")", "unix_socket_directories=\(directory)",
      "shared_buffers=16MB",
      "max_connections=60", "wal_keep_size=64MB",
    ]
    let words =
      (network?.words ?? []) + Self.asUser + [try Self.program("postgres"), "-D", data]
      + (settings + options).flatMap { ["-c", $0] }
    // It ends if the server does. A line means that the server is to start again.
    let script = #"""
      directory=$1; shift
      "$@" </dev/null & server=$!
      (read -r word && [[ $word ]]) <&0 & reader=$!
      wait -n "$server" "$reader"
      if kill -0 "$reader" 2>/dev/null; then kill "$reader"; exit 1; fi
      wait "$reader"; again=$?
      # Its children with it: one that lived on for a moment could still confirm a commit. The parent is
      # stopped first, so that no child begins behind the list.
      kill -STOP "$server" && read -ra children <"/proc/$server/task/$server/children"
      kill -KILL "$server" "${children[@]}"; wait "$server"
      ((again == 0)) || rm -rf "$directory"
      """#
    let shell = try ChildProcess(
      "/bin/bash", ["-c", script, "server", directory] + words,
      input: .descriptor(life.fileHandleForReading.fileDescriptor),
      output: .descriptor(log.fileDescriptor), errors: .descriptor(log.fileDescriptor))
    try life.fileHandleForReading.close()
    running.withLock { $0 = Running(shell: shell, life: life) }
  }

  private static func file(_ path: String) throws -> String {
    if !FileManager.default.fileExists(atPath: path) {
      _ = FileManager.default.createFile(atPath: path, contents: nil)
    }
    return path
  }

  /// Kills the server, as a crash would; `start` starts it again.
  public func kill() {
    let former = running.withLock { running in
      defer { running = Running() }
      return running
    }
    // A stopped process would outlive the server, and hold its shared memory.
    for process in former.suspended { _ = signal(SIGKILL, to: process) }
    former.life?.fileHandleForWriting.write(Data("again\n".utf8))
    try? former.life?.fileHandleForWriting.close()
    former.shell?.awaitEnd()
  }

  /// Whether it was started and has not ended.
  public var isRunning: Bool { running.withLock { $0.shell?.isRunning == true } }

  /// Stops all processes of the server, as a machine that hangs would.
  public func suspend() throws {
    let text = try String(contentsOfFile: data + "/postmaster.pid", encoding: .utf8)
    guard let parent = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
      throw Failure(description: "no process in \(data)/postmaster.pid")
    }
    // The parent first, so that no child begins behind the list.
    let isStopped = signal(SIGSTOP, to: parent)
    guard isStopped else { throw Failure(description: "the process \(parent) has ended") }
    let list = try String(
      contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
    let children = list.split(separator: " ").compactMap { pid_t($0) }
    for child in children { _ = signal(SIGSTOP, to: child) }
    running.withLock { $0.suspended = children + [parent] }
  }

  /// Lets a server go on that `suspend` has stopped.
  public func resume() {
    let suspended = running.withLock { running in
      defer { running.suspended = [] }
      return running.suspended
    }
    for process in suspended { _ = signal(SIGCONT, to: process) }
  }

  private func signal(_ number: Int32, to process: pid_t) -> Bool {
    Foundation.kill(process, number) == 0
  }

  /// Lets each commit wait for a standby of these names, and returns once all commits do.
  ///
  /// The checkpointer tells the sessions, so it must have read the setting: it has, at the end of a
  /// checkpoint that is asked for after the server has passed the reload on.
  public func requireStandby(_ names: String = "standby") throws {
    try sql("ALTER SYSTEM SET synchronous_standby_names = '\(names)'")
    try sql("SELECT pg_reload_conf()")
    let end = Date(timeIntervalSinceNow: 60)
    while try sql("SHOW synchronous_standby_names") != names {
      guard Date() < end else { throw Failure(description: "the reload took a minute") }
    }
    try sql("CHECKPOINT")
  }

  /// Makes a standby the primary.
  public func promote() throws {
    try Self.run(Self.program("pg_ctl"), ["promote", "-w", "-D", data])
  }

  /// Runs SQL in a database, each statement in a transaction of its own; returns what it prints.
  @discardableResult
  public func sql(_ text: String, in database: String = "postgres") throws -> String {
    let output = try ChildOutput(
      of: Self.client("psql"),
      ["-h", directory, "-U", Self.user, "-d", database, "-XAtqv", "ON_ERROR_STOP=1", "-c", text],
      withErrors: true)
    guard output.status == 0 else { throw Failure(description: output.text) }
    return output.text.trimmingCharacters(in: .newlines)
  }

  /// Starts to run SQL in a database, and waits for nothing; prints nothing.
  public func start(_ text: String, in database: String) throws -> ChildProcess {
    try ChildProcess(
      Self.client("psql"),
      ["-h", directory, "-U", Self.user, "-d", database, "-XAtqc", text], output: .null,
      errors: .null)
  }

  /// Measures how many rows a connection can insert, by pgbench.
  ///
  /// - Parameters:
  ///   - bytes: the size of a row.
  ///   - inFlight: how many of them are one pipeline and one transaction.
  ///   - seconds: how long to measure.
  /// - Returns: the rows in a second.
  /// - Throws: `Failure` with what pgbench printed.
  public func insertions(bytes: Int, inFlight: Int, seconds: Int) throws -> Double {
    try sql("DROP TABLE IF EXISTS rows")
    try sql("CREATE TABLE rows(id bigserial PRIMARY KEY, body text)")
    let insert = "INSERT INTO rows(body) VALUES('\(String(repeating: "x", count: bytes))');\n"
    let script = directory + "/pipeline.sql"
    try "\\startpipeline\n\(String(repeating: insert, count: inFlight))\\endpipeline\n".write(
      toFile: script, atomically: false, encoding: .utf8)
    let output = try ChildOutput(
      of: Self.client("pgbench"),
      [
        "-h", directory, "-U", Self.user, "-n", "-M", "prepared", "-c", "1", "-T", "\(seconds)",
        "-f", script, "postgres",
      ], withErrors: true)
    guard let found = output.text.split(separator: "tps = ").last?.prefix(while: { $0 != " " }),
      output.status == 0, let rate = Double(found)
    else { throw Failure(description: output.text) }
    return rate * Double(inFlight)
  }

  /// Dumps a database as SQL, whole or its rows alone; what is restored replaces what is there.
  public func save(_ database: String, isData: Bool = false) throws -> String {
    try Self.run(
      Self.program("pg_dump"),
      ["-h", directory, "-U", Self.user]
        + (isData ? ["--data-only"] : ["--clean", "--if-exists"]) + [database])
  }

  /// Runs the SQL of a dump, or of a part of it, as psql does without options: past all errors.
  public func restore(_ dump: String, in database: String) throws {
    let file = directory + "/\(UUID().uuidString).sql"
    defer { try? FileManager.default.removeItem(atPath: file) }
    try dump.write(toFile: file, atomically: false, encoding: .utf8)
    try Self.run(
      Self.program("psql"), ["-h", directory, "-U", Self.user, "-d", database, "-Xq", "-f", file])
  }

  private var saved: String { directory + "/saved" }

  /// Keeps the data directory as a crash of this moment would leave it; the server goes on.
  public func saveDirectory() throws {
    kill()
    try Self.run("/bin/cp", ["-a", data, saved], asRoot: true)
    try Self.run("/bin/rm", ["-f", saved + "/postmaster.pid"], asRoot: true)
    try start()
  }

  /// Puts the data directory back.
  public func putDirectoryBack() throws {
    kill()
    try Self.run("/bin/rm", ["-r", data], asRoot: true)
    try Self.run("/bin/cp", ["-a", saved, data], asRoot: true)
    try start()
  }

  /// Starts a copy of the data directory that another server has kept.
  public init(beside other: PostgresServer) throws {
    directory = "/tmp/np-\(UUID().uuidString.prefix(8))"
    data = directory + "/data"
    (options, network) = ([], nil)
    try Self.run("/bin/mkdir", [directory], asRoot: true)
    if getuid() == 0 { try Self.run("/bin/chown", [Self.user, directory], asRoot: true) }
    try Self.run("/bin/cp", ["-a", other.saved, directory], asRoot: true)
    try Self.run("/bin/mv", [saved, data], asRoot: true)
    try start()
  }

  /// Makes a database, and returns its name.
  public func makeDatabase() throws -> String {
    let name = "t" + UUID().uuidString.prefix(8).lowercased()
    try sql("CREATE DATABASE \(name)")
    return name
  }

  /// The connection string for a database that one of several servers has.
  public static func conninfo(_ database: String, on servers: [PostgresServer]) -> String {
    conninfo(database, hosts: servers.map(\.host))
  }

  /// The connection string for a database that the server at one of several addresses has.
  public static func conninfo(_ database: String, hosts: [String]) -> String {
    "host=\(hosts.joined(separator: ",")) user=\(user) dbname=\(database)"
  }

  /// The connection string for a database.
  public func conninfo(_ database: String) -> String {
    "host=\(directory) user=\(Self.user) dbname=\(database)"
  }
}
