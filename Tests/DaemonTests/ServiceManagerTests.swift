import CLinux
import Foundation
import Glibc
import RuntimePaths
import Testing

@testable import Systemd

@Suite struct ServiceManagerTests {
  @Test func `notifications are written as sd_notify expects them`() {
    #expect(ServiceNotification.ready.assignment == "READY=1")
    #expect(ServiceNotification.stopping.assignment == "STOPPING=1")
    #expect(ServiceNotification.watchdog.assignment == "WATCHDOG=1")
    #expect(
      ServiceNotification.extendTimeout(milliseconds: 1500).assignment
        == "EXTEND_TIMEOUT_USEC=1500000")
  }

  @Test func `a status cannot smuggle in another assignment`() {
    #expect(ServiceNotification.status("a\nREADY=1").assignment == "STATUS=a READY=1")
  }

  @Test func `the loop reports in half the time the unit allows`() {
    #expect(ServiceManager.watchdogInterval(allowedMicroseconds: 30_000_000) == 15_000)
    #expect(ServiceManager.watchdogInterval(allowedMicroseconds: 1) == 1)
  }

  @Test func `without a service manager there is nothing to take and nothing to tell`() throws {
    #expect(try ServiceManager.inheritedSockets() == [])
    #expect(try ServiceManager.watchdogInterval() == nil)
    try ServiceManager.notify([.ready, .status("serving")])
  }

  @Test(
    arguments: [
      ([:], false), (["LISTEN_FDS": "1", "LISTEN_PID": "7"], false),
      (["LISTEN_FDS": "1", "LISTEN_PID": "8"], true), (["LISTEN_PID": "8"], false),
      (["LISTEN_FDS": "1", "LISTEN_PID": "x"], true),
    ] as [([String: String], Bool)])
  func `sockets that were passed to another process are worth a warning`(
    variables: [String: String], isWarned: Bool
  ) {
    let text = ServiceManager.warning(about: ProcessEnvironment(variables), process: 7)
    #expect((text != nil) == isWarned)
  }

  @Test func `a listening Unix socket is taken with its path`() throws {
    try withTemporaryDirectory { root in
      let path = root + "/navd.sock"
      let descriptor = try #require(unixSocket(at: path, listening: true))
      defer { close(descriptor) }
      #expect(
        try ServiceManager.inspect(descriptor, name: "navd")
          == InheritedSocket(descriptor: descriptor, endpoint: "ipc://\(path)"))
    }
  }

  @Test func `a socket that does not listen is refused`() throws {
    try withTemporaryDirectory { root in
      let descriptor = try #require(unixSocket(at: root + "/navd.sock", listening: false))
      defer { close(descriptor) }
      #expect(
        throws: PassedSocketError.notAListeningSocket(name: "navd", descriptor: descriptor)
      ) {
        try ServiceManager.inspect(descriptor, name: "navd")
      }
    }
  }

  private func unixSocket(at path: String, listening: Bool) -> Int32? {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size)
      }
    }
    guard bound == 0, !listening || listen(descriptor, 1) == 0 else { return nil }
    return descriptor
  }
}
