import Foundation

/// A stream connection to a socket's path that sends any octets.
final class RawConnection {
  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = UnixAddress.make(path)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else { throw Failure("cannot connect to \(path): \(errno)") }
  }

  deinit { close(descriptor) }

  /// Sends as much as is taken at once.
  func send(_ bytes: [UInt8]) {
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    _ = unsafe bytes.withUnsafeBytes {
      unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, flags)
    }
  }
}

/// Addresses of Unix sockets.
enum UnixAddress {
  static func make(_ path: String) -> sockaddr_un {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
      for (index, octet) in path.utf8.prefix(107).enumerated() { unsafe bytes[index] = octet }
    }
    return address
  }
}

/// The rows of a daemon's journal, read by another program.
enum StoredRows {
  private static let script = """
    import sqlite3, sys, glob, hashlib
    for name in sorted(glob.glob(sys.argv[1] + '/*')):
        with open(name, 'rb') as file:
            if file.read(15) != b'SQLite format 3': continue
        base = sqlite3.connect('file:' + name + '?mode=ro', uri=True)
        for (table,) in base.execute("select name from sqlite_master where type='table' order by 1").fetchall():
            rows = base.execute('select * from "' + table + '"').fetchall()
            print(table, len(rows), hashlib.sha256(repr(rows).encode()).hexdigest())
    """

  /// One line a table: its name, how many rows, and their checksum.
  static func rows(_ daemon: TestDaemon) throws -> [String] {
    let child = try Child("/usr/bin/python3", ["-c", script, daemon.state])
    guard try child.ended() == 0 else { throw Failure(child.transcript) }
    return child.standardOutput.split(separator: "\n").map(String.init)
  }
}
