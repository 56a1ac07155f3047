/// Where a socket is to be.
enum SocketPlace {
  /// A path to listen on.
  case path(String)
  /// An address of a network to listen on.
  case network(NetworkAddress)
  /// A socket that the service manager made.
  case inherited(InheritedSocket)

  /// Reads an endpoint of the configuration, which has been checked.
  init(_ endpoint: String) {
    if let address = NetworkAddress(endpoint) {
      self = .network(address)
    } else {
      self = .path(String(endpoint.dropFirst("ipc://".count)))
    }
  }

  /// The address, as libzmq takes it.
  var endpoint: String {
    switch self {
    case .path(let path): "ipc://" + path
    case .network(let address): address.endpoint
    case .inherited(let socket): socket.endpoint
    }
  }

  /// Whether peers come over a network.
  var isNetwork: Bool {
    switch self {
    case .path: false
    case .network: true
    case .inherited(let socket): if case .network = socket.place { true } else { false }
    }
  }

  /// Whether we are to make a socket at this path.
  func isPath(_ path: String) -> Bool {
    if case .path(path) = self { true } else { false }
  }

  /// Begins to listen.
  func open() throws(DaemonError) -> ListeningSocket {
    switch self {
    case .path(let path): try ListeningSocket.listen(onPath: path)
    case .network(let address): try ListeningSocket.listen(on: address)
    case .inherited(let socket): ListeningSocket(socket)
    }
  }
}
