import CLinux
import CommandLineOptions
import Glibc
import NavigationCore
import NavigationHub
import RuntimePaths

/// Writes a recording to a temporary file, and renames the file when the recording is complete.
///
/// Without `finish`, `deinit` removes the temporary file. The path `-` stands for stdout.
struct RecordingFile: ~Copyable {
  static let standardStream = "-"
  private let path: String
  private let temporary: String
  private let replaces: Bool
  private let descriptor: Int32
  private var gzip = GzipWriter(level: 9)
  /// The HTML after the recording in a page; nil without a page.
  private var pageTail: [UInt8]?
  /// The last bytes that await base64, which encodes three at a time; empty without a page.
  private var unencoded: [UInt8] = []
  private var unwritten: [UInt8] = []
  private(set) var byteCount = 0

  /// Creates an empty file for `path`; the recording goes into the page if there is one.
  static func create(_ path: String, replaces: Bool, page: RecordingPage?) throws -> RecordingFile {
    let temporary = path == standardStream ? path : "\(path).new-\(getpid())"
    let descriptor: Int32
    if path == standardStream {
      try require(
        !Output.isTerminal, "a recording is no text for a terminal", remedy: "redirect stdout")
      descriptor = navd_duplicate(1)
    } else {
      let isThere = ![nil, .hidden].contains(FileStatus.probe(path)?.kind)
      guard replaces || !isThere else { throw existsError(path) }
      unsafe unlink(temporary)
      descriptor = unsafe navd_open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw SystemError("create", temporary, code: navd_errno()) }
    }
    return RecordingFile(
      path: path, temporary: temporary, replaces: replaces, descriptor: descriptor,
      pageTail: page?.tail, unwritten: page?.head ?? [])
  }

  deinit {
    close(descriptor)
    if path == Self.standardStream { return }
    // After a rename there is no file of this name.
    unsafe unlink(temporary)
  }

  mutating func appendLine(_ line: [UInt8]) throws {
    append(gzip.append(line + [0x0A]))
    if unwritten.count >= 1 << 16 { try flush() }
  }

  mutating func finish() throws {
    append(gzip.finish())
    if let pageTail { unwritten += Self.base64(unencoded) + pageTail }
    try flush()
    if path == Self.standardStream { return }
    guard fsync(descriptor) == 0 else { throw SystemError("sync", temporary, code: navd_errno()) }
    let isLinked = unsafe !replaces && link(temporary, path) == 0
    if !replaces, !isLinked {
      // Another program may have made the file meanwhile.
      let code = navd_errno()
      // Some file systems, such as that of USB sticks, have no hard links.
      guard [EPERM, EOPNOTSUPP, ENOSYS].contains(code), FileStatus.probe(path) == nil else {
        if code == EEXIST || FileStatus.probe(path) != nil { throw Self.existsError(path) }
        throw SystemError("create", path, code: code)
      }
    }
    if !isLinked, unsafe rename(temporary, path) != 0 {
      throw SystemError(replaces ? "replace" : "create", path, code: navd_errno())
    }
    try syncDirectory(parentDirectory(of: path))
  }

  private mutating func append(_ bytes: [UInt8]) {
    guard pageTail != nil else { return unwritten += bytes }
    unencoded += bytes
    let whole = unencoded.count / 3 * 3
    unwritten += Self.base64(Array(unencoded[..<whole]))
    unencoded.removeFirst(whole)
  }

  private mutating func flush() throws {
    guard writeAll(unwritten, to: descriptor) else {
      throw SystemError("write", temporary, code: navd_errno())
    }
    byteCount += unwritten.count
    unwritten.removeAll(keepingCapacity: true)
  }

  private static func existsError(_ path: String) -> PlainFailure {
    PlainFailure("file: \(path) exists already", "try: --force, or another name")
  }

  private static let base64Letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func base64(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for index in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[index..<min(index + 3, bytes.count)]
      let word = part.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - part.count))
      for place in 0..<4 {
        text.append(
          place > part.count ? UInt8(ascii: "=") : base64Letters[word >> (18 - 6 * place) & 63])
      }
    }
    return text
  }
}

/// The page of the inspector that can hold a recording: its HTML before and after the recording.
struct RecordingPage {
  let head: [UInt8]
  let tail: [UInt8]

  private static let fileName = "offline.html"
  private static let startMarker = Array(
    #"<script type="application/octet-stream" id="navrec">"#.utf8)
  private static let endMarker = Array("</script>".utf8)

  /// Reads the page from a directory, or for nil from the directories where packages install it.
  init(directory option: String?) throws {
    let directory: String
    do throws(InspectorFiles.Missing) {
      directory = try InspectorFiles.directory(option: option, having: Self.fileName)
    } catch {
      throw PlainFailure(
        "page: \(Self.fileName) of the inspector is in none of "
          + error.tried.joined(separator: ", "),
        "try: install the package navd-inspector, or run make inspector, or --page DIR")
    }
    let path = "\(directory)/\(Self.fileName)"
    let text = try readSmallFile(path, maximumBytes: 16 << 20)
    guard let place = text.firstRange(of: Self.startMarker)?.upperBound,
      let end = text[place...].firstRange(of: Self.endMarker)?.lowerBound
    else {
      throw PlainFailure(
        "page: \(path) has no place for a recording",
        "try: run make inspector, or install the navd-inspector of this version")
    }
    head = Array(text[..<place])
    tail = Array(text[end...])
  }
}

/// Reads a recording line by line; the path `-` stands for stdin.
struct RecordingInput: ~Copyable {
  private let path: String
  private let descriptor: Int32
  private var reader = RecordingReader()
  private var isAtEnd = false
  let byteCount: UInt64
  private(set) var bytesRead: UInt64 = 0

  init(_ path: String) throws {
    self.path = path
    let descriptor =
      path == RecordingFile.standardStream
      ? navd_duplicate(0) : unsafe navd_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw PlainFailure("file: cannot open \(path): \(SystemError.text(of: navd_errno()))")
    }
    self.descriptor = descriptor
    var status = stat()
    byteCount = unsafe fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }

  deinit { close(descriptor) }

  var lineNumber: Int { reader.lineNumber }

  mutating func header() throws -> RecordingHeader {
    while true {
      if let header = try reader.readHeader() { return header }
      try readMore()
    }
  }

  mutating func next() throws -> RecordingReader.Line? {
    while true {
      if let line = try reader.next() { return line }
      if isAtEnd {
        try reader.finish()
        return nil
      }
      try readMore()
    }
  }

  private mutating func readMore() throws {
    guard !isAtEnd else {
      try reader.finish()
      throw RecordingFault.truncated
    }
    guard let bytes = readOnce(descriptor) else {
      throw PlainFailure("file: cannot read \(path): \(SystemError.text(of: navd_errno()))")
    }
    isAtEnd = bytes.isEmpty
    bytesRead += UInt64(bytes.count)
    reader.append(bytes)
  }
}
