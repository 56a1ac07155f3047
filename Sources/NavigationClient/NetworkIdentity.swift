package import CurveKeys
package import NavigationCore
package import RuntimePaths
package import ZeroMQ

/// The keys for a connection over tcp: the client's key pair, and the public key of the daemon.
package struct NetworkIdentity: Hashable, Sendable {
  let serverKey: CurvePublicKey
  let keys: CurveKeyPair

  /// Makes a socket use the keys.
  package func configure(_ socket: borrowing Socket) throws(ZeroMQError) {
    try socket.set(.curveServerKey(serverKey))
    try socket.set(.curvePublicKey(keys.publicKey))
    try socket.set(.curveSecretKey(keys.secretKey))
  }

  /// The keys for a daemon that another one has named; nil for a socket of this machine.
  package func keys(for address: DaemonAddress) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:") else { return nil }
    let key = address.key.flatMap { CurvePublicKey(z85: $0) } ?? serverKey
    return NetworkIdentity(serverKey: key, keys: keys)
  }

  /// Reads the keys for a daemon at tcp:// that one on this machine has named.
  ///
  /// - Returns: nil if the daemon named no key, or `NAVD_KEY` names no key file that can be read.
  static func read(
    for address: DaemonAddress, environment: ProcessEnvironment
  ) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:"), let own = environment["NAVD_KEY"],
      let key = address.key.flatMap({ CurvePublicKey(z85: $0) })
    else { return nil }
    do {
      return NetworkIdentity(serverKey: key, keys: try SecretKeyFile.pair(own))
    } catch {
      // Without keys, the handshake fails, and the client asks for the nav elsewhere.
      return nil
    }
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
