import Foundation

/// A stream connection to a socket's path or port that sends any octets.
final class RawConnection {
  let descriptor: Int32

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

  /// Connects to a port of this machine.
  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = InternetAddress.loopback(port)
    let result = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure("cannot connect to port \(port): \(errno)") }
  }

  deinit { close(descriptor) }

  /// Greets as a DEALER without a mechanism, and waits until the daemon has let it in.
  func greet(_ properties: [(String, String)] = []) throws {
    sendAll(RawWire.opening(properties))
    guard receive(until: "ROUTER") != nil else { throw Failure("not let in") }
  }

  /// Whether the other side has ended the connection, whatever was not read of it.
  func isEnded(within seconds: Double = Child.patience) -> Bool {
    // POLLRDHUP, which is not among what Foundation shows.
    var entry = pollfd(fd: descriptor, events: 0x2000, revents: 0)
    return unsafe poll(&entry, 1, Int32(seconds * 1000)) > 0
  }

  /// Takes what comes until the other side closes; nil if it has not within a time.
  func receiveToEnd(within seconds: Double = Child.patience) -> [UInt8]? {
    let end = Date(timeIntervalSinceNow: seconds)
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = Int32(max(0, end.timeIntervalSinceNow * 1000))
      guard unsafe poll(&entry, 1, left) > 0 else { return nil }
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      guard count > 0 else { return all }
      all += chunk[..<count]
    }
  }

  /// Takes what comes next; nothing if nothing does within a time.
  func receive(within seconds: Double) -> [UInt8] {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&entry, 1, Int32(seconds * 1000)) > 0 else { return [] }
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
    }
    return Array(chunk[..<max(count, 0)])
  }

  /// Takes what comes until it holds a text; nil if it does not within a time.
  func receive(until text: String, within seconds: Double = Child.patience) -> [UInt8]? {
    let end = Date(timeIntervalSinceNow: seconds)
    var all: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while Data(all).range(of: Data(text.utf8)) == nil {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let left = Int32(max(0, end.timeIntervalSinceNow * 1000))
      guard unsafe poll(&entry, 1, left) > 0 else { return nil }
      let count = unsafe chunk.withUnsafeMutableBytes {
        unsafe recv(descriptor, $0.baseAddress, $0.count, 0)
      }
      guard count > 0 else { return nil }
      all += chunk[..<count]
    }
    return all
  }

  /// Sends everything, waiting for room; false if the other side has closed.
  @discardableResult func sendAll(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let start = sent
      let count = unsafe bytes.withUnsafeBytes {
        unsafe Foundation.send(
          descriptor, $0.baseAddress?.advanced(by: start), bytes.count - start,
          Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

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
    import sqlite3, sys, glob, hashlib, shutil
    # navd lets no other process read its journal.
    shutil.copytree(sys.argv[1], sys.argv[1] + '.copy', dirs_exist_ok=True)
    for name in sorted(glob.glob(sys.argv[1] + '.copy/*')):
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
