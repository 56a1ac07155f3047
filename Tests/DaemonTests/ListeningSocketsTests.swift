import CLinux
import Foundation
import Testing
import TransportGuard

@testable import NavigationDaemon
@testable import Systemd

@Suite struct ListeningSocketsTests {
  /// Lends two sockets that listen at paths, and the paths.
  private func withSockets(_ body: (ListeningSockets, [String]) throws -> Void) throws {
    try withTemporaryDirectory { root in
      let paths = [root + "/a.sock", root + "/b.sock"]
      try body(ListeningSockets(try paths.map { try ListeningSocket.listen(onPath: $0) }), paths)
    }
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `libzmq is lent all of them, and others connect once the files are open to them`()
    throws
  {
    try withSockets { sockets, paths in
      #expect(sockets.lent.map(\.endpoint) == paths.map { "ipc://" + $0 })
      #expect(sockets.lent.allSatisfy { $0.kind == .local && $0.descriptor >= 0 })
      #expect(try paths.map(mode) == [0o600, 0o600])
      var configuration = Configuration()
      configuration.daemon.socketMode = 0o666
      try sockets.setFilePermissions(configuration)
      #expect(try paths.map(mode) == [0o666, 0o666])
      configuration.daemon.socketGroup = "no-such-group-here"
      #expect(throws: DaemonError.self) { try sockets.setFilePermissions(configuration) }
    }
  }

  @Test func `a path that another process took is restored, and the log says so`() throws {
    try withSockets { sockets, paths in
      var sockets = sockets
      let own = try #require(FileIdentity(of: paths[0]))
      #expect(sockets.restorePaths().isEmpty)
      #expect(!isReadable(sockets.watch.descriptor))
      try FileManager.default.removeItem(atPath: paths[0])
      try "other".write(toFile: paths[0], atomically: false, encoding: .utf8)
      #expect(isReadable(sockets.watch.descriptor))
      let entries = sockets.restorePaths()
      #expect(
        entries.map(\.message) == [
          "another process replaced ipc://\(paths[0]); navd has restored it"
        ])
      #expect(entries.map(\.level) == [.error] && entries.map(\.kind) == [.clientRefused])
      #expect(FileIdentity(of: paths[0]) == own)
      #expect(sockets.restorePaths().isEmpty)
      #expect(!isReadable(sockets.watch.descriptor))
    }
  }

  @Test func `a path is restored as long as the second name of the socket is there`() throws {
    try withSockets { sockets, paths in
      var sockets = sockets
      try FileManager.default.removeItem(atPath: paths[1])
      #expect(sockets.restorePaths().map(\.level) == [.error])
      #expect(FileIdentity(of: paths[1]) != nil)
      for path in [paths[1], paths[1] + ".own"] {
        try FileManager.default.removeItem(atPath: path)
      }
      let entries = sockets.restorePaths()
      #expect(entries.count == 1)
      #expect(entries.first?.message.hasPrefix("cannot restore ipc://\(paths[1]),") == true)
      #expect(sockets.problem == entries.first?.message)
      #expect(sockets.restorePaths().isEmpty && sockets.problem != nil)
    }
  }

  @Test func `each path that cannot be restored is in the log once`() throws {
    try withSockets { sockets, paths in
      var sockets = sockets
      for path in paths {
        for name in [path, path + ".own"] { try FileManager.default.removeItem(atPath: name) }
        let messages = sockets.restorePaths().map(\.message)
        #expect(messages.count == 1)
        #expect(messages.first?.hasPrefix("cannot restore ipc://\(path),") == true)
        #expect(sockets.restorePaths().isEmpty)
      }
    }
  }

  /// A socket of systemd at a path: it listens, and this process may have it.
  private func withInherited(
    _ body: (InheritedSocket, String, ListeningSocket) throws -> Void
  ) throws {
    try withTemporaryDirectory { root in
      let path = root + "/navd.sock"
      let descriptor = unsafe navd_listen_unix(path, 64)
      let passed = try ServiceManager.inspect(descriptor, name: "navd")
      try body(passed, path, try ListeningSocket(passed))
      close(descriptor)
    }
  }

  @Test func `nobody else listens at the path of an inherited socket, with navd or without it`()
    throws
  {
    try withInherited { passed, path, socket in
      #expect(socket.isInherited && socket.path == path && !socket.isDisplaced)
      let file = FileIdentity(of: path)
      #expect(throws: DaemonError.self) { try ListeningSocket.listen(onPath: path) }
      #expect(throws: DaemonError.self) { try ListeningSocket(passed) }
      #expect(FileIdentity(of: path) == file)
    }
    // The lock ended with that navd, but the service manager goes on listening.
    try withTemporaryDirectory { root in
      let path = root + "/navd.sock"
      let descriptor = unsafe navd_listen_unix(path, 64)
      do throws(DaemonError) {
        _ = try ListeningSocket.listen(onPath: path)
        Issue.record("it listens")
      } catch {
        #expect(error.description.contains("process \(getpid()) listens there: stop that process"))
      }
      close(descriptor)
      // What a process left behind that is gone keeps nobody away.
      ListeningSockets([try ListeningSocket.listen(onPath: path)]).removeFiles()
    }
  }

  @Test(arguments: [true, false])
  func `the path of an inherited socket is restored, or systemd's unit is to be restarted`(
    hasSecondName: Bool
  ) throws {
    try withInherited { _, path, socket in
      var sockets = ListeningSockets([socket])
      if !hasSecondName { try FileManager.default.removeItem(atPath: path + ".own") }
      try FileManager.default.removeItem(atPath: path)
      let messages = sockets.restorePaths().map(\.message)
      #expect(messages.count == 1 && (sockets.problem == nil) == hasSecondName)
      #expect((FileIdentity(of: path) == socket.file) == hasSecondName)
      if let problem = sockets.problem {
        #expect(messages == [problem] && problem.hasSuffix("; systemctl restart navd.socket"))
      }
      // The service manager keeps the path at the end.
      sockets.removeFiles()
      #expect((FileIdentity(of: path) != nil) == hasSecondName)
      #expect(FileIdentity(of: path + ".own") == nil)
    }
  }

  @Test func `a dead file at the path of an inherited socket is not taken for its own`() throws {
    try withInherited { passed, path, _ in
      try FileManager.default.removeItem(atPath: path)
      close(unsafe navd_listen_unix(path, 1))
      try FileManager.default.removeItem(atPath: path + ".lock")
      #expect(try ListeningSocket(passed).isDisplaced)
    }
  }

  @Test func `another file at the path is not opened to others`() throws {
    try withSockets { sockets, paths in
      let victim = paths[0] + ".victim"
      try "secret".write(toFile: victim, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: victim)
      var configuration = Configuration()
      configuration.daemon.socketMode = 0o660
      for isLink in [true, false] {
        try FileManager.default.removeItem(atPath: paths[0])
        if isLink {
          try FileManager.default.createSymbolicLink(atPath: paths[0], withDestinationPath: victim)
        } else {
          try FileManager.default.linkItem(atPath: victim, toPath: paths[0])
        }
        #expect(throws: DaemonError.self) { try sockets.setFilePermissions(configuration) }
        #expect(try mode(victim) == 0o600)
      }
    }
  }

  @Test func `at the end the files are gone`() throws {
    try withSockets { sockets, paths in
      sockets.removeFiles()
      for path in paths + paths.map({ $0 + ".own" }) {
        #expect(FileIdentity(of: path) == nil, "\(path)")
      }
    }
  }
}
