import NavigationCore
import Systemd

/// An address on which the daemon listens, by its origin.
enum SocketPlace {
  case path(String)
  case network(NetworkAddress)
  /// A socket that the service manager has opened.
  case inherited(InheritedSocket)

  /// Makes a place from an endpoint of a checked configuration.
  init(_ endpoint: String) {
    if let address = NetworkAddress(endpoint) {
      self = .network(address)
    } else {
      self = .path(String(endpoint.dropFirst("ipc://".count)))
    }
  }

  /// The address in the form of libzmq.
  var endpoint: String {
    switch self {
    case .path(let path): "ipc://" + path
    case .network(let address): address.endpoint
    case .inherited(let socket): socket.endpoint
    }
  }

  var isNetwork: Bool {
    switch self {
    case .path: false
    case .network: true
    case .inherited(let socket): if case .network = socket.place { true } else { false }
    }
  }

  /// Whether navd itself creates the socket at this path.
  func isPath(_ path: String) -> Bool {
    if case .path(path) = self { true } else { false }
  }

  func open() throws(DaemonError) -> ListeningSocket {
    switch self {
    case .path(let path): try ListeningSocket.listen(onPath: path)
    case .network(let address): try ListeningSocket.listen(on: address)
    case .inherited(let socket): try ListeningSocket(socket)
    }
  }
}
