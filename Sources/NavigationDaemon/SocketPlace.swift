import Systemd

/// An address on which the daemon listens.
struct SocketPlace {
  /// The address in the form of libzmq.
  let endpoint: String
  /// The socket that the service manager has opened there; nil if navd opens one.
  private(set) var inherited: InheritedSocket?

  init(_ endpoint: String) { self.endpoint = NetworkAddress(endpoint)?.endpoint ?? endpoint }

  init(_ inherited: InheritedSocket) {
    (endpoint, self.inherited) = (inherited.endpoint, inherited)
  }

  var isNetwork: Bool { endpoint.hasPrefix("tcp:") }

  func open() throws(DaemonError) -> ListeningSocket {
    if let inherited { return try ListeningSocket(inherited) }
    if let address = NetworkAddress(endpoint) { return try ListeningSocket.listen(on: address) }
    return try ListeningSocket.listen(onPath: String(endpoint.dropFirst("ipc://".count)))
  }
}
