package import RuntimePaths
package import ZeroMQ

/// The keys for a connection over tcp: the client's key pair, and the public key of the daemon.
package struct NetworkIdentity: Hashable, Sendable {
  /// The public key of the daemon.
  package let serverKey: CurvePublicKey
  /// The client's key pair.
  package let keys: CurveKeyPair

  /// Makes an identity.
  package init(serverKey: CurvePublicKey, keys: CurveKeyPair) {
    (self.serverKey, self.keys) = (serverKey, keys)
  }

  /// Makes a socket use the keys.
  package func configure(_ socket: borrowing Socket) throws(ZeroMQError) {
    try socket.set(.curveServerKey(serverKey))
    try socket.set(.curvePublicKey(keys.publicKey))
    try socket.set(.curveSecretKey(keys.secretKey))
  }

  /// Reads the keys for an address.
  ///
  /// - Parameters:
  ///   - endpoint: the address of the daemon, or several, separated by commas.
  ///   - serverKey: the daemon's public key or a file with it; nil for `NAVD_SERVER_KEY`.
  ///   - keyFile: the file of the client's secret key; nil for `NAVD_KEY`.
  ///   - environment: the environment variables.
  /// - Returns: nil for sockets of this machine, where the kernel identifies the client.
  /// - Throws: `KeyError` if a key is missing or cannot be read.
  package static func read(
    for endpoint: String, serverKey: String? = nil, keyFile: String? = nil,
    environment: ProcessEnvironment
  ) throws(KeyError) -> NetworkIdentity? {
    guard endpoints(in: endpoint).contains(where: { $0.hasPrefix("tcp:") }) else { return nil }
    guard let server = serverKey ?? environment["NAVD_SERVER_KEY"] else {
      throw KeyError(
        "\(endpoint) needs the daemon's public key: give it by --server-key or NAVD_SERVER_KEY")
    }
    guard let own = keyFile ?? environment["NAVD_KEY"] else {
      throw KeyError(
        "\(endpoint) needs this client's secret key: give its file by --key or NAVD_KEY; "
          + "navctl key new FILE creates one")
    }
    return NetworkIdentity(
      serverKey: try SecretKeyFile.publicKey(server), keys: try SecretKeyFile.pair(own))
  }
}
