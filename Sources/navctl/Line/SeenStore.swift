import CLinux
import NavigationCore
import RuntimePaths

/// Stores `Seen` values in files, one for each terminal session and nav.
///
/// Two terminals never share a file, because a state that one has shown is not seen in the other.
struct SeenStore: Sendable {
  /// Only `save` creates it.
  let directory: String
  let session: TerminalSession

  /// The directory of the files: `$XDG_STATE_HOME/navctl/seen`, else under `~/.local/state`; nil if
  /// neither variable is set.
  static func directory(_ environment: ProcessEnvironment) -> String? {
    if let path = environment.absolutePath("XDG_STATE_HOME") { return path + "/navctl/seen" }
    return environment.absolutePath("HOME").map { $0 + "/.local/state/navctl/seen" }
  }

  /// The path of the file for one nav; its name is a hash in hex digits.
  func path(endpoint: String, nav: String) -> String {
    let key = Array("\(session.text)\n\(endpoint)\n\(nav)".utf8)
    // Two hashes of 64 bits make a collision unlikely, and `SeenFile.decode` detects one.
    let name =
      Epoch(bits: Self.hash(key, basis: 0xCBF2_9CE4_8422_2325)).text
      + Epoch(bits: Self.hash(key.reversed(), basis: 0x9E37_79B9_7F4A_7C15)).text
    return "\(directory)/\(name)"
  }

  /// Loads the last seen state of a nav; nil if there is no file, or none that can be read.
  func load(endpoint: String, nav: String) -> Seen? {
    do throws(SystemError) {
      let bytes = try readSmallFile(path(endpoint: endpoint, nav: nav), maximumBytes: 65_536)
      return SeenFile.decode(bytes, endpoint: endpoint, nav: nav)
    } catch {
      return nil
    }
  }

  /// Saves a seen state; the file is replaced as a whole or not at all.
  func save(_ seen: Seen, endpoint: String, nav: String) throws(SystemError) {
    let path = path(endpoint: endpoint, nav: nav)
    let bytes = SeenFile.encode(seen, endpoint: endpoint, nav: nav)
    if FileStatus.probe(path) == nil {
      try createPrivateDirectory(directory)
      SeenPruning.removeOldFiles(in: directory)
    }
    try replace(path, bytes)
  }

  func forget(endpoint: String, nav: String) { unsafe unlink(path(endpoint: endpoint, nav: nav)) }

  /// Replaces a file by a rename, without a sync.
  ///
  /// After a crash of the machine the terminal session is over, and its files are never read again.
  private func replace(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let temporary = "\(path).\(getpid())"
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let descriptor = unsafe navd_open(temporary, flags, 0o600)
    guard descriptor >= 0 else { throw SystemError("create", temporary, code: navd_errno()) }
    let isWritten = writeAll(bytes, to: descriptor)
    let failure = navd_errno()
    close(descriptor)
    guard isWritten else {
      unsafe unlink(temporary)
      throw SystemError("write", temporary, code: failure)
    }
    guard unsafe rename(temporary, path) == 0 else {
      let error = SystemError("replace", path, code: navd_errno())
      unsafe unlink(temporary)
      throw error
    }
  }

  /// FNV-1a, 64 bits.
  private static func hash(_ bytes: [UInt8], basis: UInt64) -> UInt64 {
    bytes.reduce(basis) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

/// Removes the files of terminal sessions that have ended.
enum SeenPruning {
  private static let maximumAgeSeconds = 30 * 86_400

  static func removeOldFiles(in directory: String) {
    guard let stream = unsafe opendir(directory) else { return }
    defer { unsafe closedir(stream) }
    let now = Int(SystemClock.wallMilliseconds() / 1000)
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard name.utf8.count >= 32, name.utf8.prefix(32).allSatisfy(Grammar.isLowerHex) else {
        continue
      }
      let path = "\(directory)/\(name)"
      var status = stat()
      guard unsafe lstat(path, &status) == 0, now - status.st_mtim.tv_sec > maximumAgeSeconds
      else { continue }
      unsafe unlink(path)
    }
  }
}
