import NavigationCore
import RuntimePaths

/// The error texts for a daemon that cannot be reached, does not answer, or refuses a connection.
enum ConnectionErrorText {
  static let noDaemonStatus: Int32 = 7

  /// The error lines if no address answers; `kind` is the kind of the socket's file: inner nil if
  /// there is no file, outer nil for a network address.
  static func unreachable(
    _ endpoint: String, findings: [(address: String, kind: FileStatus.Kind??)] = []
  ) -> [String] {
    let remedy = endpoint.hasPrefix("ipc:") ? startRemedy : networkRemedy
    guard findings.count > 1 else { return ["no-daemon: nothing answers at \(endpoint)", remedy] }
    return ["no-daemon: nothing answers at \(findings.count) addresses"]
      + findings.map { address, kind in
        let finding =
          switch kind {
          case nil: "no answer in time"
          case .some(nil): "no such file"
          case .some(.socket): "a socket, at which no program answers"
          case .some(let kind?): kind.rawValue
          }
        return "\(address): \(finding)"
      } + [remedy]
  }

  static func noPermission(_ denial: SocketAccessDenial) -> [String] {
    ["forbidden: \(denial.reason)", "try: \(denial.remedy); another address: --endpoint"]
  }

  /// The error lines if navd does not admit the client; `key` is nil on a socket of this machine.
  static func unauthorised(_ endpoint: String, key: String?) -> [String] {
    guard let key else {
      return [
        "not-admitted: navd at \(endpoint) grants nothing to this user",
        "try: a line role = ui uid:N in [access] of navd.conf(5), with N from id -u; then",
        "systemctl reload navd",
      ]
    }
    return [
      "not-admitted: navd at \(endpoint) does not accept this client's key",
      "the key is not authorised, was revoked, or has neither a role nor a grant",
      "try: on navd's machine: navctl key authorize NAME '\(key)' --role ui",
    ]
  }

  /// The error for a daemon that was at its limit of connections until the timeout.
  static func tooManyConnections(_ endpoint: String) -> [String] {
    [
      "too-many-connections: navd at \(endpoint) reached its limit of connections",
      "try: --timeout 60s, which retries longer; end connected programs of this user;",
      "raise connections or connections-per-principal in navd.conf(5)",
    ]
  }

  /// The error lines if the peer is not the expected navd; `serverKey` is nil on a local socket.
  static func brokenHandshake(_ endpoint: String, serverKey: String?) -> [String] {
    guard let serverKey else {
      return ["protocol: the program at \(endpoint) is not navd", "try: navctl doctor"]
    }
    return [
      "wrong-server-key: the program at \(endpoint) is not the navd with the key", serverKey,
      "try: on navd's machine: navctl key public FILE, where FILE is secret-key of navd.conf(5);",
      "then here: --server-key KEY, or NAVD_SERVER_KEY",
    ]
  }

  static func sessionEnded(_ why: String) -> [String] {
    guard why == "revoked" else { return ["\(why): navd ended the session", "try: again"] }
    return [
      "revoked: the key of this client is no longer authorised; navd ended the session",
      "try: on navd's machine: navctl key list, then navctl key authorize NAME PUBLIC-KEY",
    ]
  }

  static func noDaemonFound(_ tried: [PathError.Tried]) -> [String] {
    ["no-daemon: no running navd found"]
      + tried.map { "tried \($0.path): \($0.reason)" } + [startRemedy]
  }

  /// The error lines if navd does not answer in time; if `isChange`, it may have made the change.
  static func timeout(_ endpoint: String, isChange: Bool) -> [String] {
    guard isChange else {
      return [
        "timeout: navd at \(endpoint) did not answer in time",
        "try: again with --timeout 30s; navctl doctor, to find the cause",
      ]
    }
    return [
      "timeout: navd at \(endpoint) did not answer in time; it may have made the change",
      "try: navctl show NAV, to see whether it did; again with --timeout 30s",
    ]
  }

  private static let startRemedy =
    "try: systemctl restart navd.socket, or run navd; another address: --endpoint or NAVD_ENDPOINT"
  private static let networkRemedy =
    "try: systemctl status navd on that machine; another address: --endpoint or NAVD_ENDPOINT"
}
