import Foundation

/// Passes one connection on to a port of this machine, and keeps what its client sends.
final class RecordingProxy: @unchecked Sendable {
  /// Guards everything that changes.
  private let lock = NSLock()
  private var parts: [[UInt8]] = []
  private var target: RawConnection?
  private let listener: Int32
  let port: UInt16

  init(to server: UInt16) throws {
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    port = try FreePort.bind(listener)
    guard listen(listener, 4) == 0 else { throw Failure("cannot listen: \(errno)") }
    Thread.detachNewThread { self.serve(server) }
  }

  deinit { close(listener) }

  /// What the client sent so far, as it came.
  var recorded: [[UInt8]] { lock.withLock { parts } }

  /// Sends octets in the client's name.
  func inject(_ octets: [UInt8]) { lock.withLock { target }?.sendAll(octets) }

  private func serve(_ port: UInt16) {
    let client = accept(listener, nil, nil)
    guard client >= 0, let target = try? RawConnection(port: port) else { return }
    lock.withLock { self.target = target }
    let server = target.descriptor
    Thread.detachNewThread {
      self.pass(from: server, to: client) { _ in }
      shutdown(client, Int32(SHUT_RDWR))
    }
    pass(from: client, to: server) { part in self.lock.withLock { self.parts.append(Array(part)) } }
    close(client)
  }

  private func pass(
    from source: Int32, to destination: Int32, _ note: (ArraySlice<UInt8>) -> Void
  ) {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe recv(source, $0.baseAddress, $0.count, 0)
      }
      guard count > 0 else { return }
      note(chunk[..<count])
      let sent = unsafe chunk.withUnsafeBytes {
        unsafe send(destination, $0.baseAddress, count, Int32(MSG_NOSIGNAL))
      }
      guard sent == count else { return }
    }
  }
}
