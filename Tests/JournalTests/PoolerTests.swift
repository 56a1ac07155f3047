import ChildProcess
import Foundation
import NavigationCore
import NavigationHub
import PostgresServer
import Testing

@testable import Journal
@testable import PostgresJournal

/// pgbouncer between a daemon and its server.
@Suite(.enabled(if: Pooler.isInstalled, "pgbouncer is not installed: make test installs it"))
struct PoolerTests {
  @Test func `through a pooler of sessions, nothing is lost or doubled`() throws {
    let stage = try PostgresStage()
    let pooler = try Pooler(mode: "session", before: stage)
    var writer = Writer(seed: 21)
    let journal = try stage.open(pooler.place())
    _ = try journal.contents()
    for _ in 0..<20 { try journal.commit(writer.batch(5)) }
    try stage.endConnections()
    for _ in 0..<20 { try journal.commit(writer.batch(5)) }
    try stage.close(journal)
    #expect(try stage.open(pooler.place()).contents().rows == writer.rows)
  }

  @Test func `a pooler of transactions is named before the first commit`() throws {
    let stage = try PostgresStage()
    let pooler = try Pooler(mode: "transaction", before: stage)
    let error = #expect(throws: JournalError.self) {
      try PostgresCluster(pooler.place(), retention: Retention())
    }
    #expect(error?.description.hasSuffix("set it to pool sessions") == true, "\(error as Any)")
    #expect(try stage.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'navd'") == "0")
  }
}

/// A process of pgbouncer before the server of a stage.
private final class Pooler {
  private static let program = "/usr/sbin/pgbouncer"
  static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: program) }

  private let directory = "/tmp/np-\(UUID().uuidString.prefix(8))"
  private let database: String
  private let process: ChildProcess

  init(mode: String, before stage: PostgresStage) throws {
    database = stage.database
    let user = getuid() == 0 ? "postgres" : NSUserName()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    // For the user of the server.
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: directory)
    let settings = """
      [databases]
      * = host=\(stage.server.directory) user=\(user)
      [pgbouncer]
      listen_port = 6432
      unix_socket_dir = \(directory)
      auth_type = any
      pool_mode = \(mode)
      """
    try settings.write(toFile: directory + "/ini", atomically: false, encoding: .utf8)
    let words =
      (getuid() == 0 ? ["/usr/bin/setpriv", "--reuid=\(user)", "--clear-groups", "--"] : [])
      // Should this process crash, the pooler ends too.
      + ["/usr/bin/timeout", "600", Self.program, "-q", directory + "/ini"]
    process = try ChildProcess(words[0], Array(words.dropFirst()), output: .null, errors: .null)
    // The socket file is there before pgbouncer accepts connections.
    #expect(
      try eventually {
        try ChildOutput(of: "/usr/bin/pg_isready", ["-q", "-h", directory, "-p", "6432"]).status
          == 0
      })
  }

  deinit {
    process.signal(SIGTERM)
    process.awaitEnd()
    try? FileManager.default.removeItem(atPath: directory)
  }

  func place() throws -> PostgresPlace {
    try PostgresPlace(
      conninfo: "host=\(directory) port=6432 dbname=\(database)",
      member: ClusterMember(name: "one", endpoint: "ipc:///one", leaseLeft: 0), lease: 60_000
    ) { _ in }
  }
}
