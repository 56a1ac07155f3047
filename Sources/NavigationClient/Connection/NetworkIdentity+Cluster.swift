package import ZeroMQ
package import NavigationCore
import RuntimePaths

extension NetworkIdentity {
  /// The keys for a daemon that another one has named; nil for a socket of this machine.
  package func keys(for address: DaemonAddress) -> NetworkIdentity? {
    guard address.endpoint.hasPrefix("tcp:") else { return nil }
    let key = address.key.flatMap { CurvePublicKey(z85: $0) } ?? serverKey
    return NetworkIdentity(serverKey: key, keys: keys)
  }

  /// Reads the keys for a daemon at tcp:// that one on this machine has named; nil if it named no
  /// key, or `NAVD_KEY` names no key file that can be read.
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
}
