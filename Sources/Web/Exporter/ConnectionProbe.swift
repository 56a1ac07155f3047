import ZeroMQ
import NavigationClient
import NavigationCore
import RuntimePaths

/// Queries a daemon over its socket, and keeps the connection between queries.
///
/// A query takes at most 2.5 s. For 1 s after a failed query, others fail at once with the same
/// reason, so that queued HTTP requests do not each wait for 2.5 s.
struct ConnectionProbe: DaemonProbe, ~Copyable {
  /// The timeout of connecting, and again of the reply.
  private static let patience = Duration.seconds(1)
  /// For how many milliseconds a failure also fails later queries.
  private static let failureAge: UInt64 = 1000

  private let rules: PathRules
  private let endpoint: String?
  private var connection: NavigationConnection?
  private var failure: (until: UInt64, reason: String)?

  /// Makes a probe; each connect uses `endpoint`, or if it is nil the socket that `rules` find.
  init(endpoint: String?, rules: PathRules) {
    self.endpoint = endpoint
    self.rules = rules
  }

  mutating func statistics() throws(ProbeFailure) -> JSONValue {
    let reply = try ask { connection throws(ConnectionError) in
      try connection.get(
        GetRequest(id: 0, nav: nil, what: .stats), timeout: Self.patience)
    }
    switch reply.result {
    case .success(let answer):
      do throws(JSONError) {
        return try JSONValue(answer.value?.bytes ?? Array("{}".utf8))
      } catch {
        throw ProbeFailure("the statistics of navd cannot be read")
      }
    case .failure(let error): throw ProbeFailure("navd refuses: \(error.code): \(error.message)")
    }
  }

  mutating func ping() throws(ProbeFailure) {
    _ = try ask { connection throws(ConnectionError) in
      try connection.ping(timeout: Self.patience)
    }
  }

  private mutating func ask<Value>(
    _ question: (inout NavigationConnection) throws(ConnectionError) -> Value
  ) throws(ProbeFailure) -> Value {
    if let failure, SystemClock.monotonicMilliseconds() < failure.until {
      throw ProbeFailure(failure.reason)
    }
    do throws(ProbeFailure) {
      var connection = try connect()
      let value: Value
      do throws(ConnectionError) {
        value = try question(&connection)
      } catch {
        if case .noAnswer(let endpoint, _) = error {
          throw ProbeFailure("navd at \(endpoint) does not answer")
        }
        throw ProbeFailure(error.description)
      }
      // Only a connection with a reply is kept; after a timeout, a late reply could arrive on it.
      self.connection = consume connection
      failure = nil
      return value
    } catch {
      failure = (SystemClock.monotonicMilliseconds() + Self.failureAge, error.reason)
      throw error
    }
  }

  private mutating func connect() throws(ProbeFailure) -> NavigationConnection {
    if let connection = connection.take() { return connection }
    let place: String
    do throws(PathError) {
      place = try rules.clientEndpoint(option: endpoint)
    } catch {
      throw ProbeFailure(error.description)
    }
    let identity: NetworkIdentity?
    do {
      identity = try NetworkIdentity.read(for: place, environment: rules.environment)
    } catch {
      throw ProbeFailure("\(error)")
    }
    do throws(ConnectionError) {
      return try NavigationConnection.connect(
        to: place, as: identity, name: "navd-exporter", timeout: Self.patience)
    } catch {
      throw ProbeFailure(error.description)
    }
  }
}
