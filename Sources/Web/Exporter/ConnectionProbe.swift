import ZeroMQ
import NavigationClient
import NavigationCore
import RuntimePaths

/// Queries a daemon over its socket, and keeps the connection between queries.
///
/// A query takes at most 2.5 s. For 1 s after a failed query, others fail at once with the same
/// reason, so that queued HTTP requests do not each wait for 2.5 s.
struct ConnectionProbe: DaemonProbe, ~Copyable {
  /// The timeout of connecting, and that of waiting for a reply.
  private static let timeout = Duration.seconds(1)
  /// For how many milliseconds after a failure all queries fail.
  private static let failureRepeatMilliseconds: UInt64 = 1000

  private let rules: PathRules
  private let endpoint: String?
  private var connection: NavigationConnection?
  private var failure: (lastsUntil: UInt64, error: any Error)?

  /// Makes a probe; each connect uses `endpoint`, or if it is nil the socket that `rules` find.
  init(endpoint: String?, rules: PathRules) {
    self.endpoint = endpoint
    self.rules = rules
  }

  mutating func statistics() throws -> JSONValue {
    let reply = try query { connection throws(ConnectionError) in
      try connection.get(
        GetRequest(id: 0, nav: nil, what: .stats), timeout: Self.timeout)
    }
    switch reply.result {
    case .success(let answer):
      guard let value = try? JSONValue(answer.value?.bytes ?? Array("{}".utf8)) else {
        throw ProbeFailure("the statistics of navd cannot be read")
      }
      return value
    case .failure(let error): throw ProbeFailure("navd refuses: \(error.code): \(error.message)")
    }
  }

  mutating func ping() throws {
    _ = try query { connection throws(ConnectionError) in
      try connection.ping(timeout: Self.timeout)
    }
  }

  private mutating func query<Value>(
    _ question: (inout NavigationConnection) throws(ConnectionError) -> Value
  ) throws -> Value {
    if let failure, SystemClock.monotonicMilliseconds() < failure.lastsUntil { throw failure.error }
    do {
      var connection = try connect()
      let value: Value
      do throws(ConnectionError) {
        value = try question(&connection)
      } catch .noAnswer(let endpoint, _) {
        throw ProbeFailure("navd at \(endpoint) does not answer")
      }
      // Only a connection with a reply is kept; after a timeout, a late reply could arrive on it.
      self.connection = consume connection
      failure = nil
      return value
    } catch {
      failure = (SystemClock.monotonicMilliseconds() + Self.failureRepeatMilliseconds, error)
      throw error
    }
  }

  private mutating func connect() throws -> NavigationConnection {
    if let connection = connection.take() { return connection }
    let place = try rules.clientEndpoint(option: endpoint)
    let identity = try NetworkIdentity.read(for: place, environment: rules.environment)
    return try NavigationConnection.connect(
      to: place, as: identity, name: "navd-exporter", timeout: Self.timeout)
  }
}
