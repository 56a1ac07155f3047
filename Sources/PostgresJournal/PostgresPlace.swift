import CPostgreSQL
package import Journal
import NavigationCore
package import NavigationHub
import RuntimePaths

/// A database in PostgreSQL that the daemons of a cluster share.
package struct PostgresPlace: ClusterPlace {
  /// A connection string of libpq, such as `host=db1,db2 dbname=navd`; without a password.
  package let conninfo: String
  /// This daemon among those that use the database: its name and how clients reach it.
  ///
  /// A process takes the place of an earlier process with the same name at once.
  package let member: ClusterMember
  /// The milliseconds for which a lease holds after the last commit or renewal.
  package let lease: UInt64
  /// The name of the database in errors.
  package let name: String
  /// Logs a warning about the server; any thread may call it.
  package let warn: @Sendable (String) -> Void
  /// A name of this process, so that another one with the same member name is another owner.
  let process: String

  /// The milliseconds by which this process ends its lease earlier than the database does.
  ///
  /// Process and server use their own clocks: if these differ by 1 %, they disagree by 50 ms of 5
  /// s.
  var leaseMarginMilliseconds: UInt64 { lease / 10 }
  /// The milliseconds after which a server that does not answer counts as lost.
  var answerTimeoutMilliseconds: UInt64 { lease / 2 }
  /// The milliseconds within which every running daemon finds a server that is back.
  ///
  /// A daemon notices by its next renewal, after a third of the lease, that the former server is
  /// silent, and waits `answerTimeoutMilliseconds` for it. Then each address but one can cost a
  /// connect time-out.
  var reconnectionMilliseconds: UInt64 {
    lease + UInt64(hostCount - 1) * PostgresConnection.connectTimeoutSeconds * 1000
  }
  /// The number of addresses in the connection string.
  private let hostCount: Int

  /// How long a commit or a read tries to reach a server, in milliseconds; after that, the process
  /// ends, since the outcome of a commit stays unknown.
  ///
  /// Patroni promotes a standby within 30 s by default.
  static let longestOutageMilliseconds: UInt64 = 60_000
  static let reconnectPauseMilliseconds: Int32 = 100

  /// Makes a place, which connects to nothing yet; throws `.unreadable` if the connection string
  /// has a fault or a password.
  package init(
    conninfo: String, member: ClusterMember, lease: UInt64 = 5_000,
    warn: @escaping @Sendable (String) -> Void
  ) throws(JournalError) {
    self.conninfo = conninfo
    self.member = member
    self.lease = lease
    self.warn = warn
    var fault: UnsafeMutablePointer<CChar>?
    let parsed = unsafe PQconninfoParse(conninfo, &fault)
    defer {
      unsafe PQconninfoFree(parsed)
      unsafe PQfreemem(fault)
    }
    guard var option = unsafe parsed else {
      var reason = unsafe fault.map { unsafe String(cString: $0) } ?? "no memory"
      // The reason quotes the text around the fault.
      if conninfo.contains("pass") || conninfo.contains("@") {
        reason = "its connection string has a fault"
      }
      throw .unreadable(path: "PostgreSQL", reason: PostgresError.singleLine(reason))
    }
    var given: [String: String] = [:]
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        unsafe given[String(cString: keyword)] = String(cString: value)
      }
      unsafe option += 1
    }
    let hosts = given["host"] ?? given["hostaddr"] ?? ""
    self.hostCount = hosts.split(separator: ",", omittingEmptySubsequences: false).count
    name = "PostgreSQL " + (given["service"] ?? "\(given["host"] ?? "")/\(given["dbname"] ?? "")")
    guard given["password"] == nil, given["sslpassword"] == nil else {
      throw .unreadable(
        path: name,
        reason: "its connection string has a password, which anybody could read there; "
          + "use passfile, or a service file")
    }
    var source = SystemRandomNumberGenerator()
    process = String(source.next(), radix: 16)
  }

  /// The directory, which is nil: the server keeps the files.
  package var directory: JournalDirectory? { nil }

  package func join(retention: Retention) throws(JournalError) -> any ClusterJournal {
    try PostgresCluster(self, retention: retention)
  }

  /// Makes a reader, which connects at its first read.
  package func openReader() throws(JournalError) -> JournalReader {
    JournalReader(PostgresReader(self))
  }

  func connect() throws(PostgresError) -> PostgresConnection {
    try PostgresConnection(conninfo, as: "navd " + process, timeout: answerTimeoutMilliseconds)
  }

  /// Runs `body`; throws `.unreadable` for any failure of the server.
  func reading<Value>(
    _ body: () throws(PostgresError) -> Value
  ) throws(JournalError) -> Value {
    do throws(PostgresError) {
      return try body()
    } catch {
      throw .unreadable(path: name, reason: error.text)
    }
  }

  /// The lease that a renewal sent now gives this process.
  ///
  /// It counts from before the statement is sent, so it never ends later than in the database.
  func leaseFromNow() -> JournalLease {
    let now = SystemClock.bootMilliseconds()
    return JournalLease(renewAt: now + lease / 3, end: now + lease - leaseMarginMilliseconds)
  }

  func connectChecked() throws(PostgresError) -> PostgresConnection {
    let connection = try connect()
    let results = try connection.run([PostgresSchema.DurabilityVerdict.selectCommand])
    if let refusal = PostgresSchema.DurabilityVerdict(results[0]).refusal {
      throw .unreachable(refusal)
    }
    return connection
  }

  func identity(_ connection: PostgresConnection) throws(PostgresError) -> PostgresIdentity {
    let result = try connection.run([PostgresCommand("SELECT \(PostgresIdentity.sql)")])
    guard let identity = PostgresIdentity(result[0].text(0, 0)) else {
      throw .unreachable("its tables are being restored")
    }
    return identity
  }

  /// Ends the server's processes for daemons that are silent in the middle of a commit and whose
  /// leases have ended, so that their row locks are released.
  ///
  /// Such a daemon has lost its power or its network. The server would wait for it for hours.
  func endLostPeers(_ connection: PostgresConnection) {
    do throws(PostgresError) {
      _ = try connection.run([
        PostgresCommand(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          JOIN navd.member ON application_name = 'navd ' || process
          WHERE leased_until < clock_timestamp() AND datname = current_database()
            AND usename = current_user AND wait_event = 'ClientRead' AND state <> 'idle'
            AND pid <> pg_backend_pid()
          """)
      ])
    } catch {
      // The next attempt finds out about the connection.
    }
  }
}
