import CurveKeys
import NavigationClient

/// A daemon, with a connection that is opened when it is needed, and again after a failure.
final class Place {
  /// How long to wait for a connection.
  private static let patience = Duration.seconds(2)

  /// The address of the daemon, or several, separated by commas.
  let endpoint: String
  private let identity: NetworkIdentity?
  private var connection: NavigationConnection?

  init(_ endpoint: String, as identity: NetworkIdentity?) {
    self.endpoint = endpoint
    self.identity = identity
  }

  /// Uses the connection; an error closes it.
  func use<Value>(
    _ body: (inout NavigationConnection) throws(ConnectionError) -> Value
  ) throws(ConnectionError) -> Value {
    var connection = try opened()
    let value = try body(&connection)
    // A late reply can arrive on a connection after a timeout, so that one is not kept.
    self.connection = consume connection
    return value
  }

  private func opened() throws(ConnectionError) -> NavigationConnection {
    if let connection = connection.take() { return connection }
    return try NavigationConnection.connect(
      to: endpoint, as: identity, name: "navd-publish", timeout: Self.patience)
  }
}
