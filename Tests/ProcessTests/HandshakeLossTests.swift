import Foundation
import Testing

extension ProcessTests {
  /// A daemon that ends while a client is being greeted, as when it is restarted.
  @Suite struct HandshakeLossTests {
    @Test func `a connection lost during the handshake is made again, not taken for a refusal`()
      throws
    {
      let directory = try TestDirectory()
      let path = directory.path + "/op"
      let former = try RawListener(path)
      let client = try Child(
        Binaries.path("navctl"), ["list", "--timeout", "15s"],
        environment: ["HOME": directory.path, "NAVD_ENDPOINT": "ipc://\(path)"])
      try former.dropOne()
      former.close()
      let daemon = try Child(
        Binaries.path("navd"), ["--listen", "ipc://\(path)", "--state", directory.path + "/state"],
        environment: ["HOME": directory.path])
      defer { daemon.kill(SIGKILL) }
      #expect(try client.ended() == 0, "\(client.transcript)")
    }

    @Test func `a client goes on trying while every connection is dropped`() throws {
      let directory = try TestDirectory()
      let path = directory.path + "/op"
      let listener = try RawListener(path)
      let client = try Child(
        Binaries.path("navctl"), ["list", "--timeout", "1s"],
        environment: ["HOME": directory.path, "NAVD_ENDPOINT": "ipc://\(path)"])
      while client.isRunning { try? listener.dropOne() }
      #expect(try client.ended() != 5, "\(client.transcript)")
    }
  }
}

/// Accepts connections at a path and drops them in the middle of their greeting.
final class RawListener {
  private let path: String
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = UnixAddress.make(path)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0, listen(descriptor, 8) == 0 else {
      throw Failure("cannot listen at \(path): \(errno)")
    }
  }

  deinit { Foundation.close(descriptor) }

  /// Takes one connection, reads what it says first, and ends it; throws after a second without one.
  func dropOne() throws {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&waiting, 1, 1000) == 1 else { throw Failure("nobody connects to \(path)") }
    let peer = accept(descriptor, nil, nil)
    guard peer >= 0 else { throw Failure("cannot accept at \(path): \(errno)") }
    var byte: UInt8 = 0
    _ = unsafe recv(peer, &byte, 1, 0)
    Foundation.close(peer)
  }

  /// Makes room for another listener.
  func close() { unsafe unlink(path) }
}
