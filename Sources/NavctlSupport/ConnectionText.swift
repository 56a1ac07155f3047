package import RuntimePaths

/// The error texts for a daemon that cannot be reached, does not answer, or refuses a connection.
package enum ConnectionText {
  /// The exit status where no daemon answers.
  package static let noDaemonStatus: Int32 = 7

  /// Lines for a daemon that cannot be reached.
  package static func unreachable(_ endpoint: String) -> [String] {
    ["no-daemon: nothing answers at \(endpoint)", isLocal(endpoint) ? startRemedy : networkRemedy]
  }

  /// Lines for a socket that this user may not connect to.
  package static func closed(_ endpoint: String) -> [String] {
    [
      "forbidden: this user may not connect to \(endpoint)",
      "try: join the socket-group that navd.conf(5) names; another address with --endpoint",
    ]
  }

  /// Lines for a client that the daemon authenticated and grants nothing.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is.
  ///   - key: the public key of the client; nil on a socket of this machine.
  /// - Returns: what is wrong, and the next command.
  package static func unauthorised(_ endpoint: String, key: String?) -> [String] {
    guard let key else {
      return [
        "not-admitted: navd at \(endpoint) grants nothing to this user",
        "try: a line role = ui uid:N in [access] of navd.conf(5), with N from id -u; then",
        "systemctl reload navd",
      ]
    }
    return [
      "not-admitted: navd at \(endpoint) does not accept this client's key",
      "the key is not authorised there, or it was revoked, or it has no role and no grant",
      "try: on navd's machine: navctl key authorize NAME '\(key)' --role ui",
    ]
  }

  /// Lines for a daemon that serves as many connections as it may.
  package static func full(_ endpoint: String) -> [String] {
    [
      "too-many-connections: navd at \(endpoint) had no room for another one in time",
      "try: --timeout 60s, which waits for room; end programs of this user that are connected;",
      "raise connections or connections-per-principal in navd.conf(5)",
    ]
  }

  /// Lines for a handshake that failed.
  ///
  /// - Parameters:
  ///   - endpoint: what was connected to.
  ///   - serverKey: the public key that the daemon should have; nil on a socket of this machine.
  /// - Returns: what is wrong, and the next command.
  package static func brokenHandshake(_ endpoint: String, serverKey: String?) -> [String] {
    guard let serverKey else {
      return ["protocol: what answers at \(endpoint) is no navd", "try: navctl doctor"]
    }
    return [
      "wrong-server-key: what answers at \(endpoint) is not the navd with the key",
      serverKey,
      "try: on navd's machine: navctl key public FILE, where FILE is secret-key of navd.conf(5);",
      "then here: --server-key KEY, or NAVD_SERVER_KEY",
    ]
  }

  /// Lines for a session that the daemon has ended.
  package static func dismissed(_ why: String) -> [String] {
    guard why == "revoked" else { return ["\(why): navd ended the session", "try: again"] }
    return [
      "revoked: the key of this client is not authorised any more; navd ended the session",
      "try: on navd's machine: navctl key list, then navctl key authorize NAME PUBLIC-KEY",
    ]
  }

  /// Lines where no socket of a daemon was found, one for each path that was looked at.
  package static func notFound(_ tried: [PathError.Tried]) -> [String] {
    ["no-daemon: no running navd found"]
      + tried.map { "looked at \($0.path): \($0.finding)" } + [startRemedy]
  }

  /// Lines for a daemon that is there and did not answer in time.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is.
  ///   - isChange: whether a change was asked for, which may have been made.
  /// - Returns: what is known, and the next command.
  package static func timeout(_ endpoint: String, isChange: Bool) -> [String] {
    guard isChange else {
      return [
        "timeout: navd at \(endpoint) did not answer in time",
        "try: again with --timeout 30s; navctl doctor says what navd is waiting for",
      ]
    }
    return [
      "timeout: navd at \(endpoint) did not answer in time; the change may have been made",
      "try: navctl show NAV, which shows whether it was; --timeout 30s gives it more time",
    ]
  }

  private static func isLocal(_ endpoint: String) -> Bool { endpoint.hasPrefix("ipc:") }

  private static let startRemedy =
    "try: systemctl start navd, or run navd; another address with --endpoint or NAVD_ENDPOINT"
  private static let networkRemedy =
    "try: systemctl status navd on that machine; another address with --endpoint or NAVD_ENDPOINT"
}
