package import RuntimePaths

/// The keys for a connection over tcp: the client's key pair, and the public key of the daemon.
package struct NetworkIdentity: Hashable, Sendable {
  package let serverKey: CurvePublicKey
  package let keys: CurveKeyPair

  package init(serverKey: CurvePublicKey, keys: CurveKeyPair) {
    (self.serverKey, self.keys) = (serverKey, keys)
  }

  package func configure(_ socket: borrowing Socket) throws(ZeroMQError) {
    try socket.set(.curveServerKey(serverKey))
    try socket.set(.curvePublicKey(keys.publicKey))
    try socket.set(.curveSecretKey(keys.secretKey))
  }

  /// Reads the keys for an address, or for several that commas separate.
  ///
  /// nil as `serverKey`, a public key or the path of its file, means `NAVD_SERVER_KEY`; nil as
  /// `keyFile` means `NAVD_KEY`. The result is nil for sockets of this machine, where the kernel
  /// identifies the client.
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
