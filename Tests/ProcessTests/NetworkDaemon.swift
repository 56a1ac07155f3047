import ZeroMQ
import Foundation
import NavigationClient
import Testing

/// A navd that also serves a network, with keys that tests authorise.
final class NetworkDaemon {
  let keys: TestDirectory
  let daemon: TestDaemon
  /// Where it is on the network.
  let endpoint: String
  let port: UInt16
  let server: CurvePublicKey

  /// Starts a daemon; `lines` follow in its configuration.
  ///
  /// The kernel chooses a free port, which somebody else may take before the daemon does.
  init(
    _ lines: String = "", authorized: [String: (CurveKeyPair, String?)] = [:],
    descriptors: Int? = nil
  ) throws {
    keys = try TestDirectory()
    server = try SecretKeyFile.create("\(keys.path)/navd.key")
    let directory = KeyDirectory(path: "\(keys.path)/keys")
    for (name, (pair, role)) in authorized {
      try directory.authorize(AuthorizedKey(name: name, publicKey: pair.publicKey, role: role))
    }
    let access = "[access]\nsecret-key = \(keys.path)/navd.key\nkeys = \(keys.path)/keys\n"
    var attempts = 0
    while true {
      attempts += 1
      let port = try FreePort.find()
      do {
        daemon = try TestDaemon(
          ["--listen", "tcp://127.0.0.1:\(port)"], configuration: access + lines,
          descriptors: descriptors)
        self.port = port
        endpoint = "tcp://127.0.0.1:\(port)"
        return
      } catch  where attempts < 5 && "\(error)".contains("in use") {}
    }
  }

  var directory: KeyDirectory { KeyDirectory(path: "\(keys.path)/keys") }

  func authorize(_ name: String, _ pair: CurveKeyPair, role: String? = nil) throws {
    try directory.authorize(AuthorizedKey(name: name, publicKey: pair.publicKey, role: role))
  }

  /// A raw peer over the network.
  func peer(_ pair: CurveKeyPair) throws -> Peer {
    try Peer(endpoint, as: pair, server: server)
  }

  /// Starts navctl with a secret key over the network.
  func startNavctl(_ words: [String], key file: String) throws -> Child {
    try daemon.startNavctl(
      words,
      environment: [
        "NAVD_ENDPOINT": endpoint, "NAVD_SERVER_KEY": "\(server)", "NAVD_KEY": file,
      ])
  }

  /// Runs navctl with a secret key over the network.
  func navctl(
    _ words: [String], key file: String
  ) throws -> (status: Int32, output: String, errors: String) {
    let child = try startNavctl(words, key: file)
    child.closeInput()
    let status = try child.ended()
    return (status, child.standardOutput, child.standardError)
  }
}

/// Ports that nobody listens on.
enum FreePort {
  static func find() throws -> UInt16 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return try bind(descriptor)
  }

  /// Binds a socket to a port of this machine that the kernel chooses.
  static func bind(_ descriptor: Int32) throws -> UInt16 {
    var address = InternetAddress.loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Foundation.bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw Failure("no free port: \(errno)") }
    return UInt16(bigEndian: address.sin_port)
  }
}

/// Addresses of this machine on the internet.
enum InternetAddress {
  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }
}
