import CLinux

/// Where to listen on a network: the numeric address of one place, and a port.
struct NetworkAddress: Hashable, Sendable {
  /// IPv4 or IPv6, without brackets.
  let host: String
  let port: Int32

  /// Reads `tcp://ADDRESS:PORT`, where an address of IPv6 stands in brackets.
  ///
  /// A wildcard is refused, as is a name: it must be clear to whom the daemon speaks.
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

  /// The address that a listening socket is bound to; nil for one of another kind, or of all places.
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

  /// The address as libzmq takes it.
  var endpoint: String { "tcp://" + (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
