import CLinux

/// An address on which the daemon listens, by its origin.
enum SocketPlace {
  /// A path to listen on.
  case path(String)
  /// A network address to listen on.
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

  /// Whether clients connect over a network.
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

  /// Opens the listening socket.
  func open() throws(DaemonError) -> ListeningSocket {
    switch self {
    case .path(let path): try ListeningSocket.listen(onPath: path)
    case .network(let address): try ListeningSocket.listen(on: address)
    case .inherited(let socket): ListeningSocket(socket)
    }
  }
}

/// A network address to listen on: the numeric address of one interface, and a port.
struct NetworkAddress: Hashable, Sendable {
  /// The IPv4 or IPv6 address, without brackets.
  let host: String
  let port: Int32

  /// Reads `tcp://ADDRESS:PORT`, with brackets around an IPv6 address.
  ///
  /// It refuses wildcards and host names, because the administrator must choose the interface.
  init?(_ endpoint: String) {
    guard endpoint.hasPrefix("tcp://"), let colon = endpoint.lastIndex(of: ":"),
      let port = UInt16(endpoint[endpoint.index(after: colon)...]), port > 0,
      endpoint[endpoint.index(after: colon)] != "+"
    else { return nil }
    var host = String(endpoint[..<colon].dropFirst("tcp://".count))
    let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
    if isBracketed { host = String(host.dropFirst().dropLast()) }
    guard isBracketed == host.contains(":"), unsafe navd_is_named_address(host) == 1 else {
      return nil
    }
    self.host = host
    self.port = Int32(port)
  }

  /// The address of a listening socket; nil for another kind of socket, or for a wildcard.
  init?(boundTo descriptor: Int32) {
    var bytes = [CChar](repeating: 0, count: 64)
    var port: Int32 = 0
    let length = unsafe bytes.withUnsafeMutableBufferPointer {
      unsafe navd_tcp_socket_address(descriptor, $0.baseAddress, Int32($0.count), &port)
    }
    guard length > 0 else { return nil }
    let host = String(
      decoding: bytes[..<Int(length)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard unsafe navd_is_named_address(host) == 1 else { return nil }
    self.host = host
    self.port = port
  }

  /// The address in the form of libzmq.
  var endpoint: String { "tcp://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
