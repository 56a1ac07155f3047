package import CurveKeys
package import RuntimePaths
import ZeroMQ

/// What a client proves itself with to a daemon on a network, and which daemon it takes for the right one.
package struct NetworkIdentity: Hashable, Sendable {
  let serverKey: CurvePublicKey
  let keys: CurveKeyPair

  /// Reads what is needed for an endpoint.
  ///
  /// - Parameters:
  ///   - endpoint: where the daemon is.
  ///   - serverKey: the daemon's public key, or a file that holds it; else `NAVD_SERVER_KEY` says it.
  ///   - keyFile: the file of the client's secret key; else `NAVD_KEY` says it.
  ///   - environment: the variables.
  /// - Returns: nil for an endpoint of this machine, where the kernel says who the client is.
  /// - Throws: what is missing, or cannot be read.
  package static func read(
    for endpoint: String, serverKey: String? = nil, keyFile: String? = nil,
    environment: ProcessEnvironment
  ) throws(KeyError) -> NetworkIdentity? {
    guard endpoint.hasPrefix("tcp:") else { return nil }
    guard let server = serverKey ?? environment["NAVD_SERVER_KEY"] else {
      throw KeyError(
        "\(endpoint) needs the daemon's public key: say it with --server-key or NAVD_SERVER_KEY")
    }
    guard let own = keyFile ?? environment["NAVD_KEY"] else {
      throw KeyError(
        "\(endpoint) needs a secret key of ours: name its file with --key or NAVD_KEY, and make one "
          + "with navctl key new FILE")
    }
    return NetworkIdentity(
      serverKey: try SecretKeyFile.publicKey(server), keys: try SecretKeyFile.pair(own))
  }
}
