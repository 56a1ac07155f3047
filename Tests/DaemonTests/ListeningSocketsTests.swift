import CLinux
import Foundation
import Testing
import TransportGuard

@testable import NavigationDaemon

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
      try sockets.admit(configuration)
      #expect(try paths.map(mode) == [0o666, 0o666])
      configuration.daemon.socketGroup = "no-such-group-here"
      #expect(throws: DaemonError.self) { try sockets.admit(configuration) }
    }
  }

  @Test func `a path that another process took is restored, and the log says so`() throws {
    try withSockets { sockets, paths in
      let own = try #require(FileIdentity(of: paths[0]))
      #expect(sockets.reclaim().isEmpty)
      #expect(!isReadable(sockets.watch.descriptor))
      try FileManager.default.removeItem(atPath: paths[0])
      try "other".write(toFile: paths[0], atomically: false, encoding: .utf8)
      #expect(isReadable(sockets.watch.descriptor))
      let entries = sockets.reclaim()
      #expect(
        entries.map(\.message) == [
          "another process replaced ipc://\(paths[0]); navd has restored it"
        ])
      #expect(entries.map(\.level) == [.error] && entries.map(\.kind) == [.refused])
      #expect(FileIdentity(of: paths[0]) == own)
      #expect(sockets.reclaim().isEmpty)
      #expect(!isReadable(sockets.watch.descriptor))
    }
  }

  @Test func `a path is restored as long as the second name of the socket is there`() throws {
    try withSockets { sockets, paths in
      try FileManager.default.removeItem(atPath: paths[1])
      #expect(sockets.reclaim().map(\.level) == [.error])
      #expect(FileIdentity(of: paths[1]) != nil)
      for path in [paths[1], paths[1] + ".own"] {
        try FileManager.default.removeItem(atPath: path)
      }
      let entries = sockets.reclaim()
      #expect(entries.count == 1)
      #expect(entries.first?.message.hasPrefix("cannot restore ipc://\(paths[1]),") == true)
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
        #expect(throws: DaemonError.self) { try sockets.admit(configuration) }
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
