import CLinux

/// A network address to listen on: the numeric address of one interface, and a port.
package struct NetworkAddress: Hashable, Sendable {
  /// The IPv4 or IPv6 address, without brackets.
  package let host: String
  package let port: Int32

  /// Reads `tcp://ADDRESS:PORT`, with brackets around an IPv6 address.
  ///
  /// It refuses wildcards and host names, because the administrator must choose the interface.
  package init?(_ endpoint: String) {
    guard endpoint.hasPrefix("tcp://"), !endpoint.utf8.contains(0),
      let colon = endpoint.lastIndex(of: ":"),
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
  package init?(boundTo descriptor: Int32) {
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
  package var endpoint: String { "tcp://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
