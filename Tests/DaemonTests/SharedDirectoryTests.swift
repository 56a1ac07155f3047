import CLinux
import Foundation
import Journal
import RuntimePaths
import Testing

@testable import NavigationDaemon

/// Directories and files that other users could have made.
@Suite struct SharedDirectoryTests {
  private static let manager = FileManager.default

  /// Takes the lock of a socket in a directory; returns the refusal, or nil.
  private func refusal(_ directory: String) -> String? {
    do {
      _ = try EndpointLock.take(directory + "/s")
      return nil
    } catch {
      return error.description
    }
  }

  @Test(
    arguments: [0o700, 0o755, 0o1777, 0o1770, 0o777, 0o770, 0o775, 0o757, 0o2775])
  func `a socket is in no directory where other users could replace it`(mode: Int) throws {
    try withTemporaryDirectory { root in
      let path = root + "/d"
      try Self.manager.createDirectory(atPath: path, withIntermediateDirectories: false)
      try Self.manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      try Self.manager.createSymbolicLink(atPath: root + "/l", withDestinationPath: path)
      let isSafe = mode & 0o022 == 0 || mode & 0o1000 != 0
      for name in [path, root + "/l"] {
        #expect((refusal(name) == nil) == isSafe, "\(name)")
        if !isSafe {
          #expect(refusal(name)?.contains("other users can write it") == true)
          #expect(refusal(name)?.hasSuffix("chmod go-w \(name)") == true)
        }
      }
      #expect(Self.manager.fileExists(atPath: path + "/s.lock") == isSafe)
    }
  }

  @Test(
    .enabled(if: geteuid() == 0, "only root can give a directory away"),
    arguments: [(1, "runuser -u daemon -- "), (4711, "chown 0 ")] as [(Int, String)])
  func `socket and journal are in no directory of another user, and root is told the way`(
    owner: Int, remedy: String
  ) throws {
    try withTemporaryDirectory { root in
      try Self.manager.setAttributes(
        [.ownerAccountID: owner, .posixPermissions: 0o1755], ofItemAtPath: root)
      let reason = "it belongs to user \(owner), not to root or user 0"
      for text in [refusal(root), journalRefusal(root)] {
        #expect(text?.contains(reason) == true && text?.contains(remedy) == true, "\(text ?? "")")
      }
      // A chown would take the directory away from the daemon that serves there.
      let descriptor = unsafe navd_listen_unix(root + "/s", 1)
      #expect(refusal(root)?.contains("process \(getpid()) listens there: stop that") == true)
      close(descriptor)
      try Self.manager.removeItem(atPath: root + "/s")
      #expect(try Self.manager.contentsOfDirectory(atPath: root).isEmpty)
    }
  }

  /// Opens a journal in a directory; returns the refusal, or nil.
  private func journalRefusal(_ directory: String) -> String? {
    do {
      try Journal.open(
        directory: directory, durability: .relaxed, bootID: "b", retention: Retention.standard,
        holder: "a test"
      ).close()
      return nil
    } catch {
      return error.description
    }
  }

  @Test(arguments: [0o700, 0o750, 0o755, 0o770, 0o702, 0o1777])
  func `a journal is in no directory where other users could put files`(mode: Int) throws {
    try withTemporaryDirectory { root in
      try Self.manager.setAttributes([.posixPermissions: mode], ofItemAtPath: root)
      // In a shared directory, somebody could put a log beside the journal before SQLite does.
      #expect((journalRefusal(root) == nil) == (mode & 0o022 == 0))
    }
  }

  @Test func `a lock that is somebody else's link is not written`() throws {
    try withTemporaryDirectory { root in
      let victim = root + "/victim"
      for isLink in [true, false] {
        try "contents".write(toFile: victim, atomically: false, encoding: .utf8)
        let lock = root + "/s.lock"
        try? Self.manager.removeItem(atPath: lock)
        if isLink {
          try Self.manager.createSymbolicLink(atPath: lock, withDestinationPath: victim)
        } else {
          try Self.manager.linkItem(atPath: victim, toPath: lock)
        }
        #expect(refusal(root)?.contains("cannot create \(lock): ") == true)
        #expect(refusal(root)?.hasSuffix("remove it") == true)
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "contents")
      }
      try Self.manager.removeItem(atPath: root + "/s.lock")
      #expect(unsafe mkfifo(root + "/s.lock", 0o666) == 0)
      #expect(refusal(root) != nil)
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
  func `a lock that another user owns is not taken`() throws {
    try withTemporaryDirectory { root in
      #expect(refusal(root) == nil)
      #expect(unsafe chown(root + "/s.lock", 4711, 4711) == 0)
      #expect(refusal(root)?.hasSuffix("remove it") == true)
    }
  }
}
