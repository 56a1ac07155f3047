import Foundation
import Testing

extension ProcessTests {
  /// What navd and a service manager tell each other.
  @Suite struct ServiceManagerTests {
    private static let activator = "/usr/bin/systemd-socket-activate"
    static let hasActivator: Bool = {
      let isThere = FileManager.default.isExecutableFile(atPath: activator)
      if !isThere { print("skipped: there is no \(activator); install systemd") }
      return isThere
    }()

    @Test func `ready is said after the endpoint is bound, stopping before the end`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let path = directory.path + "/op"
      let daemon = try Child(
        Binaries.path("navd"), ["--listen", "ipc://\(path)", "--state", directory.path + "/state"],
        environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"])
      try manager.hears("READY=1")
      // At this moment already.
      _ = try RawConnection(path)
      try manager.hears("STATUS=serving 0 navs on ipc://\(path)")
      for _ in 0..<3 { try manager.hears("WATCHDOG=1") }
      daemon.kill(SIGTERM)
      try manager.hears("STOPPING=1")
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
      // A slow start extends its time, is alive, and shows its progress.
      let early = ["EXTEND_TIMEOUT_USEC=", "WATCHDOG=1", "STATUS="]
      let others = manager.lines.drop { early.contains(where: $0.hasPrefix) }
      #expect(others.first == "READY=1")
    }

    @Test func `nothing is ready when the start fails`() throws {
      let directory = try TestDirectory()
      let manager = try NotifySocket(directory.path + "/notify")
      let daemon = try Child(
        Binaries.path("navd"),
        ["--listen", "ipc://\(directory.path)/none/op", "--state", directory.path + "/state"],
        environment: ["NOTIFY_SOCKET": manager.path])
      #expect(try daemon.ended() == 8)
      #expect(!manager.hasHeard("READY=1"))
    }

    @Test func `a start waits longer after each one that never became ready`() throws {
      let directory = try TestDirectory()
      let environment = ["INVOCATION_ID": "0", "RUNTIME_DIRECTORY": directory.path]
      func start(_ endpoint: String) throws -> Child {
        try Child(
          Binaries.path("navd"),
          [
            "--listen", "ipc://\(directory.path)/\(endpoint)", "--state", directory.path + "/state",
          ],
          environment: environment)
      }
      for pause in [nil, "0.1", "0.2", "0.4"] {
        let failed = try start("none/op")
        #expect(try failed.ended() == 8)
        let waits = failed.standardError.contains("waiting")
        #expect(waits == (pause != nil))
        if let pause { #expect(failed.standardError.contains("failed: waiting for \(pause) s")) }
      }
      for isAfterFailure in [true, false] {
        let daemon = try start("op")
        try daemon.complains("serving 0 navs")
        #expect(daemon.standardError.contains("failed: waiting") == isAfterFailure)
        daemon.kill(SIGKILL)
        try daemon.ended()
      }
    }

    @Test func `a stop ends the wait, and the next start does not wait`() throws {
      let directory = try TestDirectory()
      let mark = directory.path + "/navd.starting"
      try String(repeating: "x", count: 99).write(toFile: mark, atomically: false, encoding: .utf8)
      let daemon = try Child(
        Binaries.path("navd"), ["--state", directory.path + "/state"],
        environment: ["INVOCATION_ID": "0", "RUNTIME_DIRECTORY": directory.path])
      try daemon.complains("failed: waiting for 5.0 s")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
      #expect(!daemon.standardError.contains("serving"))
      #expect(!FileManager.default.fileExists(atPath: mark))
    }

    @Test(.enabled(if: hasActivator, "systemd-socket-activate is not installed"))
    func `a socket of the service manager is served and left in place`() throws {
      let directory = try TestDirectory()
      let path = directory.path + "/op"
      let daemon = try Child(
        Self.activator,
        [
          "--listen=\(path)", Binaries.path("navd"), "--state", directory.path + "/state",
        ], environment: ["HOME": directory.path])
      try daemon.complains("Listening on ")
      let peer = try Peer("ipc://\(path)")
      try peer.create("kiosk")
      #expect(try peer.state("kiosk")["rev"]?.integer == 1)
      try daemon.complains("serving 0 navs on ipc://\(path)")
      daemon.kill(SIGTERM)
      #expect(try daemon.ended() == 0, "\(daemon.transcript)")
      #expect(FileManager.default.fileExists(atPath: path))
    }
  }
}

/// The service manager's end of sd_notify(3).
final class NotifySocket {
  let path: String
  private let descriptor: Int32
  private(set) var lines: [String] = []
  private var heard = 0

  init(_ path: String) throws {
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = UnixAddress.make(path)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw Failure("cannot bind \(path): \(errno)") }
  }

  deinit { close(descriptor) }

  /// Takes one message; false when time is up.
  private func receive(_ milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&descriptor, 1, milliseconds) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe recv(descriptor.fd, $0.baseAddress, $0.count, 0)
    }
    guard count > 0 else { return false }
    lines += String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n").map(
      String.init)
    return true
  }

  /// Waits for a line that begins so, behind those heard before.
  func hears(_ text: String) throws {
    let end = Date(timeIntervalSinceNow: Child.patience)
    while true {
      if let index = lines[heard...].firstIndex(where: { $0.hasPrefix(text) }) {
        heard = index + 1
        return
      }
      let left = end.timeIntervalSinceNow * 1000
      guard left > 0, receive(Int32(left)) else { throw Failure("no \(text) in \(lines)") }
    }
  }

  /// Whether there is a line that begins so.
  func hasHeard(_ text: String) -> Bool {
    while receive(0) {}
    return lines.contains { $0.hasPrefix(text) }
  }
}
