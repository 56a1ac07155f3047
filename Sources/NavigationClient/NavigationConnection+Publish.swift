package import NavigationCore
import NavigationReplica

extension NavigationConnection {
  /// Carries rows of a nav to the daemon, or asks for the position of a published nav; without a
  /// session.
  ///
  /// After a loss of the connection, the same octets are sent again. If the daemon had taken them, it
  /// then answers `desync` with its position. The caller follows `moved`, because it has a connection
  /// with each daemon.
  ///
  /// - Parameters:
  ///   - request: the request; the function sets its id.
  ///   - rows: the value of `get` `rows`; nil for a request without rows.
  ///   - timeout: how long to wait for the reply.
  /// - Returns: the reply.
  /// - Throws: `noAnswer` after the timeout, or the error of the connection.
  package mutating func publish(
    _ request: PublishRequest, rows: [UInt8]? = nil, timeout: Duration = defaultTimeout
  ) throws(ConnectionError) -> Reply {
    precondition(!hasSession, "rows are carried without a session")
    var request = request
    request.id = takeID()
    let body = ClientMessageWriter.publish(request, rows: rows)
    return try exchange(.publish, request.id, body, until: Deadline(timeout), follows: false)
  }
}
