import CLinux
import CMicroHTTPD
import RuntimePaths

/// A file that is open for reading.
final class OpenFile {
  private var descriptor: Int32
  let size: Int64

  init(_ descriptor: Int32, size: Int64) {
    self.descriptor = descriptor
    self.size = size
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns the descriptor, which the caller must close.
  func takeDescriptor() -> Int32 {
    defer { descriptor = -1 }
    return descriptor
  }
}

/// Serves the files of one directory, the pages and what they load; opens a file at each request.
///
/// No path leads out of the directory: it opens each component separately, and follows no symbolic
/// link. It does not serve hidden files, nor types that are not in the table.
final class StaticFiles {
  private let directory: Int32

  /// The values of `Content-Type` by file extension.
  static let contentTypes: [String: String] = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8",
    "json": "application/json", "txt": "text/plain; charset=utf-8",
    "webmanifest": "application/manifest+json", "svg": "image/svg+xml", "png": "image/png",
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
    "avif": "image/avif", "ico": "image/x-icon", "woff2": "font/woff2", "woff": "font/woff",
    "mp3": "audio/mpeg", "ogg": "audio/ogg", "wav": "audio/wav", "mp4": "video/mp4",
    "webm": "video/webm",
  ]

  init(_ path: String) throws(SystemError) {
    directory = unsafe navd_http_open_directory(path)
    guard directory >= 0 else { throw SystemError("open", path, code: navd_errno()) }
  }

  deinit { close(directory) }

  /// The open file of a path and the value of `Content-Type`, with `index.html` for a path that
  /// ends with a slash; nil if there is none.
  func find(_ path: String) -> (file: OpenFile, type: String)? {
    guard let names = Self.components(path), let last = names.last,
      let end = last.lastIndex(of: "."),
      let type = Self.contentTypes[String(last[last.index(after: end)...])]
    else { return nil }
    var folder = directory
    for name in names.dropLast() {
      let next = unsafe navd_http_open_below(folder, name, 1)
      if folder != directory { close(folder) }
      guard next >= 0 else { return nil }
      folder = next
    }
    let descriptor = unsafe navd_http_open_below(folder, last, 0)
    if folder != directory { close(folder) }
    guard descriptor >= 0 else { return nil }
    let size = navd_http_file_size(descriptor)
    guard size >= 0 else {
      close(descriptor)
      return nil
    }
    return (OpenFile(descriptor, size: size), type)
  }

  /// The components of a path; nil for a path that is not permitted.
  static func components(_ path: String) -> [String]? {
    // By octets, as the kernel reads a path: a Character can be a slash or a dot and a mark.
    let octets = Array(path.utf8)
    guard octets.first == 0x2F, octets.count <= 1024, !octets.contains(0) else { return nil }
    var names = octets.dropFirst().split(separator: 0x2F, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    if names.last == "" { names[names.count - 1] = "index.html" }
    // A name that begins with a dot is hidden, or leads to this or the upper directory.
    let isVisible = names.allSatisfy { name in
      !name.isEmpty && name.utf8.first != UInt8(ascii: ".")
        && !name.utf8.contains(UInt8(ascii: "\\"))
    }
    return isVisible ? names : nil
  }
}
