import CMicroHTTPD

/// The address on which a server listens.
package enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A numeric address of this machine; for port 0 the kernel chooses a free one.
  case network(address: String, port: UInt16)
  case local(path: String)

  /// Reads ADDRESS:PORT, [ADDRESS]:PORT or unix:/PATH.
  ///
  /// `remoteRefusal` is why an address other than loopback is refused, and what to do instead; nil
  /// if it is permitted.
  package init(_ text: String, remoteRefusal: String?) throws(ListenError) {
    guard !text.utf8.contains(0) else { throw ListenError("an address has no zero byte") }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst("unix:".count))
      guard path.hasPrefix("/"), path.utf8.count < 108 else {
        throw ListenError("unix: needs an absolute path of less than 108 bytes")
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
    guard isLoopback >= 0 else { throw ListenError("'\(address)' is not a numeric address") }
    if isLoopback != 1, let remoteRefusal {
      throw ListenError("other machines can reach \(address), and \(remoteRefusal)")
    }
    self = .network(address: address, port: port)
  }

  /// The address as text, in the form that `init` reads.
  package var description: String {
    switch self {
    case .network(let address, let port):
      address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
    case .local(let path): "unix:\(path)"
    }
  }
}

/// The reason why an address is not accepted.
package struct ListenError: Error, Hashable, Sendable, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }
}
