import Navigation
import NavigationClient
import NavigationSync
import RuntimePaths

/// Asks a daemon over its socket, with a connection that is kept between requests.
///
/// One question takes two seconds and a half at most. After one that failed, others fail for a moment
/// without asking, so that those who wait behind it are answered in that time too.
struct ConnectionProbe: DaemonProbe, ~Copyable {
  /// How long to wait for a connection, and then for an answer.
  private static let patience = Duration.seconds(1)
  /// Milliseconds for which a failure holds.
  private static let failureAge: UInt64 = 1000

  private let rules: PathRules
  private let endpoint: String?
  private var connection: NavigationConnection?
  private var failure: (until: UInt64, reason: String)?

  /// Asks the daemon at `endpoint`, else the one that `rules` find, whenever it connects.
  init(endpoint: String?, rules: PathRules) {
    self.endpoint = endpoint
    self.rules = rules
  }

  mutating func statistics() throws(ProbeFailure) -> DaemonStatistics {
    let reply = try ask { connection throws(ConnectionError) in
      try connection.get(
        GetRequest(id: 0, nav: nil, what: .stats), timeout: Self.patience)
    }
    switch reply.result {
    case .success(let answer):
      do throws(JSONError) {
        return try DaemonStatistics(json: answer.value?.bytes ?? Array("{}".utf8))
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
      // Kept only after an answer: one that did not answer in time is made anew.
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
