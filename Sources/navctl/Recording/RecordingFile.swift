import CLinux
import CommandLineOptions
import Glibc
import NavigationCore
import RuntimePaths

/// A recording that is being written: beside its place, and renamed when it is complete.
///
/// Without `finish`, nothing of it stays. The path `-` is stdout, which has no name to give.
struct RecordingFile: ~Copyable {
  static let standardStream = "-"
  private let path: String
  private let temporary: String
  private let replaces: Bool
  private let descriptor: Int32
  private var gzip = GzipWriter(level: 9)
  /// The page around the file, and what of the file is not a multiple of three yet; nil without a page.
  private var page: (tail: [UInt8], rest: [UInt8])?
  private var pending: [UInt8] = []
  private(set) var byteCount = 0

  /// Begins an empty file for a place; nil as `page` stands for the file alone.
  static func create(_ path: String, replaces: Bool, page: RecordingPage?) throws -> RecordingFile {
    if path == standardStream {
      try require(
        !Output.isTerminal, "a recording is no text for a terminal", remedy: "redirect stdout")
      return RecordingFile(path, path, replaces, navd_duplicate(1), page)
    }
    let isThere = ![nil, .hidden].contains(FileStatus.probe(path)?.kind)
    guard replaces || !isThere else { throw exists(path) }
    let temporary = "\(path).new-\(getpid())"
    unsafe unlink(temporary)
    let descriptor = unsafe navd_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemError("create", temporary, code: navd_errno()) }
    return RecordingFile(path, temporary, replaces, descriptor, page)
  }

  private init(
    _ path: String, _ temporary: String, _ replaces: Bool, _ descriptor: Int32,
    _ page: RecordingPage?
  ) {
    (self.path, self.temporary) = (path, temporary)
    (self.replaces, self.descriptor) = (replaces, descriptor)
    self.page = page.map { ($0.tail, []) }
    pending = page?.head ?? []
  }

  deinit {
    close(descriptor)
    if path == Self.standardStream { return }
    // After a rename there is no file of this name.
    unsafe unlink(temporary)
  }

  mutating func line(_ line: [UInt8]) throws {
    take(gzip.append(line + [0x0A]))
    if pending.count >= 1 << 16 { try flush() }
  }

  /// Completes the file, and gives it its name.
  mutating func finish() throws {
    take(gzip.finish())
    if let page {
      pending += Base64.encoded(page.rest)
      pending += page.tail
    }
    try flush()
    if path == Self.standardStream { return }
    guard fsync(descriptor) == 0 else { throw SystemError("sync", temporary, code: navd_errno()) }
    if replaces {
      guard unsafe rename(temporary, path) == 0 else {
        throw SystemError("replace", path, code: navd_errno())
      }
    } else if unsafe link(temporary, path) != 0 {
      // Another program may have made the file meanwhile.
      let code = navd_errno()
      // Some file systems, such as that of USB sticks, have no hard links.
      guard [EPERM, EOPNOTSUPP, ENOSYS].contains(code), FileStatus.probe(path) == nil else {
        if code == EEXIST || FileStatus.probe(path) != nil { throw Self.exists(path) }
        throw SystemError("create", path, code: code)
      }
      guard unsafe rename(temporary, path) == 0 else {
        throw SystemError("create", path, code: navd_errno())
      }
    }
    try syncDirectory(path.contains("/") ? parentDirectory(of: path) : ".")
  }

  private mutating func take(_ bytes: [UInt8]) {
    guard page != nil else {
      pending += bytes
      return
    }
    page?.rest += bytes
    let whole = (page?.rest.count ?? 0) / 3 * 3
    pending += Base64.encoded(Array(page?.rest.prefix(whole) ?? []))
    page?.rest.removeFirst(whole)
  }

  private mutating func flush() throws {
    var offset = 0
    while offset < pending.count {
      let start = offset
      let count = unsafe pending.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
      }
      if count < 0, navd_errno() == EINTR { continue }
      guard count >= 0 else { throw SystemError("write", temporary, code: navd_errno()) }
      offset += count
    }
    byteCount += pending.count
    pending.removeAll(keepingCapacity: true)
  }

  private static func exists(_ path: String) -> PlainFailure {
    PlainFailure(
      lines: ["file: \(path) exists already", "try: --force, or another name"], status: 1)
  }
}

/// The page of the inspector that holds a recording: the bytes before and behind the file in it.
struct RecordingPage {
  let head: [UInt8]
  let tail: [UInt8]

  private static let fileName = "offline.html"
  private static let start = Array(#"<script type="application/octet-stream" id="navrec">"#.utf8)
  private static let end = Array("</script>".utf8)

  /// Reads the page from the directory that the command line names, nil for the usual ones; throws
  /// what is missing, and how to make it.
  init(directory option: String?) throws {
    let directory: String
    do throws(InspectorFiles.Missing) {
      directory = try InspectorFiles.directory(option: option, having: Self.fileName)
    } catch {
      throw PlainFailure(
        lines: [
          "page: \(Self.fileName) of the inspector is in none of "
            + error.tried.joined(separator: ", "),
          "try: install the package navd-inspector, or run make inspector, or --page DIR",
        ], status: 1)
    }
    let path = "\(directory)/\(Self.fileName)"
    let text = try readSmallFile(path, maximumBytes: 16 << 20)
    guard let place = text.firstRange(of: Self.start)?.upperBound,
      let end = text[place...].firstRange(of: Self.end)?.lowerBound
    else {
      throw PlainFailure(
        lines: [
          "page: \(path) has no place for a recording",
          "try: run make inspector, or install the navd-inspector of this version",
        ], status: 1)
    }
    head = Array(text[..<place])
    tail = Array(text[end...])
  }
}

/// Base64 (RFC 4648), for bytes in a page.
enum Base64 {
  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Encodes bytes, with padding if their number is no multiple of three.
  static func encoded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var word = UInt32(bytes[index]) << 16
      if count > 1 { word |= UInt32(bytes[index + 1]) << 8 }
      if count > 2 { word |= UInt32(bytes[index + 2]) }
      for place in 0..<4 {
        let isPadding = place > count
        text.append(
          isPadding ? UInt8(ascii: "=") : letters[Int(word >> UInt32(18 - 6 * place) & 63)])
      }
      index += 3
    }
    return text
  }
}
