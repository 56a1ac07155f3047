import CMicroHTTPD

/// Where the exporter is to be asked.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A numeric address of this machine; port 0 for any that is free.
  case network(address: String, port: UInt16)
  /// The path of a Unix socket.
  case local(path: String)

  /// Reads ADDRESS:PORT, [ADDRESS]:PORT or unix:/PATH.
  ///
  /// - Parameters:
  ///   - text: what the option says.
  ///   - allowsRemote: whether others than this machine may be served.
  /// - Throws: what is wrong with it, and what to write instead.
  package init(_ text: String, allowsRemote: Bool) throws(ListenError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/"), path.utf8.count < 108 else {
        throw ListenError("unix: is followed by an absolute path of less than 108 bytes")
      }
      self = .local(path: path)
      return
    }
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { throw ListenError("'\(text)' is not ADDRESS:PORT or unix:/PATH") }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
    }
    let isLoopback = unsafe navd_is_loopback(address)
    guard isLoopback >= 0 else { throw ListenError("'\(address)' is no numeric address") }
    guard isLoopback == 1 || allowsRemote else {
      throw ListenError(
        "\(address) is not this machine alone, and nobody who asks is identified; "
          + "--allow-remote if that is meant")
    }
    self = .network(address: address, port: port)
  }

  /// The address as it is written.
  package var description: String {
    switch self {
    case .network(let address, let port):
      address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    case .local(let path): "unix:\(path)"
    }
  }
}

/// Why an address cannot be used.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  /// One line for people.
  package var description: String

  init(_ description: String) { self.description = description }
}
