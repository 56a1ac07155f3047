import CPostgreSQL
package import Journal
import RuntimePaths
import Synchronization

/// A database in PostgreSQL that several daemons may use, one at a time: the one with the lease.
package struct PostgresPlace: JournalPlace {
  /// A connection string of libpq, such as `host=db1,db2 dbname=navd`; without a password.
  package let conninfo: String
  /// The name of this daemon among those that use the database.
  ///
  /// A process takes the lease of an earlier process with the same name at once.
  package let owner: String
  /// The milliseconds for which a lease holds after the last commit or renewal.
  package let lease: UInt64
  /// The name of the database in errors.
  package let name: String
  /// Is called with what the administrator should know about the server; any thread.
  package let warn: @Sendable (String) -> Void

  /// The milliseconds that this process stops before its lease ends in the time of the database.
  ///
  /// Two clocks count the lease. Of 5 s, clocks that differ by 1 % disagree about 50 ms.
  var margin: UInt64 { lease / 10 }
  /// The milliseconds after which a server that does not answer counts as lost.
  var patience: UInt64 { lease / 2 }

  /// The connection of a daemon that waits for the lease.
  let candidate = PostgresCandidate.Keeper()

  /// How long a commit or a read tries to reach a server, in milliseconds; after that, the process
  /// ends, since the outcome of a commit stays unknown.
  ///
  /// Patroni promotes a standby within 30 s by default.
  static let longestOutage: UInt64 = 60_000
  /// The pause between two attempts to connect, in milliseconds.
  static let pause: Int32 = 100

  /// Makes a place; it connects to nothing yet.
  ///
  /// - Throws: `.unreadable` if the connection string has a fault or a password.
  package init(
    conninfo: String, owner: String, lease: UInt64 = 5_000,
    warn: @escaping @Sendable (String) -> Void
  ) throws(JournalError) {
    self.conninfo = conninfo
    self.owner = owner
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
      throw .unreadable(path: "PostgreSQL", reason: PostgresError.line(reason))
    }
    var given: [String: String] = [:]
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val {
        unsafe given[String(cString: keyword)] = String(cString: value)
      }
      unsafe option += 1
    }
    name = "PostgreSQL " + (given["service"] ?? "\(given["host"] ?? "")/\(given["dbname"] ?? "")")
    guard given["password"] == nil, given["sslpassword"] == nil else {
      throw .unreadable(
        path: name,
        reason: "its connection string has a password, which anybody could read there; "
          + "use passfile, or a service file")
    }
  }

  /// Nil: the server keeps the files.
  package var directory: JournalDirectory? { nil }

  /// Takes the lease and opens the journal.
  ///
  /// - Throws: `.locked` while another daemon has the lease.
  package func open(retention: Retention, holder: String) throws(JournalError) -> Journal {
    try Journal(PostgresEngine(self), in: self, retention: retention)
  }

  /// Makes a reader, which connects at its first read.
  package func openReader() throws(JournalError) -> JournalReader {
    JournalReader(PostgresReader(self))
  }

  func connect() throws(PostgresError) -> PostgresConnection {
    try PostgresConnection(conninfo, timeout: patience)
  }

  func deadline() -> UInt64 { SystemClock.monotonicMilliseconds() + patience }
}

/// A connection that has been checked and that may take the lease.
struct PostgresCandidate: Sendable {
  let connection: PostgresConnection
  /// The settings of the server.
  let settings: PostgresSchema.Settings
  /// When it may take the lease at the earliest, in milliseconds of the boot clock.
  let notBefore: UInt64

  /// Keeps a candidate between two attempts.
  final class Keeper: Sendable {
    private let state = Mutex<(candidate: PostgresCandidate?, hasWaited: Bool)>((nil, false))

    /// Whether a candidate of this process has waited before.
    var hasWaited: Bool { state.withLock { $0.hasWaited } }

    func take() -> PostgresCandidate? {
      state.withLock { state in
        defer { state.candidate = nil }
        return state.candidate
      }
    }

    func keep(_ candidate: PostgresCandidate) { state.withLock { $0 = (candidate, true) } }
  }
}
